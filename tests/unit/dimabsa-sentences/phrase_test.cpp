#include "recipes/dimabsa/sentences/phrase.h"

#include <gtest/gtest.h>

#include "recipes/dimabsa/sentences/letters.h"

namespace lockstep::dimabsa {
namespace {

std::string found(std::string_view text, std::string_view phrase) {
  const auto range = find_phrase(text, phrase);
  return range ? std::to_string(range->begin) + " " + std::string(range->of(text)) : "none";
}

TEST(Phrase, IsFoundAsItIsWritten) {
  EXPECT_EQ(found("Great soup, great bread", "great"), "12 great");
  EXPECT_EQ(found("Great soup", "soup"), "6 soup");
  EXPECT_EQ(found("Great soup", "stew"), "none");
}

TEST(Phrase, IsFoundWithoutRegardToCase) {
  EXPECT_EQ(found("The Great Soup", "great soup"), "4 Great Soup");
  EXPECT_EQ(found("L'ÉTÉ", "été"), "2 ÉTÉ");
  EXPECT_EQ(found("ВКУСНО", "вкусно"), "0 ВКУСНО");
}

TEST(Phrase, PrefersWholeWords) {
  EXPECT_EQ(found("barely at the bar", "bar"), "14 bar");
  EXPECT_EQ(found("barely", "bar"), "0 bar");
  EXPECT_EQ(found("BARELY at the BAR", "bar"), "14 BAR");
}

TEST(Phrase, HasNoWordsInChinese) { EXPECT_EQ(found("這螢幕很讚，螢幕", "螢幕"), "3 螢幕"); }

TEST(Phrase, LosesSpacesAroundIt) {
  EXPECT_EQ(found("Great soup", " soup\t"), "6 soup");
  EXPECT_EQ(found("Great soup", "  "), "none");
  EXPECT_EQ(found("Great soup", ""), "none");
}

TEST(Phrase, OfBytesThatAreNoUtf8EqualsItself) {
  EXPECT_EQ(found("a \xFF b", "\xFF"), "2 \xFF");
  EXPECT_EQ(found("a \xFE b", "\xFF"), "none");
}

TEST(Phrase, NeverCutsACharacter) {
  // The second byte of é alone is no phrase of the text.
  EXPECT_EQ(found("é", "\xA9"), "none");
}

TEST(LowerCase, IsUnicodes) {
  EXPECT_EQ(lower_case("FOOD#QUALITY"), "food#quality");
  EXPECT_EQ(lower_case("ÀÉÎ Ж ẞ Ⅷ"), "àéî ж ß ⅷ");
  EXPECT_EQ(lower_case("İ"), "i\xCC\x87");
  EXPECT_EQ(lower_case("\xFF 料理"), "\xFF 料理");
}

}  // namespace
}  // namespace lockstep::dimabsa
