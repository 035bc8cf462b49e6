// Messages, whatever values they repeat.
#include "core/base/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/base/text/text.h"

namespace lockstep {
namespace {

std::string copies(std::size_t count, const std::string& text) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += text;
  return all;
}

TEST(ErrorText, OfALongValueShowsBeginningAndEnd) {
  const std::string value = std::string(120'000, 'a') + std::string(120'000, 'b');
  const Error error(cat("x must be a number, but is \"", value, "\""), cat("not x=", value, "!"));
  EXPECT_EQ(error.what(),
            cat("x must be a number, but is \"", copies(158, "a"), "…", copies(39, "b"), "\""));
  EXPECT_EQ(error.hint(), cat("not x=", copies(157, "a"), "…", copies(39, "b"), "!"));
}

TEST(ErrorText, ThatIsNotTooLongStays) {
  const std::string message = cat("cannot read ", copies(199, "p"), ":\n  ", copies(66, "é "));
  EXPECT_STREQ(Error(message).what(), message.c_str());
  EXPECT_EQ(shortened(copies(200, "é")), copies(200, "é"));
  EXPECT_EQ(shortened(""), "");
}

TEST(ErrorText, CutsNoCharacter) {
  for (const std::string character : {"é", "€", "😀"})
    EXPECT_EQ(shortened(copies(60'000, character)),
              cat(copies(159, character), "…", copies(40, character)));
}

TEST(ErrorText, OfBytesThatAreNoTextIsShortToo) {
  EXPECT_LT(shortened(std::string(240'000, '\x80')).size(), 1000u);
  EXPECT_EQ(shortened(std::string(300, '\x80')), cat(copies(159, "\x80"), "…", copies(40, "\x80")));
  EXPECT_LT(shortened(std::string(240'000, '\xff')).size(), 1000u);
}

TEST(ErrorText, OfAValueWithBlanksIsALineOfSomeLength) {
  const std::string message = shortened(cat("x is ", copies(120'000, "a "), "\nnext line"));
  EXPECT_LT(message.size(), 2100u);
  EXPECT_TRUE(message.starts_with("x is a a a "));
  EXPECT_TRUE(message.ends_with("a a \nnext line"));
}

}  // namespace
}  // namespace lockstep
