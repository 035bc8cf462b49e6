// Names by the time.
#include "runtime/run/names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

#include "core/base/files/files.h"
#include "fakes/error_of.h"

namespace lockstep {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

TEST(Names, ByTheTimeOfWhoComesInTheSameSecondDiffer) {
  const TemporaryDirectory folder;
  constexpr int threads = 4, each = 5;
  std::vector<std::vector<std::string>> names(threads);
  {
    std::vector<std::jthread> makers;
    for (std::vector<std::string>& mine : names)
      makers.emplace_back([&folder, &mine] {
        for (int i = 0; i < each; ++i)
          mine.push_back(make_folder_by_time(folder.path() / "runs", "batch"));
      });
  }
  std::set<std::string> all;
  for (const std::vector<std::string>& mine : names) all.insert(mine.begin(), mine.end());
  EXPECT_EQ(all.size(), threads * each);
  for (const std::string& name : all) {
    EXPECT_THAT(name, MatchesRegex("batch-[0-9]+-[0-9]+(-[0-9]+)?"));
    EXPECT_TRUE(std::filesystem::is_directory(folder.path() / "runs" / name));
  }
}

TEST(Names, ByTheTimeLeaveTheJobFileOfAnotherAlone) {
  const TemporaryDirectory folder;
  const std::string first = make_folder_by_time(folder.path(), "g");
  std::filesystem::rename(folder.path() / first, folder.path() / (first + ".toml"));
  EXPECT_NE(make_folder_by_time(folder.path(), "g"), first);
}

TEST(Names, ByTheTimeSayWhereNoFolderCanBe) {
  const TemporaryDirectory folder;
  write_file_atomic(folder.path() / "file", "");
  EXPECT_THAT(error_of([&] { make_folder_by_time(folder.path() / "file/runs", "g"); }),
              HasSubstr("file"));
}

}  // namespace
}  // namespace lockstep
