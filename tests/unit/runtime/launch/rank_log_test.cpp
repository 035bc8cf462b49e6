#include "runtime/launch/ranks/rank_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/files/files.h"
#include "core/base/text/text.h"

namespace lockstep {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::uint64_t limit = std::uint64_t{1} << 20;

struct RankLogTest : ::testing::Test {
  std::string text() const { return read_file(folder.path() / "rank3.log"); }
  // LineSplitter "line FROM", … in pieces that end anywhere, as a pipe brings them.
  static void write_lines(RankLog& log, int from, int to) {
    std::string waiting;
    for (int i = from; i < to; ++i) {
      waiting += cat("line ", i, "\n");
      if (waiting.size() < 5000) continue;
      log.write(std::string_view(waiting).substr(0, 4997));
      waiting.erase(0, 4997);
    }
    log.write(waiting);
  }
  // Whether each line follows the one before but where a mark says that some were left out.
  static void expect_whole_lines(const std::string& text) {
    int last = -1;
    bool left_out = true;
    for (const std::string& line : split(text, '\n')) {
      if (line.starts_with("[… ")) {
        left_out = true;
      } else if (!line.empty()) {
        ASSERT_THAT(line, StartsWith("line "));
        const int number = std::stoi(line.substr(5));
        if (!left_out) {
          ASSERT_EQ(number, last + 1);
        }
        last = number;
        left_out = false;
      }
    }
  }
  TemporaryDirectory folder;
};

TEST_F(RankLogTest, IsAppendedToOverStarts) {
  RankLog(folder.path(), 3, limit).write("first\n");
  RankLog(folder.path(), 3, limit).write("second\n");
  EXPECT_EQ(text(), "first\nsecond\n");
}

TEST_F(RankLogTest, ALineDividesStartsAndBeginsNoLog) {
  for (const char* printed : {"first\n", "no newline", "third\n"}) {
    RankLog log(folder.path(), 3, limit);
    log.divide("--- started");
    log.write(printed);
  }
  EXPECT_EQ(text(), "first\n--- started\nno newline\n--- started\nthird\n");
}

TEST_F(RankLogTest, KeepsItsBeginningAndItsNewestPartBelowTheLimit) {
  RankLog log(folder.path(), 3, limit);
  for (int from = 0; from < 1000000; from += 20000) {
    write_lines(log, from, from + 20000);
    ASSERT_LE(text().size(), limit);
  }
  EXPECT_THAT(text(), StartsWith("line 0\nline 1\n"));
  EXPECT_THAT(text(), HasSubstr("\nline 40000\n")) << "of the first half";
  EXPECT_THAT(text(), HasSubstr("MiB left out here: the log has a limit of 1 MiB]\nline "));
  EXPECT_THAT(text(), EndsWith("line 999998\nline 999999\n"));
  EXPECT_GT(text().size(), limit / 2 + limit / 4);
  expect_whole_lines(text());
}

TEST_F(RankLogTest, KeepsTheBeginningOfTheFirstStart) {
  for (int start = 0; start < 8; ++start) {
    RankLog log(folder.path(), 3, limit);
    write_lines(log, start * 50000, (start + 1) * 50000);
    ASSERT_LE(text().size(), limit);
  }
  EXPECT_THAT(text(), StartsWith("line 0\n"));
  EXPECT_THAT(text(), EndsWith("line 399999\n"));
  expect_whole_lines(text());
}

TEST_F(RankLogTest, HoldsALineWithoutEndToo) {
  RankLog log(folder.path(), 3, limit);
  for (int i = 0; i < 400; ++i) log.write(std::string(10000, 'x'));
  log.write("end");
  EXPECT_LE(text().size(), limit);
  EXPECT_THAT(text(), EndsWith("xxend"));
}

TEST_F(RankLogTest, HasNoLimitWhereNoneIsGiven) {
  RankLog log(folder.path(), 3, 0);
  for (int i = 0; i < 300; ++i) log.write(std::string(10000, 'x'));
  EXPECT_EQ(text().size(), 3000000U);
}

TEST_F(RankLogTest, GoesOnWhereSomebodyEmptiedIt) {
  RankLog log(folder.path(), 3, limit);
  log.write("before\n");
  std::filesystem::resize_file(log.path(), 0);
  log.write("after\n");
  EXPECT_EQ(text(), "after\n");
}

}  // namespace
}  // namespace lockstep
