#include "core/base/text/utf8.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace lockstep {
namespace {

TEST(Utf8, ReadsBackEveryCodePoint) {
  for (char32_t c = 1; c < 0x110000; ++c) {
    if (c >= 0xD800 && c < 0xE000) continue;
    std::string text;
    append_utf8(text, c);
    const CodePoint point = next_code_point(text);
    ASSERT_TRUE(point.valid);
    ASSERT_EQ(point.value, c);
    ASSERT_EQ(point.length, text.size());
  }
}

TEST(Utf8, MendsFaultyPartsAsUnicodeAdvises) {
  const std::string r = "\xEF\xBF\xBD";
  EXPECT_EQ(mend_utf8("a\xFFz"), "a" + r + "z");
  EXPECT_EQ(mend_utf8("a\xE2\x82z"), "a" + r + "z");        // cut short
  EXPECT_EQ(mend_utf8("\xC0\xAF"), r + r);                  // too long a form
  EXPECT_EQ(mend_utf8("\xED\xA0\x80"), r + r + r);          // a surrogate
  EXPECT_EQ(mend_utf8("\xF4\x90\x80\x80"), r + r + r + r);  // above U+10FFFF
  EXPECT_EQ(mend_utf8("caf\xC3\xA9"), "caf\xC3\xA9");
}

TEST(Utf8, CountsInvalidBytes) {
  EXPECT_EQ(invalid_bytes("plain text of some length, 0123456789"), 0u);
  EXPECT_EQ(invalid_bytes("caf\xE9 ol\xE9 and more"), 2u);
  EXPECT_EQ(invalid_bytes("01234567\xE2\x82"), 2u);
}

// Characters of every length.
std::string random_text(std::mt19937_64& random, int characters) {
  std::string text;
  for (; characters > 0; --characters)
    append_utf8(text,
                static_cast<char32_t>(1 + random() % (std::uint64_t{0x7F} << random() % 4 * 5)));
  return mend_utf8(text);
}

TEST(Utf8Stream, GivesOutWholeCharactersHoweverTheBytesCome) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 200; ++round) {
    const std::string text = random_text(random, 40);
    Utf8Stream stream;
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t length = std::min<std::size_t>(1 + random() % 5, text.size() - at);
      const std::string part = stream.push(text.substr(at, length));
      EXPECT_EQ(invalid_bytes(part), 0u);
      out += part;
      at += length;
    }
    EXPECT_EQ(out + stream.finish(), text);
  }
}

TEST(Utf8Stream, MendsWhatStaysUnfinished) {
  Utf8Stream stream;
  EXPECT_EQ(stream.push("a\xE2\x82"), "a");
  EXPECT_EQ(stream.finish(), "\xEF\xBF\xBD");
  EXPECT_EQ(stream.push("\x80"), "\xEF\xBF\xBD");
}

}  // namespace
}  // namespace lockstep
