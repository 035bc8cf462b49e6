#include "runtime/launch/output/log_tail.h"

#include <gtest/gtest.h>

#include "core/base/text/text.h"

namespace lockstep {
namespace {

std::string tail(const std::string& text, int lines = 20) { return last_lines(text, lines); }

TEST(LogTail, IsTheWholeOfAShortLog) {
  EXPECT_EQ(tail("one\ntwo\n"), "one\ntwo");
  EXPECT_EQ(tail("one\n\ntwo"), "one\n\ntwo");
  EXPECT_EQ(tail("one"), "one");
}

TEST(LogTail, KeepsTheLastLinesOfAnyLog) {
  for (int count = 0; count <= 45; ++count) {
    std::string text, expected;
    for (int i = 0; i < count; ++i) {
      text += cat("line ", i, "\n");
      if (i >= count - 20) expected += cat(expected.empty() ? "" : "\n", "line ", i);
    }
    EXPECT_EQ(tail(text), expected) << count;
  }
}

TEST(LogTail, ShowsAProgressBarAsItWasLastSeen) {
  EXPECT_EQ(tail("0%\r50%\r100%\nerror\r\n"), "100%\nerror");
}

TEST(LogTail, LeavesOutWhatOnlyATerminalUnderstands) {
  EXPECT_EQ(tail("\x1b[31mred\x1b[0m\n\x1b]0;title\x07"
                 "b\n"),
            "red\nb");
}

TEST(LogTail, CutsVeryLongLinesAndLogs) {
  const std::string line(5000, 'x');
  EXPECT_EQ(tail(line + "\nend\n"), std::string(1000, 'x') + " …\nend");
  std::string text;
  for (int i = 0; i < 100; ++i) text += line + "\n";
  const std::string kept = tail(text + "end\n", 3);
  EXPECT_TRUE(kept.ends_with("…\nend"));
}

TEST(LogTail, RemembersTheEndOfAnyAmount) {
  LogTail end;
  for (int i = 0; i < 200000; ++i) end.add(cat("line ", i, "\n"));
  EXPECT_EQ(end.last_lines(2), "line 199998\nline 199999");
  const std::string all = end.last_lines(1000000);
  EXPECT_GE(all.size(), std::size_t{256} * 1024);
  EXPECT_LE(all.size(), std::size_t{512} * 1024);
}

TEST(LogTail, OfNothingIsNothing) {
  EXPECT_EQ(tail(""), "");
  EXPECT_EQ(tail("\n\n"), "");
}

}  // namespace
}  // namespace lockstep
