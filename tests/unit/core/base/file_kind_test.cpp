#include "core/base/files/file_kind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/base/text/utf8.h"

namespace lockstep {
namespace {

using namespace std::string_literals;
using ::testing::HasSubstr;

std::string name_of(const std::string& head, const std::string& path = "file") {
  const auto kind = kind_of_file(head, path);
  return kind ? kind->name : "";
}

// Text in UTF-16 or UTF-32, of characters of the first plane.
std::string wide(const std::u32string& text, std::size_t bytes, bool big_endian) {
  std::string result;
  for (const char32_t c : text)
    for (std::size_t i = 0; i < bytes; ++i)
      result += static_cast<char>(c >> 8 * (big_endian ? bytes - 1 - i : i) & 0xFF);
  return result;
}

TEST(FileKind, IsToldByHowTheFileBegins) {
  EXPECT_EQ(name_of("PAR1\x15\4"), "a Parquet file");
  EXPECT_EQ(name_of("\x1F\x8B\x08"), "a gzip archive");
  EXPECT_EQ(name_of("BZh91AY&SY\x12"), "a bzip2 archive");
  EXPECT_EQ(name_of("a.txt"s + std::string(252, '\0') + "ustar\0"s), "a tar archive");
  EXPECT_EQ(name_of("\x80\3}"), "a pickle of Python");
  EXPECT_EQ(name_of("version https://git-lfs.github.com/spec/v1\noid sha256:1\n"),
            "a pointer of Git LFS");
  EXPECT_EQ(name_of("\x02\0\0\0\0\0\0\0{}"s), "a safetensors file");
  EXPECT_EQ(name_of("PARQUET is a word"), "");
  EXPECT_EQ(name_of(""), "");
}

TEST(FileKind, OfArchivesIsToldByTheNameToo) {
  EXPECT_EQ(name_of("PK\3\4\x14", "prices.XLSX"), "a spreadsheet");
  EXPECT_EQ(name_of("PK\3\4\x14", "a.docx"), "a document of a word processor");
  EXPECT_EQ(name_of("PK\3\4\x14", "model.pt"), "a zip archive");
  const std::string old_office = "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1";
  EXPECT_EQ(name_of(old_office, "prices.xls"), "a spreadsheet of an old Excel");
  EXPECT_EQ(name_of(old_office, "a.doc"), "a document of an old Office");
}

TEST(FileKind, OfWideTextIsToldWithoutItsMark) {
  // Chinese with the punctuation and names of JSON; U+4E00 and U+4F00 end in a byte of 0.
  const std::u32string chinese = U"{\"ID\": \"1\", \"Text\": \"\u4E00\u4E2A\u9910\u5385\u4F00\"}\n";
  for (const std::u32string& text : {std::u32string(U"date,open\n2021-01-04,1\n"), chinese}) {
    EXPECT_EQ(name_of(wide(text, 2, false)), "text in UTF-16LE");
    EXPECT_EQ(name_of(wide(text, 2, true)), "text in UTF-16BE");
    EXPECT_EQ(name_of(wide(text, 4, false)), "text in UTF-32LE");
    EXPECT_EQ(name_of(wide(text, 4, true)), "text in UTF-32BE");
    std::string narrow;
    for (const char32_t c : text) append_utf8(narrow, c);
    EXPECT_EQ(name_of(narrow), "");
  }
  EXPECT_EQ(name_of("a,b\n1,2\n3,\0\n4,5\n"s), "") << "one NUL is no encoding";
  EXPECT_EQ(name_of("\xEF\xBB\xBF"
                    "a,b\n1,2\n"),
            "");
}

TEST(FileKind, IsRefusedAsCsvWithWhatMakesCsvOfIt) {
  refuse_no_csv("a,b\n1,2\n", "a.csv");
  for (const auto& [text, name, what, remedy] : std::vector<std::array<std::string, 4>>{
           {"PK\3\4\x14", "p.xlsx", "p.xlsx is a spreadsheet, but must be CSV in UTF-8",
            "save it as CSV"},
           {"PAR1", "p.csv", "p.csv is a Parquet file",
            "pandas.read_parquet(\"p.csv\").to_csv(\"NEW.csv\", index=False)"},
           {"\x1F\x8B\x08", "p.csv", "p.csv is a gzip archive", "gunzip -c p.csv > NEW.csv"},
           {"\xFD\x37zXZ", "p.csv.xz", "is an xz archive", "xz -dc p.csv.xz > NEW.csv"},
           {"\x28\xB5\x2F\xFD", "p q.csv.zst", "is a zstd archive", "zstd -dc FILE > NEW"},
           {"PK\3\4\x14", "p.csv", "p.csv is a zip archive", "unzip p.csv"},
           {wide(U"a,b\n1,2\n", 2, false), "p.csv", "p.csv is text in UTF-16LE",
            "iconv -f UTF-16LE -t UTF-8 p.csv > NEW.csv"},
           {wide(U"a,b\n1,2\n", 2, false), "p q;r.csv", "p q;r.csv is text in UTF-16LE",
            "iconv -f UTF-16LE -t UTF-8 FILE > NEW"},
           {"PAR1", "p\".csv", "is a Parquet file", "pandas.read_parquet(\"FILE\")"}}) {
    try {
      refuse_no_csv(text, name);
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(what));
      EXPECT_THAT(error.hint(), HasSubstr(remedy));
    }
  }
}

}  // namespace
}  // namespace lockstep
