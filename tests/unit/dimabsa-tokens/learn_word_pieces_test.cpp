// Vocabularies learned from texts.
#include <algorithm>
#include <set>

#include "core/base/text/text.h"
#include "fakes/error_of.h"
#include "tokens_test.h"

namespace lockstep::dimabsa {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> repeated(const std::string& text, int times) {
  return std::vector<std::string>(static_cast<std::size_t>(times), text);
}

TEST(LearnWordPieces, SpecialTokensThenCharactersThenLongerPieces) {
  EXPECT_THAT(
      learn_word_pieces(repeated("aab", 3), 100, true),
      ElementsAre("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "##a", "##b", "a", "##ab", "aab"));
}

TEST(LearnWordPieces, FrequentWordsBecomeOnePiece) {
  std::vector<std::string> texts = repeated("what aspects ? null", 50);
  texts.emplace_back("hapax");
  const auto pieces = learn_word_pieces(texts, 200, true);
  for (const char* word : {"what", "aspects", "?", "null"})
    EXPECT_THAT(pieces, Contains(word)) << word;
  EXPECT_THAT(pieces, Not(Contains("hapax")));
}

TEST(LearnWordPieces, NoMoreThanAskedForAndNoneTwice) {
  std::vector<std::string> texts;
  for (int i = 0; i < 2000; ++i) texts.push_back(cat("word", i % 300, " and ", i % 7, "letters"));
  for (const std::size_t size : {7u, 20u, 60u, 150u}) {
    const auto pieces = learn_word_pieces(texts, size, true);
    EXPECT_LE(pieces.size(), size);
    EXPECT_EQ(std::set<std::string>(pieces.begin(), pieces.end()).size(), pieces.size());
  }
  EXPECT_EQ(learn_word_pieces(texts, 150, true).size(), 150u);
}

TEST(LearnWordPieces, TheOrderOfTextsMakesNoDifference) {
  std::vector<std::string> texts;
  for (int i = 0; i < 500; ++i) texts.push_back(cat("a", i % 50, "b", i % 31, " common ", i % 11));
  const auto pieces = learn_word_pieces(texts, 120, true);
  std::ranges::reverse(texts);
  EXPECT_EQ(learn_word_pieces(texts, 120, true), pieces);
}

TEST(LearnWordPieces, CasedAndUncased) {
  const auto texts = repeated("Café", 5);
  EXPECT_THAT(learn_word_pieces(texts, 100, true), Contains("cafe"));
  EXPECT_THAT(learn_word_pieces(texts, 100, false), Contains("Café"));
}

TEST(LearnWordPieces, RareCharactersLeaveRoomForWords) {
  std::vector<std::string> texts = repeated("good food", 100);
  std::string rare;
  for (int i = 0; i < 500; ++i) {  // one character after the other of U+4E00 on
    rare += static_cast<char>(0xE4);
    rare += static_cast<char>(0xB8 + i / 64);
    rare += static_cast<char>(0x80 + i % 64);
  }
  texts.push_back(rare);
  const auto pieces = learn_word_pieces(texts, 60, true);
  EXPECT_THAT(pieces, Contains("good"));
  EXPECT_THAT(pieces, Contains("food"));
}

TEST(LearnWordPieces, AreOpenedAsAFolder) {
  const TemporaryDirectory folder;
  std::ofstream file(folder.path() / "vocab.txt");
  for (const std::string& piece : learn_word_pieces(repeated("good food", 9), 100, true))
    file << piece << '\n';
  file.close();
  const auto tokenizer = open_tokenizer(folder.path());
  EXPECT_THAT(places(*tokenizer, "GOOD food"), ElementsAre("GOOD", "food"));
  EXPECT_EQ(tokenizer->pad(), 0);
}

TEST(LearnWordPieces, NeedsTextAndRoom) {
  EXPECT_THAT(error_of([] {
                learn_word_pieces({"", " \n"}, 100, true);
              }),
              HasSubstr("no text to learn word pieces from"));
  EXPECT_THAT(error_of([] { learn_word_pieces({"a"}, 6, true); }),
              HasSubstr("at least 7 entries, but is to have 6"));
}

}  // namespace
}  // namespace lockstep::dimabsa
