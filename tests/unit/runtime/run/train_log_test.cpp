// RUN/logs/train.log: appended, whatever happens.
#include "runtime/run/events/train_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>

#include "core/base/files/files.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

struct TrainLogTest : ::testing::Test {
  std::string text() const { return read_file(folder.path() / train_log_name); }
  TemporaryDirectory folder;
};

TEST_F(TrainLogTest, IsAppendedAndMendsAHalfLine) {
  TrainLog(folder.path()).write("first\n");
  write_file_atomic(folder.path() / train_log_name, "first\nhal");
  TrainLog log(folder.path());
  log.write("second\n");
  log.write("");
  log.write("third\nfourth\n");
  EXPECT_EQ(text(), "first\nhal\nsecond\nthird\nfourth\n");
}

TEST_F(TrainLogTest, ALinkOrAPipeInItsPlaceIsNotWrittenTo) {
  const fs::path other = folder.path() / "other";
  write_file_atomic(other, "");
  fs::create_directory(folder.path() / "logs");
  fs::create_symlink(other, folder.path() / train_log_name);
  TrainLog linked(folder.path());
  linked.write("x\n");
  EXPECT_THAT(linked.fault(), HasSubstr("train.log"));
  EXPECT_EQ(read_file(other), "");

  fs::remove(folder.path() / train_log_name);
  ASSERT_EQ(mkfifo((folder.path() / train_log_name).c_str(), 0600), 0);
  TrainLog pipe(folder.path());
  pipe.write("x\n");
  EXPECT_THAT(pipe.fault(), HasSubstr("train.log is no file"));

  fs::remove_all(folder.path() / "logs");
  fs::create_directory(folder.path() / "elsewhere");
  fs::create_directory_symlink(folder.path() / "elsewhere", folder.path() / "logs");
  TrainLog beyond(folder.path());
  EXPECT_NE(beyond.fault(), "");
  EXPECT_TRUE(fs::is_empty(folder.path() / "elsewhere"));
}

TEST_F(TrainLogTest, LosesLinesWhereThereIsNoRoomAndSaysSoLater) {
  TrainLog log(folder.path());
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{.rlim_cur = 10, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  log.write("12345678\n");
  log.write("lost\n");
  log.write("lost too\n");
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  log.write("kept\n");
  log.write("kept too\n");
  EXPECT_EQ(text(), "12345678\nl\n(lines are missing here: File too large)\nkept\nkept too\n");
}

}  // namespace
}  // namespace lockstep
