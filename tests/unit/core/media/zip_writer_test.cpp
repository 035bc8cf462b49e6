#include "core/media/zip_writer.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "core/base/files/files.h"
#include "core/base/process/child_output.h"
#include "core/base/text/text.h"
#include "fakes/error_of.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class Zip : public ::testing::Test {
 protected:
  fs::path path() const { return folder_.path() / "a.zip"; }
  // Python's own reader tests every checksum.
  std::string python(const std::string& program) const {
    const ChildOutput said = child_output({"python3", "-c", program, path().string()});
    EXPECT_EQ(said.code, 0);
    return said.out;
  }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_.path()))
      names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }
  TemporaryDirectory folder_;
};

constexpr const char* listing =
    "import sys, zipfile\n"
    "with zipfile.ZipFile(sys.argv[1]) as z:\n"
    "  assert z.testzip() is None\n"
    "  for i in z.infolist(): print(i.filename, i.compress_type, oct(i.external_attr >> 16), "
    "i.date_time[0], repr(z.read(i)[:20]), i.file_size)\n";

TEST_F(Zip, IsReadByPython) {
  write_file_atomic(folder_.path() / "file.txt", "of a file");
  ZipWriter zip(path());
  zip.add("plain.txt", "stored", ZipMethod::store);
  zip.add("deep/er/\u00e4.csv", std::string(10000, 'x'));
  zip.begin("pieces");
  zip.write("one ");
  zip.write("two");
  zip.end();
  zip.add_file("file", folder_.path() / "file.txt");
  zip.add("empty", "");
  zip.finish();
  EXPECT_EQ(python(listing),
            "plain.txt 0 0o100644 1980 b'stored' 6\n"
            "deep/er/\u00e4.csv 8 0o100644 1980 b'xxxxxxxxxxxxxxxxxxxx' 10000\n"
            "pieces 8 0o100644 1980 b'one two' 7\n"
            "file 8 0o100644 1980 b'of a file' 9\n"
            "empty 8 0o100644 1980 b'' 0\n");
  EXPECT_LT(fs::file_size(path()), 2000u);
  EXPECT_EQ(files(), (std::vector<std::string>{"a.zip", "file.txt"}));
}

TEST_F(Zip, AnEmptyArchiveIsOne) {
  ZipWriter(path()).finish();
  EXPECT_EQ(python(listing), "");
}

TEST_F(Zip, HoldsMoreEntriesThanTheOldFormatCounts) {
  ZipWriter zip(path());
  for (int i = 0; i < 70000; ++i) zip.add(cat(i), "", ZipMethod::store);
  zip.finish();
  EXPECT_EQ(python("import sys, zipfile; print(len(zipfile.ZipFile(sys.argv[1]).namelist()))"),
            "70000\n");
}

TEST_F(Zip, TheSameEntriesGiveTheSameBytes) {
  std::string first;
  for (int i = 0; i < 2; ++i) {
    ZipWriter zip(path());
    zip.add("a", "contents");
    zip.finish();
    if (i == 0) first = read_file(path());
  }
  EXPECT_EQ(read_file(path()), first);
}

TEST_F(Zip, IsThereWholeOrNotAtAll) {
  write_file_atomic(path(), "before");
  {
    ZipWriter zip(path());
    zip.add("a", "b");
    EXPECT_EQ(read_file(path()), "before");
    EXPECT_EQ(files().size(), 2u);
  }
  EXPECT_EQ(read_file(path()), "before");
  EXPECT_EQ(files().size(), 1u);
}

TEST_F(Zip, RefusesNamesThatLeaveTheFolder) {
  ZipWriter zip(path());
  for (const char* name :
       {"", "/etc/passwd", "../a", "a/../b", "a//b", "a/", ".", "a\\b", "a\nb", "\xff"})
    EXPECT_THAT(error_of([&] { zip.add(name, ""); }),
                HasSubstr("cannot be a name in a zip archive"))
        << name;
  zip.add("a", "");
  EXPECT_THAT(error_of([&] { zip.add("a", ""); }), HasSubstr("holds an entry a already"));
}

TEST_F(Zip, SaysWhereItCannotWrite) {
  EXPECT_THAT(error_of([&] { ZipWriter(folder_.path() / "no/where.zip"); }),
              HasSubstr("no/where.zip: No such file or directory"));
  ZipWriter zip(path());
  EXPECT_THAT(error_of([&] { zip.add_file("x", folder_.path() / "not-there"); }),
              HasSubstr("not-there"));
}

}  // namespace
}  // namespace lockstep
