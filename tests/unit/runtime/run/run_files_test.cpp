// The files of a run that may be a stranger's.
#include "runtime/run/folder/run_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "core/base/files/files.h"
#include "fakes/error_of.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class RunFiles : public ::testing::Test {
 protected:
  TemporaryDirectory folder;
  fs::path run() const { return folder.path() / "run"; }
};

TEST_F(RunFiles, AreListedAsDeepAsFoldersMayBe) {
  fs::path deep = run() / "predictions";
  for (int i = 0; i < deepest_run_file; ++i) deep /= "d";
  fs::create_directories(deep);
  std::ofstream(deep / "file") << "12345";
  std::ofstream(run() / "predictions/near") << "123";
  const std::vector<RunFolder> folders = run_files(run());
  ASSERT_EQ(folders.size(), 1U);
  EXPECT_EQ(folders[0].files.size(), 2U);
  EXPECT_EQ(folders[0].bytes, 8U);
  EXPECT_FALSE(folders[0].has_more);
}

TEST_F(RunFiles, BelowHundredsOfFoldersAreNotLookedFor) {
  fs::create_directories(run() / "predictions");
  std::ofstream(run() / "predictions/near") << "123";
  fs::path deep = run() / "predictions";
  for (int i = 0; i < 300; ++i) deep /= "d";
  fs::create_directories(deep);
  std::ofstream(deep / "far") << "123";
  const std::vector<RunFolder> folders = run_files(run());
  ASSERT_EQ(folders.size(), 1U);
  EXPECT_THAT(folders[0].files, ElementsAre("near"));
  EXPECT_TRUE(folders[0].has_more);
}

TEST_F(RunFiles, AreOpenedWithoutFollowingLinks) {
  fs::create_directories(run() / "logs");
  std::ofstream(folder.path() / "secret.log") << "secret";
  std::ofstream(run() / "logs/good.log") << "good";
  fs::create_symlink(folder.path() / "secret.log", run() / "logs/link.log");
  fs::create_directory_symlink(folder.path(), run() / "linked");
  ASSERT_EQ(mkfifo((run() / "logs/pipe.log").c_str(), 0600), 0);
  EXPECT_TRUE(open_run_file(run(), "logs/good.log"));
  for (const char* below : {"logs/link.log", "linked/secret.log", "../secret.log", "logs/pipe.log",
                            "logs", "logs/none.log"})
    EXPECT_FALSE(open_run_file(run(), below)) << below;
  EXPECT_FALSE(open_run_file(run() / "none", "logs/good.log"));
  EXPECT_EQ(read_run_file(run(), "logs/good.log", 4), "good");
  EXPECT_EQ(read_run_file(run(), "logs/link.log", 4), std::nullopt);
  EXPECT_THAT(error_of([&] { read_run_file(run(), "logs/good.log", 3); }),
              HasSubstr("run/logs/good.log: it has more than the limit of 3 B"));
}

}  // namespace
}  // namespace lockstep
