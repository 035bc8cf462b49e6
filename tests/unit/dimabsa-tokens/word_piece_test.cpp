// Texts cut by WordPiece: ids, places in the text, words.
#include "recipes/dimabsa/tokens/word_piece.h"

#include <random>

#include "core/base/text/utf8.h"
#include "tokens_test.h"

namespace lockstep::dimabsa {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Ids are places: [PAD] 0, [UNK] 1, [CLS] 2, [SEP] 3, the first piece 4.
std::unique_ptr<Tokenizer> word_piece(const std::vector<std::string>& pieces,
                                      const BertNormalizer& normalizer = {}) {
  WordPieceSettings settings{.vocabulary = {"[PAD]", "[UNK]", "[CLS]", "[SEP]"},
                             .normalizer = normalizer,
                             .where = "vocab.txt"};
  for (std::size_t i = 0; i < settings.vocabulary.size(); ++i)
    settings.added.push_back({.text = settings.vocabulary[i], .id = static_cast<std::int64_t>(i)});
  settings.vocabulary.insert(settings.vocabulary.end(), pieces.begin(), pieces.end());
  return make_word_piece(std::move(settings));
}

constexpr BertNormalizer cased{.strip_accents = false, .lower_case = false};

TEST(WordPiece, TakesTheLongestPieceFromTheLeft) {
  const auto tokenizer = word_piece({"play", "pla", "##ying", "##y", "##ing", "##s"});
  const std::vector<Piece> pieces = tokenizer->encode("playing plays");
  EXPECT_THAT(ids(*tokenizer, "playing plays"), ElementsAre(4, 8, 4, 9));
  EXPECT_THAT(places(*tokenizer, "playing plays"), ElementsAre("play", "ing", "play", "s"));
  EXPECT_TRUE(pieces[0].begins_word && pieces[2].begins_word);
  EXPECT_FALSE(pieces[1].begins_word || pieces[3].begins_word);
}

TEST(WordPiece, AWordWithoutPiecesIsUnknownAsAWhole) {
  const auto tokenizer = word_piece({"play", "good", "!"});
  EXPECT_THAT(ids(*tokenizer, "good playful!"), ElementsAre(5, 1, 6));
  EXPECT_THAT(places(*tokenizer, "good playful!"), ElementsAre("good", "playful", "!"));
}

TEST(WordPiece, AWordOfMoreThanAHundredCharactersIsUnknown) {
  const auto tokenizer = word_piece({"\xc3\xa4", "##\xc3\xa4"}, cased);
  std::string word;
  for (int i = 0; i < 100; ++i) word += "\xc3\xa4";
  EXPECT_EQ(tokenizer->encode(word).size(), 100u);
  EXPECT_THAT(ids(*tokenizer, word + "\xc3\xa4"), ElementsAre(1));
}

TEST(WordPiece, PunctuationIsAWordOfItsOwn) {
  const auto tokenizer = word_piece({"it", "'", "s", "$", "5", ".", "\xe2\x80\xa6", "-"});
  EXPECT_THAT(places(*tokenizer, "It's $5.\xe2\x80\xa6-"),
              ElementsAre("It", "'", "s", "$", "5", ".", "\xe2\x80\xa6", "-"));
  for (const Piece& piece : tokenizer->encode("it's")) EXPECT_TRUE(piece.begins_word);
}

TEST(WordPiece, PlacesAreOfTheTextAsItIsWritten) {
  const auto tokenizer = word_piece({"cafe", "resume", "is", "good", "i"});
  // An accent in the letter, an accent behind it, a capital whose small form is longer.
  const std::string text = "CAF\xc3\x89  re\xcc\x81sume\xcc\x81 is good \xc4\xb0s";
  EXPECT_THAT(places(*tokenizer, text),
              ElementsAre("CAF\xc3\x89", "re\xcc\x81sume", "is", "good", "\xc4\xb0s"));
  EXPECT_THAT(ids(*tokenizer, text), ElementsAre(4, 5, 6, 7, 6));
}

TEST(WordPiece, CasedKeepsCapitalsAndAccents) {
  const auto tokenizer = word_piece({"Caf\xc3\xa9", "cafe"}, cased);
  EXPECT_THAT(ids(*tokenizer, "Caf\xc3\xa9 cafe CAFE"), ElementsAre(4, 5, 1));
}

TEST(WordPiece, SigmaHasOneSmallForm) {
  const auto tokenizer = word_piece({"\xcf\x83\xce\xbf\xcf\x83"});  // σοσ, not σος
  EXPECT_THAT(ids(*tokenizer, "\xce\xa3\xce\x9f\xce\xa3"), ElementsAre(4));
}

TEST(WordPiece, PiecesOfOneCharacterShareItsPlace) {
  // 각 is decomposed into three letters.
  const auto tokenizer = word_piece({"\xe1\x84\x80", "##\xe1\x85\xa1", "##\xe1\x86\xa8"});
  const std::string text = "\xea\xb0\x81";
  EXPECT_THAT(places(*tokenizer, text), ElementsAre(text, text, text));
}

TEST(WordPiece, ChineseCharactersAreWordsOfTheirOwn) {
  const std::vector<std::string> pieces = {"\xe6\x9d\xb1", "\xe4\xba\xac", "##\xe4\xba\xac", "a"};
  const std::string text = "a\xe6\x9d\xb1\xe4\xba\xac";
  EXPECT_THAT(ids(*word_piece(pieces), text), ElementsAre(7, 4, 5));
  BertNormalizer together;
  together.chinese_characters = false;
  EXPECT_THAT(ids(*word_piece(pieces, together), text), ElementsAre(1));
  EXPECT_THAT(ids(*word_piece(pieces, together), text.substr(1)), ElementsAre(4, 6));
}

TEST(WordPiece, ControlCharactersAndFaultyBytesAreDropped) {
  const auto tokenizer = word_piece({"ab", "a", "b"});
  EXPECT_THAT(ids(*tokenizer,
                  "a\x01"
                  "b"),
              ElementsAre(4));
  EXPECT_THAT(ids(*tokenizer, std::string_view("a\0b", 3)), ElementsAre(4));
  EXPECT_THAT(ids(*tokenizer,
                  "a\xe2\x80\x8d"
                  "b"),
              ElementsAre(4));  // zero-width joiner
  EXPECT_THAT(ids(*tokenizer,
                  "a\xff\xc3"
                  "b"),
              ElementsAre(4));
  EXPECT_THAT(places(*tokenizer,
                     "a\xff"
                     "b"),
              ElementsAre("a\xff"
                          "b"));
  EXPECT_THAT(ids(*tokenizer,
                  "a\tb\nb\xe3\x80\x80"
                  "b"),
              ElementsAre(5, 6, 6, 6));
}

TEST(WordPiece, SpecialTokensInATextAreThose) {
  const auto tokenizer = word_piece({"a", "b", "[", "]", "sep"});
  EXPECT_THAT(ids(*tokenizer, "a[SEP]b [CLS]"), ElementsAre(4, 3, 5, 2));
  EXPECT_THAT(places(*tokenizer, "a[SEP]b"), ElementsAre("a", "[SEP]", "b"));
  EXPECT_THAT(ids(*tokenizer, "[sep] [ SEP ]"), ElementsAre(6, 8, 7, 6, 8, 7));
}

TEST(WordPiece, NothingGivesNothing) {
  const auto tokenizer = word_piece({"a"});
  for (const char* text : {"", "  \t\n", "\xcc\x81", "\xef\xbf\xbd"})
    EXPECT_THAT(tokenizer->encode(text), IsEmpty()) << text;
}

TEST(WordPiece, KnowsItsTokens) {
  const auto tokenizer = word_piece({"a"});
  EXPECT_EQ(tokenizer->vocabulary(), 5);
  EXPECT_EQ(tokenizer->pad(), 0);
  EXPECT_EQ(tokenizer->unknown(), 1);
  EXPECT_EQ(tokenizer->cls(), 2);
  EXPECT_EQ(tokenizer->sep(), 3);
}

TEST(WordPiece, AddedTokensHaveRulesOfTheirOwn) {
  WordPieceSettings settings{.vocabulary = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "cart"},
                             .added = {{.text = "car", .id = 6, .single_word = true},
                                       {.text = "<m>", .id = 7, .lstrip = true},
                                       {.text = "CAF\xc3\x89", .id = 8, .normalized = true}},
                             .where = "vocab.txt"};
  const auto tokenizer = make_word_piece(std::move(settings));
  EXPECT_EQ(tokenizer->vocabulary(), 9);
  EXPECT_THAT(ids(*tokenizer, "cart car a"), ElementsAre(5, 6, 4));
  EXPECT_THAT(places(*tokenizer, "a  <m> a"), ElementsAre("a", "  <m>", "a"));
  EXPECT_THAT(places(*tokenizer, "a Cafe\xcc\x81"), ElementsAre("a", "Cafe"));
  EXPECT_THAT(ids(*tokenizer, "a Cafe\xcc\x81"), ElementsAre(4, 8));
}

TEST(WordPiece, PiecesLieInAnyTextInOrder) {
  const auto tokenizer = word_piece({"a", "b", "##a", "##b", "\xe6\x9d\xb1", "##\xcc\x81", "!"});
  std::mt19937 random(3);
  const std::vector<std::string> parts = {
      "a",    "B",        "\xc3\x81", "\xcc\x81",     "\xcc\xa3", " ",       "!", "\xe6\x9d\xb1",
      "\xff", "\xe6\x9d", "[SEP]",    "\xea\xb0\x81", "\t",       "\xcd\x84"};
  for (int round = 0; round < 500; ++round) {
    std::string text;
    for (std::size_t i = random() % 20; i > 0; --i) text += parts[random() % parts.size()];
    std::uint32_t last = 0;
    for (const Piece& piece : tokenizer->encode(text)) {
      EXPECT_LT(piece.begin, piece.end);
      EXPECT_LE(piece.end, text.size());
      EXPECT_GE(piece.begin, last);
      EXPECT_LT(piece.id, tokenizer->vocabulary());
      last = piece.begin;
    }
  }
}

}  // namespace
}  // namespace lockstep::dimabsa
