// Command lines as bash has them, word by word.
#include "tools/cli/words/shell_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace lockstep::cli {
namespace {

using ::testing::ElementsAre;

constexpr const char* breaks = " \t\n\"'@><=;|&(:";

ShellLine line(const std::string& text) { return split_line(text, breaks); }

TEST(ShellLine, SplitsAtSpacesAndTakesQuotesOff) {
  EXPECT_THAT(line("lockstep  plan a\\ b 'c d'\"e\\\"f\" g").words,
              ElementsAre("lockstep", "plan", "a b", "c de\"f", "g"));
  EXPECT_THAT(line("lockstep ").words, ElementsAre("lockstep", ""));
  EXPECT_THAT(line("lockstep '' x").words, ElementsAre("lockstep", "", "x"));
  EXPECT_THAT(line("a \"b\\nc\" \\").words, ElementsAre("a", "b\\nc", "\\"));
}

TEST(ShellLine, EvaluatesNothing) {
  EXPECT_THAT(line("a $(touch\\ x) `id` $HOME ~ {1,2} *").words,
              ElementsAre("a", "$(touch x)", "`id`", "$HOME", "~", "{1,2}", "*"));
}

TEST(ShellLine, KnowsTheQuoteThatIsOpen) {
  EXPECT_EQ(line("a b").quote, 0);
  EXPECT_EQ(line("a 'b c").quote, '\'');
  EXPECT_EQ(line("a \"b c").quote, '"');
  EXPECT_EQ(line("a 'b' \"c\"").quote, 0);
}

TEST(ShellLine, KnowsWhereReadlineBeginsAWord) {
  EXPECT_EQ(line("a optimizer.kind=ad").break_at, 15u);
  EXPECT_EQ(line("a b:c=d ef").break_at, 0u);
  EXPECT_EQ(line("a b\\=c").break_at, 0u);
  EXPECT_EQ(line("a 'b=c").break_at, 0u);
  EXPECT_EQ(split_line("a b:c", "=").break_at, 0u);
}

TEST(ShellLine, WritesWordsSoThatBashTakesThemAsTheyAre) {
  EXPECT_EQ(completed_word(line("a "), "my run"), "my\\ run");
  EXPECT_EQ(completed_word(line("a "), "$(touch x)`id`"), "\\$\\(touch\\ x\\)\\`id\\`");
  EXPECT_EQ(completed_word(line("a key="), "key=a b"), "a\\ b");
  EXPECT_EQ(completed_word(line("a 'm"), "m$(y) \""), "m$(y) \"");
  EXPECT_EQ(completed_word(line("a 'm"), "m'y"), std::nullopt);
  EXPECT_EQ(completed_word(line("a \"m"), "m$(y)\"`\\"), "m\\$(y)\\\"\\`\\\\");
  EXPECT_EQ(completed_word(line("a \"m"), "m!y"), std::nullopt);
}

TEST(ShellLine, ReadsBackWhatItWrites) {
  constexpr std::string_view letters = "ab $`'\"\\(){};&|<>*?[]!#~=:@%^-\xc3\xbc";
  std::minstd_rand random(1);
  int written = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    std::string word;
    for (std::size_t length = 1 + random() % 8; word.size() < length;)
      word += letters[random() % letters.size()];
    for (const std::string quote : {"", "'", "\""}) {
      const std::string begun = "lockstep " + quote;
      const auto completed = completed_word(line(begun), word);
      if (!completed) continue;
      ++written;
      const ShellLine read = line(begun + *completed + quote);
      ASSERT_EQ(read.words.size(), 2u) << word;
      ASSERT_EQ(read.words[1], word);
      ASSERT_EQ(read.quote, 0);
    }
  }
  EXPECT_GT(written, 40000);
}

}  // namespace
}  // namespace lockstep::cli
