#include "tools/cli/words/command_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/error_of.h"

namespace lockstep::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> words(std::string_view text) { return command_words(text, "A"); }

TEST(CommandWords, AreSplitAsAShellDoes) {
  EXPECT_THAT(words("sleep  0.1 "), ElementsAre("sleep", "0.1"));
  EXPECT_THAT(words("\tpython3\n-c 'print(1 | 2)'"), ElementsAre("python3", "-c", "print(1 | 2)"));
  EXPECT_THAT(words(R"(a "b \"c\" \n" d\ e '')"), ElementsAre("a", R"(b "c" \n)", "d e", ""));
  EXPECT_THAT(words(R"(a'b'"c"d)"), ElementsAre("abcd"));
  EXPECT_THAT(words(R"(echo '$HOME' "a*b" \$x "\$y")"),
              ElementsAre("echo", "$HOME", "a*b", "$x", "$y"));
  EXPECT_THAT(words("train lr=0.1 --x=~ a#b"), ElementsAre("train", "lr=0.1", "--x=~", "a#b"));
  EXPECT_THAT(words("env A=1 prog"), ElementsAre("env", "A=1", "prog"));
  EXPECT_THAT(words("a\\\nb"), ElementsAre("ab"));
}

TEST(CommandWords, RefusesWhatOnlyAShellDoesAndSaysHowToCallOne) {
  for (const auto& [text, business] :
       std::vector<std::pair<std::string, std::string>>{{"a | b", "a pipe"},
                                                        {"a > b", "a redirection"},
                                                        {"a < b", "a redirection"},
                                                        {"a; b", "several commands"},
                                                        {"a && b", "several commands"},
                                                        {"echo $HOME", "a variable"},
                                                        {"echo \"$HOME\"", "a variable"},
                                                        {"echo `date`", "a command within"},
                                                        {"(a)", "a command within"},
                                                        {"ls *.py", "a pattern of file names"},
                                                        {"ls a?", "a pattern of file names"},
                                                        {"ls ~/x", "a home folder"},
                                                        {"a # b", "a comment"}}) {
    const std::string error = error_of([&, given = text] { words(given); });
    EXPECT_THAT(error, HasSubstr("A runs without a shell, but has " + business)) << text;
    EXPECT_THAT(error, HasSubstr("'sh -c ")) << text;
  }
  EXPECT_THAT(error_of([] { words("X=1 prog"); }), HasSubstr("'env X=1 prog'"));
}

TEST(CommandWords, RefusesWhatIsNotWhole) {
  EXPECT_THAT(error_of([] { words("a 'b"); }), HasSubstr("has a ' that is not closed"));
  EXPECT_THAT(error_of([] { words("a \"b"); }), HasSubstr("has a \" that is not closed"));
  EXPECT_THAT(error_of([] { words("a \"b\\"); }), HasSubstr("is not closed"));
  EXPECT_THAT(error_of([] { words("a\\"); }), HasSubstr("ends with a backslash"));
  for (const char* empty : {"", "  ", "''"})
    EXPECT_THAT(error_of([=] { words(empty); }), HasSubstr("A is empty"));
  EXPECT_THAT(error_of([] { words(std::string_view("a\0b", 3)); }), HasSubstr("of value 0"));
}

}  // namespace
}  // namespace lockstep::cli
