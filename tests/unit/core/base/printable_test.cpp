// Text from outside, shown without what would steer a terminal or turn the direction of writing.
#include "core/base/text/printable.h"

#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "core/base/text/utf8.h"
#include "fakes/raw_controls.h"

namespace lockstep {
namespace {

std::string utf8_of(char32_t c) {
  std::string text;
  append_utf8(text, c);
  return text;
}

TEST(Printable, ShowsWhatSteersATerminalAsEscapes) {
  EXPECT_EQ(printable("\x1b[2J\x07\x7f"), R"(\x1b[2J\x07\x7f)");
  EXPECT_EQ(printable("a\nb\tc\rd"), R"(a\nb\tc\rd)");
  EXPECT_EQ(printable(std::string("\0", 1)), R"(\x00)");
  EXPECT_EQ(printable("\xc2\x80\xc2\x9b\xc2\x9f"), R"(\u0080\u009b\u009f)");
}

TEST(Printable, ShowsWhatTurnsTheDirectionOfWritingAsEscapes) {
  for (const char32_t c :
       {U'\u061c', U'\u200e', U'\u200f', U'\u2028', U'\u2029', U'\u202a', U'\u202b', U'\u202c',
        U'\u202d', U'\u202e', U'\u2066', U'\u2067', U'\u2068', U'\u2069'}) {
    EXPECT_FALSE(testing::has_raw_controls(printable(utf8_of(c))));
    EXPECT_EQ(printable(utf8_of(c)).size(), 6U);
    EXPECT_EQ(escape_length(c), 6);
  }
  EXPECT_EQ(printable("gnp.\xe2\x80\xae.exe"), R"(gnp.\u202e.exe)");
}

TEST(Printable, ShowsEachByteThatIsNoUtf8) {
  EXPECT_EQ(printable("\xff"), R"(\xff)");
  EXPECT_EQ(printable("a\x9b"
                      "b"),
            R"(a\x9bb)");
  EXPECT_EQ(printable("\xe2\x80"), R"(\xe2\x80)");          // cut off
  EXPECT_EQ(printable("\xed\xa0\x80"), R"(\xed\xa0\x80)");  // a surrogate
  EXPECT_EQ(printable("\xc0\x8a"), R"(\xc0\x8a)");          // a newline, too long
}

TEST(Printable, LeavesAllOtherTextAsItIs) {
  for (const char* text :
       {"", "plain", "größe", "訓練 🚀", "עברית", "e\xcc\x81", "\\x1b", "\xc2\xa0"})
    EXPECT_EQ(printable(text), text);
}

TEST(Printable, KeepsWhatItIsTold) {
  EXPECT_EQ(printable("a\tb\n\r", "\n"), "a\\tb\n\\r");
  EXPECT_EQ(printable("a\tb\n\r", "\n\t"), "a\tb\n\\r");
}

TEST(Printable, OfAnyCharacterHasNoneThatSteersAndStaysAsItIs) {
  for (char32_t c = 0; c < 0x3000; ++c) {
    const std::string shown = printable("a" + utf8_of(c) + "b");
    EXPECT_FALSE(testing::has_raw_controls(shown)) << static_cast<unsigned>(c);
    EXPECT_EQ(printable(shown), shown);
    if (escape_length(c) > 0) EXPECT_EQ(shown.size(), 2U + static_cast<unsigned>(escape_length(c)));
  }
  EXPECT_FALSE(testing::has_raw_controls(printable(testing::steering)));
}

TEST(Printable, TakesTimeInProportionToTheLength) {
  std::string text;
  while (text.size() < 4'000'000) text += testing::steering;
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(testing::has_raw_controls(printable(std::move(text))));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST(PrintableLog, KeepsColoursAndResetsThem) {
  EXPECT_EQ(printable_log("\x1b[1;31mred\x1b[m\n"), "\x1b[1;31mred\x1b[m\n\x1b[0m");
  EXPECT_EQ(printable_log("\x1b[38:5:1mred"), "\x1b[38:5:1mred\x1b[0m");
  EXPECT_EQ(printable_log("a\tb\n"), "a\tb\n");
}

TEST(PrintableLog, KeepsNoOtherSequence) {
  EXPECT_EQ(printable_log("\x1b[2J\x1b]0;title\x07\x1b[?25m\x1b[31"),
            R"(\x1b[2J\x1b]0;title\x07\x1b[?25m\x1b[31)");
  EXPECT_EQ(printable_log("\x1b[1\x1b[31m"), "\\x1b[1\x1b[31m\x1b[0m");
  EXPECT_EQ(printable_log("\xc2\x9b"
                          "31m"),
            R"(\u009b31m)");
}

TEST(PrintableJson, MeansTheSame) {
  const nlohmann::json value{{testing::steering_utf8, {testing::steering_utf8, 1, nullptr}}};
  const std::string text = printable_json(value.dump(2));
  EXPECT_FALSE(testing::has_raw_controls(text));
  EXPECT_EQ(nlohmann::json::parse(text), value);
  EXPECT_EQ(printable(text, "\n"), text);
}

}  // namespace
}  // namespace lockstep
