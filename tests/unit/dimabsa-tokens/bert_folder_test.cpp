// Folders with a WordPiece tokenizer, good and bad.
#include "recipes/dimabsa/tokens/bert_folder.h"

#include "fakes/error_of.h"
#include "tokens_test.h"

namespace lockstep::dimabsa {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* small_vocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\ncafe\ncafé\n東\n##京\n";

// As `tokenizers` writes it, with the parts that count here.
nlohmann::json description() {
  return {{"model",
           {{"type", "WordPiece"},
            {"unk_token", "[UNK]"},
            {"vocab", {{"[PAD]", 0}, {"[UNK]", 1}, {"[CLS]", 2}, {"[SEP]", 3}, {"Cafe", 4}}}}},
          {"normalizer", {{"type", "BertNormalizer"}, {"lowercase", false}}},
          {"pre_tokenizer", {{"type", "BertPreTokenizer"}}}};
}

class BertFolder : public TokensTest {
 protected:
  std::string error() const {
    return error_of([&] { open(); });
  }
};

TEST_F(BertFolder, IsUncasedWhereNothingSaysOtherwise) {
  put("vocab.txt", small_vocabulary);
  EXPECT_THAT(ids(*open(), "CAFÉ"), ElementsAre(4));
}

TEST_F(BertFolder, IsCasedWhereTheVocabularyHasCapitals) {
  put("vocab.txt", std::string(small_vocabulary) + "Cafe\n");
  EXPECT_THAT(ids(*open(), "Cafe cafe"), ElementsAre(8, 4));
  put("vocab.txt", std::string(small_vocabulary) + "[NEW]\n<NEW>\n");  // special tokens are none
  EXPECT_THAT(ids(*open(), "CAFE"), ElementsAre(4));
}

TEST_F(BertFolder, TheConfigurationDecides) {
  put("vocab.txt", std::string(small_vocabulary) + "Cafe\n");
  put("tokenizer_config.json", R"({"do_lower_case": true, "strip_accents": false})");
  EXPECT_THAT(ids(*open(), "Cafe CAFÉ"), ElementsAre(4, 5));
  put("tokenizer_config.json", R"({"do_lower_case": true, "strip_accents": null})");
  EXPECT_THAT(ids(*open(), "Cafe CAFÉ"), ElementsAre(4, 4));
  put("tokenizer_config.json", R"({"do_lower_case": false, "tokenize_chinese_chars": false})");
  EXPECT_THAT(ids(*open(), "Cafe 東京"), ElementsAre(8, 6, 7));
  put("tokenizer_config.json", R"({"do_lower_case": "yes"})");
  EXPECT_THAT(error(),
              AllOf(HasSubstr("tokenizer_config.json: do_lower_case must be true or false"),
                    HasSubstr("yes")));
}

TEST_F(BertFolder, LinesMayEndAsInWindows) {
  put("vocab.txt", "[PAD]\r\n[UNK]\r\n[CLS]\r\n[SEP]\r\nx");
  EXPECT_THAT(ids(*open(), "x"), ElementsAre(4));
  EXPECT_EQ(open()->vocabulary(), 5);
}

TEST_F(BertFolder, TokensMayHaveOtherNames) {
  put("vocab.txt", "<pad>\n<unk>\n<s>\n</s>\nx\n");
  EXPECT_THAT(error(), AllOf(HasSubstr("vocab.txt has no [CLS]"), HasSubstr("cls_token")));
  put("tokenizer_config.json", R"({"cls_token": "<s>", "sep_token": {"content": "</s>"},
                                   "pad_token": "<pad>", "unk_token": "<unk>"})");
  EXPECT_EQ(open()->sep(), 3);
  EXPECT_THAT(ids(*open(), "x</s>y"), ElementsAre(4, 3, 1));
}

TEST_F(BertFolder, OldFoldersNameTokensInAMapOfTheirOwn) {
  put("vocab.txt", "[PAD]\n[UNK]\n<s>\n[SEP]\nx\n");
  put("special_tokens_map.json", R"({"cls_token": "<s>"})");
  EXPECT_EQ(open()->cls(), 2);
}

