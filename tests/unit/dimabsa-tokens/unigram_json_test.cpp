// tokenizer.json with a Unigram model.
#include "recipes/dimabsa/tokens/sentence_piece/unigram_json.h"

#include <nlohmann/json.hpp>

#include "core/base/text/base64.h"
#include "fakes/error_of.h"
#include "tokens_test.h"

namespace lockstep::dimabsa {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A table for sentencepiece that replaces nothing: a trie of one empty block, and no texts.
std::string no_replacements() {
  std::string table("\0\4\0\0", 4);
  table.resize(4 + 1024);
  return to_base64(table);
}

json unigram_description() {
  json added = json::array(), pieces = json::array();
  for (const char* token : {"<s>", "<pad>", "</s>", "<unk>", "<mask>"}) {
    added.push_back({{"id", added.size()}, {"content", token}, {"special", true}});
    pieces.push_back(json::array({token, 0.0}));
  }
  const std::pair<const char*, double> scores[] = {
      {"\u2581good", -2.0}, {"\u2581", -3.0}, {"food", -2.5}, {"s", -4.0}};
  for (const auto& [piece, score] : scores) pieces.push_back(json::array({piece, score}));
  const json table = {{"type", "Precompiled"}, {"precompiled_charsmap", no_replacements()}};
  return {{"added_tokens", added},
          {"normalizer",
           {{"type", "Sequence"}, {"normalizers", json::array({{{"type", "Strip"}}, table})}}},
          {"pre_tokenizer",
           {{"type", "Metaspace"}, {"replacement", "\u2581"}, {"prepend_scheme", "always"}}},
          {"model", {{"type", "Unigram"}, {"unk_id", 3}, {"vocab", pieces}}}};
}

class UnigramJson : public TokensTest {
 protected:
  std::string error(const json& file) const {
    put("tokenizer.json", file.dump());
    return error_of([&] { open(); });
  }
};

TEST_F(UnigramJson, HasTheIdsOfTheFile) {
  put("tokenizer.json", unigram_description().dump());
  const auto tokenizer = open();
  EXPECT_THAT(ids(*tokenizer, "good foods</s>"), ElementsAre(5, 6, 7, 8, 2));
  EXPECT_THAT(places(*tokenizer, "good foods"), ElementsAre("good", "f", "food", "s"));
  EXPECT_EQ(tokenizer->vocabulary(), 9);
  EXPECT_EQ(tokenizer->cls(), 0);
  EXPECT_EQ(tokenizer->pad(), 1);
  EXPECT_EQ(tokenizer->sep(), 2);
  EXPECT_EQ(tokenizer->unknown(), 3);
}

TEST_F(UnigramJson, SpecialTokensHaveTheNamesOfTheConfiguration) {
  put("tokenizer.json", unigram_description().dump());
  put("tokenizer_config.json", R"({"sep_token": {"content": "<mask>"}})");
  EXPECT_EQ(open()->sep(), 4);
  put("tokenizer_config.json", R"({"cls_token": "[CLS]"})");
  EXPECT_THAT(error(unigram_description()), HasSubstr("tokenizer.json has no [CLS]"));
}

// What transformers 5 writes of DeBERTa-v3.
TEST_F(UnigramJson, TakesTheRulesOfTheFile) {
  json file = unigram_description();
  file["normalizer"] = {
      {"type", "Sequence"},
      {"normalizers",
       json::array({{{"type", "Replace"},
                     {"pattern", {{"Regex", "\\s{2,}|[\\n\\r\\t]"}}},
                     {"content", " "}},
                    {{"type", "NFC"}},
                    {{"type", "Strip"}, {"strip_left", false}, {"strip_right", true}}})}};
  file["model"]["vocab"].push_back(json::array({"\u2581\u00e9", -1.0}));
  put("tokenizer.json", file.dump());
  EXPECT_THAT(ids(*open(), "good\t\n foods e\u0301 "), ElementsAre(5, 6, 7, 8, 9));
  EXPECT_THAT(places(*open(), "good\t\n foods e\u0301 "),
              ElementsAre("good", "f", "food", "s", "e\u0301"));
  EXPECT_THAT(ids(*open(), " good"), ElementsAre(5)) << "no second mark of a space";
  file["pre_tokenizer"]["prepend_scheme"] = "never";
  put("tokenizer.json", file.dump());
  EXPECT_THAT(ids(*open(), "food good"), ElementsAre(7, 5));
  file["pre_tokenizer"]["prepend_scheme"] = "first";
  put("tokenizer.json", file.dump());
  EXPECT_THAT(ids(*open(), "good</s>food"), ElementsAre(5, 2, 7));
}

TEST_F(UnigramJson, CountsBeforeASentencepieceModelThatStayedBehind) {
  put("spm.model", "older");
  json file = unigram_description();
  file["added_tokens"].push_back({{"id", 9}, {"content", "[ASP]"}, {"normalized", true}});
  put("tokenizer.json", file.dump());
  EXPECT_THAT(ids(*open(), "good[ASP] food"), ElementsAre(5, 9, 6, 7));
}

TEST_F(UnigramJson, RefusesPartsThatAreNotKnown) {
  json file = unigram_description();
  file["normalizer"] = {{"type", "Nmt"}};
  EXPECT_THAT(error(file), HasSubstr("tokenizer.json: its normalizer is of type Nmt"));
  file["normalizer"] = {{"type", "Precompiled"}, {"precompiled_charsmap", "?"}};
  EXPECT_THAT(error(file), HasSubstr("without its table"));
  file["normalizer"]["precompiled_charsmap"] = to_base64("12345678");
  EXPECT_THAT(error(file), HasSubstr("the table of its Precompiled normalizer is damaged"));
  file = unigram_description();
  file["pre_tokenizer"] = {{"type", "ByteLevel"}};
  EXPECT_THAT(error(file), HasSubstr("its pre_tokenizer is of type ByteLevel"));
  file["pre_tokenizer"] = {{"type", "Punctuation"}, {"behavior", "Removed"}};
  EXPECT_THAT(error(file), HasSubstr("whose behavior is not Isolated"));
  file = unigram_description();
  file["model"]["byte_fallback"] = true;
  EXPECT_THAT(error(file), AllOf(HasSubstr("byte_fallback"), HasSubstr("spm.model")));
  file = unigram_description();
  file["model"]["unk_id"] = nullptr;
  EXPECT_THAT(error(file), HasSubstr("no model.vocab with its model.unk_id"));
  file = unigram_description();
  file["model"]["vocab"][5] = "good";
  EXPECT_THAT(error(file), HasSubstr("\"good\" is not a piece with its score"));
  file = unigram_description();
  file["model"]["vocab"][5][0] = "food";
  EXPECT_THAT(error(file), HasSubstr("is not a sentencepiece model"));
}

}  // namespace
}  // namespace lockstep::dimabsa
