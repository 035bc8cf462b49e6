#include "launch/log_tail.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "base/text.h"

namespace lockstep {
namespace {

struct LogTail : testing::Test {
  std::string tail(const std::string& text, std::uint64_t from = 0, int lines = 20) {
    write_file_atomic(folder.path() / "log", text);
    return log_tail(folder.path() / "log", from, lines);
  }
  TemporaryDirectory folder;
};

TEST_F(LogTail, IsTheWholeOfAShortLog) {
  EXPECT_EQ(tail("one\ntwo\n"), "one\ntwo");
  EXPECT_EQ(tail("one\n\ntwo"), "one\n\ntwo");
  EXPECT_EQ(tail("one"), "one");
}

TEST_F(LogTail, KeepsTheLastLinesOfAnyLog) {
  for (int count = 0; count <= 45; ++count) {
    std::string text, expected;
    for (int i = 0; i < count; ++i) {
      text += cat("line ", i, "\n");
      if (i >= count - 20) expected += cat(expected.empty() ? "" : "\n", "line ", i);
    }
    EXPECT_EQ(tail(text), expected) << count;
  }
}

TEST_F(LogTail, LeavesOutWhatEarlierStartsWrote) {
  EXPECT_EQ(tail("old\nnew\n", 4), "new");
  EXPECT_EQ(tail("old\n", 4), "");
  EXPECT_EQ(tail("old\n", 400), "");
}

TEST_F(LogTail, ShowsAProgressBarAsItWasLastSeen) {
  EXPECT_EQ(tail("0%\r50%\r100%\nerror\r\n"), "100%\nerror");
}

TEST_F(LogTail, CutsVeryLongLinesAndLogs) {
  const std::string line(5000, 'x');
  EXPECT_EQ(tail(line + "\nend\n"), std::string(1000, 'x') + " …\nend");
  std::string text;
  for (int i = 0; i < 100; ++i) text += line + "\n";
  const std::string kept = tail(text + "end\n", 0, 3);
  EXPECT_TRUE(kept.ends_with("…\nend"));
}

TEST_F(LogTail, IsEmptyWithoutALog) {
  EXPECT_EQ(log_tail(folder.path() / "none", 0, 20), "");
  EXPECT_EQ(tail(""), "");
  EXPECT_EQ(tail("\n\n"), "");
}

}  // namespace
}  // namespace lockstep