TEST_F(BertFolder, AddedTokensCount) {
  put("vocab.txt", small_vocabulary);
  put("added_tokens.json", R"({"<aspect>": 8})");
  put("tokenizer_config.json",
      R"({"added_tokens_decoder": {"9": {"content": "<o>", "special": true}}})");
  EXPECT_THAT(ids(*open(), "<aspect>cafe<o>"), ElementsAre(8, 4, 9));
  EXPECT_EQ(open()->vocabulary(), 10);
}

TEST_F(BertFolder, TokenizerJsonAloneIsEnough) {
  put("tokenizer.json", description().dump());
  EXPECT_THAT(ids(*open(), "Cafe cafe"), ElementsAre(4, 1));
  EXPECT_EQ(open()->vocabulary(), 5);
}

TEST_F(BertFolder, TokenizerJsonSaysPrefixAndLongestWord) {
  auto file = description();
  file["model"]["continuing_subword_prefix"] = "@";
  file["model"]["max_input_chars_per_word"] = 5;
  file["model"]["vocab"]["@s"] = 5;
  put("tokenizer.json", file.dump());
  EXPECT_THAT(ids(*open(), "Cafes Cafess"), ElementsAre(4, 5, 1));
}

TEST_F(BertFolder, RefusesATokenizerOfAnotherKind) {
  auto file = description();
  file["model"]["type"] = "BPE";
  put("tokenizer.json", file.dump());
  EXPECT_THAT(error(),
              HasSubstr("tokenizer.json must have a model of type WordPiece, but has BPE"));
  file = description();
  file["normalizer"] = {{"type", "Nmt"}};
  put("tokenizer.json", file.dump());
  EXPECT_THAT(error(), AllOf(HasSubstr("tokenizer.json: its normalizer is of type Nmt"),
                             HasSubstr("without changing its normalizer")));
  file["normalizer"] = {{"type", "Replace"}, {"pattern", {{"Regex", "a|b"}}}, {"content", ""}};
  put("tokenizer.json", file.dump());
  EXPECT_THAT(error(), HasSubstr(R"(its normalizer replaces {"Regex":"a|b"})"));
  file = description();
  for (const char* const kind : {"Digits", "Metaspace"}) {
    file["pre_tokenizer"]["type"] = kind;
    put("tokenizer.json", file.dump());
    EXPECT_THAT(error(), HasSubstr(kind));
  }
}

// A folder of transformers 4 into which transformers 5 saved, which writes no vocab.txt.
TEST_F(BertFolder, TokenizerJsonCountsBeforeAVocabularyThatStayedBehind) {
  put("vocab.txt", small_vocabulary);
  auto file = description();
  file["added_tokens"] = {{{"id", 5}, {"content", "[ASP]"}, {"special", true}},
                          {{"id", 6}, {"content", "supercali"}, {"normalized", true}}};
  put("tokenizer.json", file.dump());
  EXPECT_THAT(ids(*open(), "Cafe[ASP] cafe supercali"), ElementsAre(4, 5, 1, 6));
  EXPECT_EQ(open()->vocabulary(), 7);
}

