// What people see of ranks that print at once, and what logs keep.
#include "runtime/launch/ranks/rank_screen.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

class Screen : public ::testing::Test {
 protected:
  explicit Screen(bool is_terminal = true)
      : screen(2, is_terminal, [this](std::string_view text) { shown += text; }) {}
  // What is shown of it at once.
  std::string add(std::size_t rank, std::string_view bytes) {
    shown.clear();
    screen.add(rank, bytes, now_s);
    return shown;
  }
  std::string after(double time_s) {
    shown.clear();
    now_s += time_s;
    screen.on_time(now_s);
    return shown;
  }
  std::string finish(std::size_t rank) {
    shown.clear();
    screen.finish(rank);
    return shown;
  }
  std::string shown;
  double now_s = 100;
  RankScreen screen;
};

TEST_F(Screen, LinesHaveTheirRank) {
  EXPECT_EQ(add(0, "a\nb\n\n"), "[0] a\n[0] b\n[0] \n");
  EXPECT_EQ(add(1, "c"), "");
  EXPECT_EQ(add(1, "d\ne"), "[1] cd\n");
  EXPECT_EQ(finish(1), "[1] e\n");
}

// As tqdm writes: the carriage return first, and no newline before the end.
TEST_F(Screen, ABarOfRankZeroIsLive) {
  EXPECT_EQ(add(0, "\r 10%"), "\r");
  EXPECT_EQ(after(0.05), "");
  EXPECT_EQ(after(0.06), "[0]  10%");
  EXPECT_EQ(add(0, "\r 20%"), "\r");
  EXPECT_EQ(add(0, "\r 30%"), "[0]  20%\r");
  EXPECT_EQ(add(0, "\n"), "[0]  30%\n");
}

TEST_F(Screen, ALineOfAnotherRankStandsBelowTheBar) {
  add(0, "\r 10%\r");
  EXPECT_EQ(add(1, "hello\n"), "\n[1] hello\n");
  EXPECT_EQ(add(0, " 20%\r"), "[0]  20%\r");
  EXPECT_EQ(finish(0), "\n");
}

TEST_F(Screen, AQuestionIsShownWithoutItsNewline) {
  EXPECT_EQ(add(0, "yes or no? "), "");
  EXPECT_EQ(after(1), "[0] yes or no? ");
  EXPECT_FALSE(screen.due_s());
  EXPECT_EQ(add(0, "thanks\n"), "thanks\n");
}

// Python writes a line in pieces.
TEST_F(Screen, PiecesOfALineAreNotTornByAnotherRank) {
  EXPECT_EQ(add(0, "loss"), "");
  EXPECT_EQ(add(1, "ready\n"), "[1] ready\n");
  EXPECT_EQ(add(0, " 0.5"), "");
  EXPECT_EQ(add(0, "\n"), "[0] loss 0.5\n");
}

TEST_F(Screen, EscapeSequencesOfRankZeroReachTheTerminal) {
  EXPECT_EQ(add(0, "\x1b[32mgreen\x1b[0m\n"), "\x1b[32m[0] green\x1b[0m\n");
  EXPECT_EQ(add(0, "\x1b[A\r 5%\r"), "\x1b[A\r[0]  5%\r");
}

TEST_F(Screen, OfOtherRanksALineIsAsItLooksAtItsEnd) {
  EXPECT_EQ(add(1, "\r 10%\r 20%\n"), "[1]  20%\n");
  EXPECT_EQ(add(1, "windows\r\n"), "[1] windows\n");
}

class FileScreen : public Screen {
 protected:
  FileScreen() : Screen(false) {}
};

TEST_F(FileScreen, PartsOfALineWaitForItsEnd) {
  EXPECT_EQ(add(0, "loss"), "");
  EXPECT_FALSE(screen.due_s());
  EXPECT_EQ(after(10), "");
  EXPECT_EQ(add(0, " 1\n"), "[0] loss 1\n");
  add(0, "cut");
  EXPECT_EQ(finish(0), "[0] cut\n");
}

TEST(PlainLines, AreWithoutWhatOnlyATerminalKnows) {
  PlainLines lines;
  EXPECT_EQ(lines.add("\x1b[1;32mgreen\x1b[0m text\n"), "green text\n");
  EXPECT_EQ(lines.add("\r 10%\r 20"), "");
  EXPECT_EQ(lines.add("%\r\nnext\x1b]0;title\a!\n"), " 20%\nnext!\n");
  EXPECT_EQ(lines.add("rest\x1b["), "");
  EXPECT_EQ(lines.finish(), "rest");
  EXPECT_EQ(lines.finish(), "");
}

TEST(PlainLines, APartOfALineCanBeTakenThatIsNotRewritten) {
  PlainLines lines;
  EXPECT_EQ(lines.add("loading"), "");
  EXPECT_EQ(lines.take_part(), "loading");
  EXPECT_EQ(lines.take_part(), "");
  EXPECT_EQ(lines.add(" done\n"), " done\n");
  lines.add("\r 10%");
  EXPECT_EQ(lines.take_part(), "");
  EXPECT_EQ(lines.finish(), " 10%");
}

TEST(PlainLines, ALineWithoutAnEndIsCut) {
  PlainLines lines;
  const std::string much(3 << 20, 'x');
  EXPECT_EQ(lines.add(much), much);
}

}  // namespace
}  // namespace lockstep
