// tokenizer.json with a Unigram model.
#include "recipes/dimabsa/tokens/unigram_json.h"

#include <nlohmann/json.hpp>

#include "base/base64.h"
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

TEST_F(UnigramJson, RefusesPartsThatSentencepieceDoesNotHave) {
  json file = unigram_description();
  file["normalizer"] = {{"type", "NFC"}};
  EXPECT_THAT(error(file), AllOf(HasSubstr("normalizer of type Precompiled, but has NFC"),
                                 HasSubstr("spm.model")));
  file["normalizer"] = {{"type", "Precompiled"}, {"precompiled_charsmap", "?"}};
  EXPECT_THAT(error(file), HasSubstr("without its table"));
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