TEST_F(BertFolder, TakesNormalizersAndWordsOfOtherTokenizers) {
  auto file = description();
  file["normalizer"] = {
      {"type", "Sequence"},
      {"normalizers", {{{"type", "NFD"}}, {{"type", "Lowercase"}}, {{"type", "StripAccents"}}}}};
  file["model"]["vocab"] = {{"[PAD]", 0},     {"[UNK]", 1}, {"[CLS]", 2}, {"[SEP]", 3}, {"cafe", 4},
                            {"caf\u00e9", 5}, {"!", 6},     {"cafe!", 7}, {"!!", 8},    {"2", 9}};
  put("tokenizer.json", file.dump());
  EXPECT_THAT(ids(*open(), "CAFÉ!cafe\u0301"), ElementsAre(4, 6, 4));
  EXPECT_THAT(places(*open(), "CAFÉ!"), ElementsAre("CAFÉ", "!"));
  // A rule of tokenizer_config.json is one of a BertNormalizer, as in transformers 4.
  put("tokenizer_config.json", R"({"do_lower_case": false})");
  EXPECT_THAT(ids(*open(), "CAFÉ!"), ElementsAre(4, 6));
  // transformers 5 takes the pieces alone.
  put("tokenizer_config.json",
      R"({"backend": "tokenizers", "tokenizer_class": "BertTokenizer", "do_lower_case": false})");
  EXPECT_THAT(ids(*open(), "CAFÉ! café"), ElementsAre(1, 6, 5));
  std::filesystem::remove(folder() / "tokenizer_config.json");
  file["normalizer"] = {{"type", "Sequence"},
                        {"normalizers", {{{"type", "NFKC"}}, {{"type", "Lowercase"}}}}};
  file["pre_tokenizer"] = {
      {"type", "Sequence"},
      {"pretokenizers", {{{"type", "WhitespaceSplit"}}, {{"type", "Punctuation"}}}}};
  put("tokenizer.json", file.dump());
  EXPECT_THAT(ids(*open(), "Cafe\u0301!! \u00b2"), ElementsAre(5, 6, 6, 9));
  EXPECT_THAT(places(*open(), "Cafe\u0301!"), ElementsAre("Cafe\u0301", "!"));
  file["pre_tokenizer"] = {{"type", "Whitespace"}};
  put("tokenizer.json", file.dump());
  EXPECT_THAT(ids(*open(), "cafe!!"), ElementsAre(4, 8));
  EXPECT_THAT(ids(*open(), "cafe\u24e3!"), ElementsAre(1, 6)) << "a letter in a circle";
  file["pre_tokenizer"] = {{"type", "WhitespaceSplit"}};
  file["normalizer"] = nullptr;
  put("tokenizer.json", file.dump());
  EXPECT_THAT(ids(*open(), "cafe! CAFE"), ElementsAre(7, 1));
}

TEST_F(BertFolder, RefusesATokenizerJsonWithoutSenseInItsIds) {
  auto file = description();
  file["model"]["vocab"]["x"] = 4;
  put("tokenizer.json", file.dump());
  EXPECT_THAT(error(), AllOf(HasSubstr("'Cafe'"), HasSubstr("the same id, 4")));
  file["model"]["vocab"]["x"] = -1;
  put("tokenizer.json", file.dump());
  EXPECT_THAT(error(), HasSubstr("the id of 'x' must be a whole number"));
  file["model"]["vocab"] = 3;
  put("tokenizer.json", file.dump());
  EXPECT_THAT(error(), HasSubstr("has no model.vocab"));
  put("tokenizer.json", "{\"model\"");
  EXPECT_THAT(error(), HasSubstr("tokenizer.json is not a JSON object"));
}

TEST_F(BertFolder, RefusesAVocabularyThatIsNone) {
  EXPECT_THAT(error(), AllOf(HasSubstr("has no tokenizer"), HasSubstr("vocab.txt"),
                             HasSubstr("sentencepiece.bpe.model")));
  put("vocab.txt", "");
  EXPECT_THAT(error(), HasSubstr("vocab.txt is empty"));
  put("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\nx\ny\nx\n");
  EXPECT_THAT(error(), HasSubstr("has 'x' twice, as piece 4 and 6"));
  put("vocab.txt", "[PAD]\n\xff\xfe\n");
  EXPECT_THAT(error(), HasSubstr("line 2 is not UTF-8"));
  put("vocab.txt", "[PAD]\n[CLS]\n[SEP]\nx\n");
  EXPECT_THAT(error(), AllOf(HasSubstr("has no [UNK]"), HasSubstr("unk_token")));
}

TEST_F(BertFolder, RefusesWordsOfADictionary) {
  put("vocab.txt", small_vocabulary);
  put("tokenizer_config.json", R"({"word_tokenizer_type": "basic"})");
  EXPECT_EQ(open()->cls(), 2);
  put("tokenizer_config.json", R"({"word_tokenizer_type": "mecab"})");
  EXPECT_THAT(error(), HasSubstr("word_tokenizer_type must be basic, but is mecab"));
}

TEST_F(BertFolder, RefusesAFolderThatIsNotThere) {
  EXPECT_THAT(error_of([&] { open_tokenizer(folder() / "none"); }), HasSubstr("is not a folder"));
}

}  // namespace
}  // namespace lockstep::dimabsa
