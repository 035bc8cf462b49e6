// Entries of zip archives, good and damaged.
#include "core/media/zip_reader.h"

#include <gmock/gmock.h>

#include "core/base/files/files.h"
#include "core/media/zip_writer.h"
#include "fakes/error_of.h"

namespace lockstep {
namespace {

using ::testing::HasSubstr;

class ZipReading : public ::testing::Test {
 protected:
  void write(const std::vector<std::pair<std::string, std::string>>& entries,
             ZipMethod method = ZipMethod::deflate) const {
    ZipWriter writer(file);
    for (const auto& [name, bytes] : entries) writer.add(name, bytes, method);
    writer.finish();
  }
  TemporaryDirectory folder;
  std::filesystem::path file = folder.path() / "a.zip";
};

TEST_F(ZipReading, GivesBackWhatWasWritten) {
  const std::string large(3'000'000, 'x');
  write({{"a.tif", "one"}, {"inner/b.tif", large}, {"empty", ""}});
  ZipReader reader(file);
  ASSERT_EQ(reader.entries().size(), 3U);
  EXPECT_EQ(reader.entries()[1].name, "inner/b.tif");
  EXPECT_EQ(reader.entries()[1].bytes, large.size());
  EXPECT_EQ(read_file(reader.extract(1, folder.path())), large);
  EXPECT_EQ(read_file(reader.extract(0, folder.path())), "one");
  EXPECT_EQ(read_file(folder.path() / "a.tif"), "one");
  EXPECT_EQ(read_file(reader.extract(2, folder.path())), "");
  EXPECT_THAT(error_of([&] { reader.extract(0, folder.path()); }), HasSubstr("two files a.tif"));
}

TEST_F(ZipReading, RefusesWhatIsDamaged) {
  EXPECT_THAT(error_of([&] { ZipReader{file}; }), HasSubstr("a.zip"));
  write_file_atomic(file, "no archive at all");
  EXPECT_THAT(error_of([&] { ZipReader{file}; }), HasSubstr("no zip archive"));
  write({{"a.tif", "some bytes that are stored"}}, ZipMethod::store);
  std::string bytes = read_file(file);
  bytes[bytes.find("stored")] = 'S';
  write_file_atomic(file, bytes);
  ZipReader reader(file);
  EXPECT_THAT(error_of([&] { reader.extract(0, folder.path()); }),
              HasSubstr("its entry a.tif is damaged"));
}

TEST_F(ZipReading, LeavesTheFolderNever) {
  write({{"xx/yyyyyy.tif", "bytes"}});
  std::string bytes = read_file(file);
  for (std::size_t at = bytes.find("xx/yyyyyy.tif"); at != bytes.npos;
       at = bytes.find("xx/yyyyyy.tif", at))
    bytes.replace(at, 13, "../../out.tif");
  write_file_atomic(file, bytes);
  std::filesystem::create_directories(folder.path() / "in");
  EXPECT_EQ(ZipReader(file).extract(0, folder.path() / "in"), folder.path() / "in/out.tif");
}

}  // namespace
}  // namespace lockstep
