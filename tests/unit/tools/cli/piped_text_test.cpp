// What is read of standard input where nobody said that it holds anything.
#include "tools/cli/predict/piped_text.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>

#include "core/base/files/fd.h"
#include "core/base/files/files.h"

namespace lockstep::cli {
namespace {

using ::testing::HasSubstr;

struct PipedText : ::testing::Test {
  PipedText() {
    std::array<int, 2> ends{};
    EXPECT_EQ(pipe(ends.data()), 0);
    from.reset(ends[0]);
    to.reset(ends[1]);
  }
  void send(const std::string& text) {
    EXPECT_EQ(write(to.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  std::optional<std::string> taken(int fd, double patience_s = 60) {
    return piped_text(fd, patience_s, [&](const std::string& line) { told += line; });
  }
  UniqueFd from, to;
  std::string told;
};

TEST_F(PipedText, IsAllThatAPipeHoldsWithoutItsLastLineFeed) {
  send("It was\na dark\n\n");
  to.reset();
  EXPECT_EQ(taken(from.get()), "It was\na dark\n");
  EXPECT_EQ(told, "");
}

TEST_F(PipedText, IsNothingWhereNothingWasSent) {
  to.reset();
  EXPECT_EQ(taken(from.get()), std::nullopt);
  EXPECT_EQ(told, "");
}

TEST_F(PipedText, DoesNotWaitForASilentPipeAndSaysSo) {
  EXPECT_EQ(taken(from.get(), 0.05), std::nullopt);
  EXPECT_THAT(told, HasSubstr("nothing has come from standard input for 0.05 s"));
}

TEST_F(PipedText, LeavesDevicesAlone) {
  const UniqueFd null(open("/dev/zero", O_RDONLY));
  EXPECT_EQ(taken(null.get()), std::nullopt);
  EXPECT_EQ(taken(-1), std::nullopt);
}

TEST_F(PipedText, LeavesTheRestOfAFileThatAnotherReads) {
  const TemporaryDirectory folder;
  write_file_atomic(folder.path() / "list", "first\nsecond\n");
  const UniqueFd file(open((folder.path() / "list").c_str(), O_RDONLY));
  EXPECT_EQ(taken(file.get()), "first\nsecond");
  ASSERT_EQ(lseek(file.get(), 6, SEEK_SET), 6);
  EXPECT_EQ(taken(file.get()), std::nullopt);
  EXPECT_EQ(lseek(file.get(), 0, SEEK_CUR), 6);
}

}  // namespace
}  // namespace lockstep::cli
