// Pieces of sentencepiece models, as XLM-R and DeBERTa-v3 number them.
#include "recipes/dimabsa/tokens/sentence_piece/sentence_piece.h"

#include <sentencepiece_trainer.h>

#include "core/base/text/text.h"
#include "fakes/error_of.h"
#include "tokens_test.h"

namespace lockstep::dimabsa {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Lines : public sentencepiece::SentenceIterator {
 public:
  bool done() const override { return at_ >= 400; }
  void Next() override { value_ = next(++at_); }
  const std::string& value() const override { return value_; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  static std::string next(int i) {
    return cat("The food was good number ", i % 17, ", the service file ",
               i % 5 == 0 ? "bad" : "fine");
  }
  int at_ = 0;
  std::string value_ = next(0);
};

std::string trained(const std::string& more_options) {
  Lines lines;
  std::string model;
  const auto status = sentencepiece::SentencePieceTrainer::Train(
      "--vocab_size=60 --hard_vocab_limit=false --minloglevel=3 --num_threads=1" + more_options,
      &lines, &model);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return model;
}

const std::string& xlm_model() {
  static const std::string model = trained("");
  return model;
}
const std::string& deberta_model() {
  static const std::string model = trained(
      " --pad_id=0 --bos_id=1 --eos_id=2 --unk_id=3 --pad_piece=[PAD] --bos_piece=[CLS]"
      " --eos_piece=[SEP] --unk_piece=[UNK]");
  return model;
}

class SentencePieceFolder : public TokensTest {
 protected:
  std::string error() const {
    return error_of([&] { open(); });
  }
};

TEST_F(SentencePieceFolder, OfXlmRHasItsSpecialTokensFirst) {
  put("sentencepiece.bpe.model", xlm_model());
  const auto tokenizer = open();
  EXPECT_EQ(tokenizer->cls(), 0);
  EXPECT_EQ(tokenizer->pad(), 1);
  EXPECT_EQ(tokenizer->sep(), 2);
  EXPECT_EQ(tokenizer->unknown(), 3);
  EXPECT_THAT(ids(*tokenizer, "<s></s><unk><pad><mask>"),
              ElementsAre(0, 2, 3, 1, tokenizer->vocabulary() - 1));
  for (const std::int64_t id : ids(*tokenizer, "good food")) {
    EXPECT_GT(id, 3);
    EXPECT_LT(id, tokenizer->vocabulary() - 1);
  }
}

TEST_F(SentencePieceFolder, OfDebertaHasTheIdsOfItsModel) {
  put("spm.model", deberta_model());
  put("config.json", R"({"model_type": "deberta-v2"})");
  const auto tokenizer = open();
  EXPECT_EQ(tokenizer->pad(), 0);
  EXPECT_EQ(tokenizer->cls(), 1);
  EXPECT_EQ(tokenizer->sep(), 2);
  EXPECT_EQ(tokenizer->unknown(), 3);
  EXPECT_THAT(ids(*tokenizer, "[CLS][MASK]"), ElementsAre(1, tokenizer->vocabulary() - 1));
}

TEST_F(SentencePieceFolder, PlacesLeaveOutSpaces) {
  put("sentencepiece.bpe.model", xlm_model());
  const std::string text = "  The  food was\tgood ";
  std::vector<std::string> words;
  std::uint32_t begin = 0;
  for (const Piece& piece : open()->encode(text)) {
    if (piece.begins_word) {
      words.emplace_back();
      begin = piece.begin;
    }
    words.back() = text.substr(begin, piece.end - begin);
  }
  EXPECT_THAT(words, ElementsAre("The", "food", "was", "good"));
}

TEST_F(SentencePieceFolder, APieceThatIsOnlyASpaceHasThePlaceBehindIt) {
  put("sentencepiece.bpe.model", xlm_model());
  const auto tokenizer = open();
  const std::string text = "food \xe6\x9d\xb1\xe4\xba\xac";
  const std::vector<Piece> pieces = tokenizer->encode(text);
  ASSERT_GE(pieces.size(), 3u);
  const Piece& space = pieces[pieces.size() - 2];
  const Piece& unknown = pieces.back();
  EXPECT_EQ(text.substr(space.begin, space.end - space.begin), "\xe6\x9d\xb1");
  EXPECT_TRUE(space.begins_word);
  EXPECT_EQ(unknown.id, 3);
  EXPECT_FALSE(unknown.begins_word);
  EXPECT_EQ(text.substr(unknown.begin), "\xe6\x9d\xb1\xe4\xba\xac");
}

TEST_F(SentencePieceFolder, PiecesOfOneCharacterShareItsPlace) {
  put("sentencepiece.bpe.model", xlm_model());
  const auto tokenizer = open();
  const std::string text = "wa\xef\xac\x81s";  // wa, the ligature fi, s
  std::uint32_t last = 0, covered = 0;
  for (const Piece& piece : tokenizer->encode(text)) {
    EXPECT_LT(piece.begin, piece.end);
    EXPECT_GE(piece.begin, last);
    for (const std::uint32_t place : {piece.begin, piece.end})
      EXPECT_TRUE(place <= 2 || place >= 5) << place;
    last = piece.begin;
    covered = piece.end;
  }
  EXPECT_EQ(covered, text.size());
}

TEST_F(SentencePieceFolder, TakesAnyBytes) {
  put("sentencepiece.bpe.model", xlm_model());
  const auto tokenizer = open();
  for (const std::string& text : {std::string("\xff\xfe good"), std::string("a\0b", 3),
                                  std::string("\xe6\x9d"), std::string(" \t"), std::string()})
    for (const Piece& piece : tokenizer->encode(text)) {
      EXPECT_LE(piece.begin, piece.end);
      EXPECT_LE(piece.end, text.size());
      EXPECT_LT(piece.id, tokenizer->vocabulary());
    }
}

TEST_F(SentencePieceFolder, RefusesWhatIsNoModel) {
  put("sentencepiece.bpe.model", "no model");
  EXPECT_THAT(error(), HasSubstr("sentencepiece.bpe.model is not a sentencepiece model"));
  put("sentencepiece.bpe.model", "");
  EXPECT_THAT(error(), HasSubstr("sentencepiece.bpe.model"));
}

TEST_F(SentencePieceFolder, RefusesAModelOfAnotherFamily) {
  put("sentencepiece.bpe.model", xlm_model());
  put("config.json", R"({"model_type": "camembert"})");
  EXPECT_THAT(error(), AllOf(HasSubstr("camembert"), HasSubstr("XLM-R")));
  put("config.json", R"({"model_type": "xlm-roberta"})");
  EXPECT_EQ(open()->cls(), 0);
  put("sentencepiece.bpe.model", deberta_model());
  EXPECT_THAT(error(), HasSubstr("must have <unk>, <s>, </s> as its first pieces"));
}

TEST_F(SentencePieceFolder, RefusesADebertaModelWithoutItsTokens) {
  put("spm.model", xlm_model());
  EXPECT_THAT(error(), HasSubstr("spm.model has no [CLS]"));
}

TEST_F(SentencePieceFolder, RefusesRulesThatItDoesNotHave) {
  put("spm.model", deberta_model());
  put("tokenizer_config.json", R"({"do_lower_case": true})");
  EXPECT_THAT(error(), HasSubstr("do_lower_case and split_by_punct must be false"));
}

}  // namespace
}  // namespace lockstep::dimabsa
