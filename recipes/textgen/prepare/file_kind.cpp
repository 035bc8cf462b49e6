// What a file is that is no text.
#include "recipes/textgen/prepare/file_kind.h"

#include <array>

#include "base/text.h"

namespace lockstep::textgen {
namespace {

using namespace std::string_view_literals;

struct Signature {
  std::size_t offset;
  std::string_view bytes;
  std::string_view name, remedy;
};

constexpr std::string_view write_lines =
    "write its texts as JSON lines, {\"text\": \"…\"}, with the program that made it";

// Text does not begin like this.
constexpr std::array signatures{
    Signature{0, "PAR1"sv, "a Parquet file",
              "make JSON lines of it, in Python: pandas.read_parquet(\"FILE\")"
              ".to_json(\"NEW.jsonl\", orient=\"records\", lines=True)"},
    Signature{0, "ARROW1"sv, "an Arrow file",
              "make JSON lines of it, in Python: pandas.read_feather(\"FILE\")"
              ".to_json(\"NEW.jsonl\", orient=\"records\", lines=True)"},
    Signature{0, "\xFF\xFF\xFF\xFF"sv, "an Arrow stream",
              "make JSON lines of it, in Python: datasets.Dataset.from_file(\"FILE\")"
              ".to_json(\"NEW.jsonl\")"},
    Signature{4, "\x31\x41\x59\x26\x53\x59"sv, "an archive of bzip2",
              "unpack it with bunzip2 -k, and name the file that comes out"},
    Signature{0, "\xFD\x37zXZ\0"sv, "an archive of xz",
              "unpack it with unxz -k, and name the file that comes out"},
    Signature{0, "\x04\x22\x4D\x18"sv, "an archive of lz4",
              "unpack it with unlz4 -k, and name the file that comes out"},
    Signature{0, "\x1F\x8B\x08"sv, "packed twice", "unpack it once, and name what comes out"},
    Signature{0, "\x28\xB5\x2F\xFD"sv, "packed twice", "unpack it once, and name what comes out"},
    Signature{0, "7z\xBC\xAF\x27\x1C"sv, "an archive of 7z",
              "unpack it, and name the folder with its files"},
    Signature{0, "Rar!\x1A\x07"sv, "an archive of rar",
              "unpack it, and name the folder with its files"},
    Signature{257, "ustar"sv, "an archive of tar",
              "unpack it with tar -xf, and name the folder with its files"},
    Signature{0, "%PDF-"sv, "a PDF", "make text of it: pdftotext FILE NEW.txt"},
    Signature{0, "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"sv, "a document of an old Office",
              "save it as plain text in UTF-8"},
    Signature{0, "SQLite format 3\0"sv, "an SQLite database", write_lines},
    Signature{0, "\x89HDF\r\n\x1A\n"sv, "an HDF5 file", write_lines},
    Signature{0, "\x93NUMPY"sv, "a NumPy array", write_lines},
    Signature{0, "\x80\x02"sv, "a pickle of Python", write_lines},
    Signature{0, "\x80\x03"sv, "a pickle of Python", write_lines},
    Signature{0, "\x80\x04"sv, "a pickle of Python", write_lines},
    Signature{0, "\x80\x05"sv, "a pickle of Python", write_lines},
};

FileKind zip_kind(const std::filesystem::path& path) {
  const std::string extension = path.extension().string();
  if (extension == ".docx" || extension == ".odt")
    return {"is a document of a word processor",
            "save it as plain text in UTF-8, or make text of it: pandoc FILE -t plain -o NEW.txt"};
  if (extension == ".epub")
    return {"is an e-book (EPUB)", "make text of it: pandoc FILE -t plain -o NEW.txt"};
  if (extension == ".xlsx" || extension == ".ods")
    return {"is a spreadsheet", "save its texts as JSON lines or plain text"};
  return {"is a zip archive", "unpack it with unzip, and name the folder with its files"};
}

// The encoding if it is UTF-16 or UTF-32, as iconv names it: by its mark, or by NULs in place of
// every other byte, as letters of ASCII have them.
std::string_view wide_encoding(std::string_view head) {
  if (head.starts_with("\xFF\xFE\0\0"sv) || head.starts_with("\0\0\xFE\xFF"sv)) return "UTF-32";
  if (head.starts_with("\xFF\xFE") || head.starts_with("\xFE\xFF")) return "UTF-16";
  std::size_t nuls[2] = {0, 0};
  for (std::size_t i = 0; i < head.size(); ++i) nuls[i % 2] += head[i] == '\0';
  const std::size_t half = head.size() / 2;
  if (half < 4) return {};
  if (nuls[0] == 0 && nuls[1] * 10 >= half * 9) return "UTF-16LE";
  if (nuls[1] == 0 && nuls[0] * 10 >= half * 9) return "UTF-16BE";
  return {};
}

}  // namespace

std::optional<FileKind> kind_that_is_no_text(std::string_view head,
                                             const std::filesystem::path& path) {
  if (head.starts_with("PK\3\4"sv)) return zip_kind(path);
  for (const Signature& signature : signatures)
    if (head.size() > signature.offset &&
        head.substr(signature.offset).starts_with(signature.bytes))
      return FileKind{cat("is ", signature.name), std::string(signature.remedy)};
  if (const std::string_view encoding = wide_encoding(head); !encoding.empty())
    return FileKind{cat("is text in ", encoding, ", but must be in UTF-8"),
                    cat("make UTF-8 of it: iconv -f ", encoding, " -t UTF-8 FILE > NEW.txt")};
  return std::nullopt;
}

}  // namespace lockstep::textgen
