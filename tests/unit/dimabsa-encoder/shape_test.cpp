// config.json of model folders, good and bad.
#include "recipes/dimabsa/options/encoder_shape.h"

#include "core/base/error.h"
#include "unit/dimabsa-encoder/tiny.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace lockstep::dimabsa {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

// What the folders of these models say, without keys that nothing here depends on.
json bert_base() {
  return {{"model_type", "bert"},
          {"vocab_size", 30522},
          {"hidden_size", 768},
          {"num_hidden_layers", 12},
          {"num_attention_heads", 12},
          {"intermediate_size", 3072},
          {"max_position_embeddings", 512},
          {"type_vocab_size", 2},
          {"hidden_act", "gelu"},
          {"layer_norm_eps", 1e-12},
          {"hidden_dropout_prob", 0.1},
          {"attention_probs_dropout_prob", 0.1},
          {"pad_token_id", 0}};
}

json xlm_r_base() {
  json config = bert_base();
  config["model_type"] = "xlm-roberta";
  config["vocab_size"] = 250002;
  config["max_position_embeddings"] = 514;
  config["type_vocab_size"] = 1;
  config["layer_norm_eps"] = 1e-5;
  config["pad_token_id"] = 1;
  return config;
}

json deberta_v3_base() {
  json config = bert_base();
  config["model_type"] = "deberta-v2";
  config["vocab_size"] = 128100;
  config["type_vocab_size"] = 0;
  config["layer_norm_eps"] = 1e-7;
  config["relative_attention"] = true;
  config["position_biased_input"] = false;
  config["pos_att_type"] = "p2c|c2p";
  config["position_buckets"] = 256;
  config["max_relative_positions"] = -1;
  config["norm_rel_ebd"] = "layer_norm";
  config["share_att_key"] = true;
  return config;
}

std::string refusal(const json& config) {
  try {
    read_shape(config, "config.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was refused";
}

json with(json config, const char* key, const json& value) {
  config[key] = value;
  return config;
}

json without(json config, const char* key) {
  config.erase(key);
  return config;
}

TEST(EncoderShape, ReadsBert) {
  const EncoderShape shape = read_shape(bert_base(), "config.json");
  EXPECT_EQ(shape.family, EncoderFamily::bert);
  EXPECT_EQ(shape.vocabulary, 30522);
  EXPECT_EQ(shape.width, 768);
  EXPECT_EQ(shape.layers, 12);
  EXPECT_EQ(shape.heads, 12);
  EXPECT_EQ(shape.feed_forward, 3072);
  EXPECT_EQ(shape.longest(), 512);
  EXPECT_EQ(shape.segments, 2);
  EXPECT_EQ(shape.norm_epsilon, 1e-12);
  EXPECT_EQ(shape.dropout, 0.1);
  EXPECT_EQ(shape.attention_dropout, 0);
  EXPECT_FALSE(shape.gelu_tanh);
}

TEST(EncoderShape, ReadsXlmRWhosePositionsBeginBehindThePadding) {
  const EncoderShape shape = read_shape(xlm_r_base(), "config.json");
  EXPECT_EQ(shape.family, EncoderFamily::xlm_roberta);
  EXPECT_EQ(shape.first_position, 2);
  EXPECT_EQ(shape.longest(), 512);
  EXPECT_EQ(shape.segments, 1);
  EXPECT_EQ(shape.norm_epsilon, 1e-5);
}

TEST(EncoderShape, ReadsDebertaV3) {
  const EncoderShape shape = read_shape(deberta_v3_base(), "config.json");
  EXPECT_EQ(shape.family, EncoderFamily::deberta_v2);
  EXPECT_EQ(shape.segments, 0);
  EXPECT_EQ(shape.position_buckets, 256);
  EXPECT_EQ(shape.max_relative_positions, 512);
  EXPECT_TRUE(shape.share_attention_key);
  EXPECT_TRUE(shape.norm_relative_embeddings);
  EXPECT_EQ(shape.distances(), 256);
  const json list = with(deberta_v3_base(), "pos_att_type", {"c2p", "p2c"});
  EXPECT_EQ(read_shape(list, "config.json").distances(), 256);
}

TEST(EncoderShape, CountsTheParametersOfKnownModels) {
  EXPECT_EQ(parameter_count(read_shape(bert_base(), "")), 109'482'240 - 590'592);  // no pooler
  EXPECT_EQ(parameter_count(read_shape(xlm_r_base(), "")), 278'043'648 - 590'592);
  EXPECT_EQ(parameter_count(read_shape(deberta_v3_base(), "")), 183'831'552);
}

TEST(EncoderShape, TakesWhatOldFilesLeaveOut) {
  json config = bert_base();
  for (const char* key : {"type_vocab_size", "hidden_act", "layer_norm_eps", "hidden_dropout_prob",
                          "attention_probs_dropout_prob", "pad_token_id"})
    config.erase(key);
  const EncoderShape shape = read_shape(config, "config.json");
  EXPECT_EQ(shape.segments, 2);
  EXPECT_EQ(shape.norm_epsilon, 1e-12);
  EXPECT_EQ(shape.dropout, 0.1);
}

TEST(EncoderShape, KnowsBothGelus) {
  for (const char* name : {"gelu_new", "gelu_pytorch_tanh"})
    EXPECT_TRUE(read_shape(with(bert_base(), "hidden_act", name), "").gelu_tanh) << name;
  EXPECT_THAT(
      refusal(with(bert_base(), "hidden_act", "relu")),
      HasSubstr("hidden_act must be \"gelu\", \"gelu_new\" or \"gelu_pytorch_tanh\", but is "
                "\"relu\""));
}

TEST(EncoderShape, RefusesOtherFamiliesByName) {
  EXPECT_THAT(refusal(with(bert_base(), "model_type", "gpt2")),
              HasSubstr("config.json: model_type must be one of \"bert\", \"xlm-roberta\", "
                        "\"deberta-v2\", but is \"gpt2\""));
  EXPECT_THAT(refusal(without(bert_base(), "model_type")), HasSubstr("but is missing"));
  EXPECT_THAT(refusal(json::array()), HasSubstr("config.json must be a JSON object"));
}

TEST(EncoderShape, RefusesSizesThatCannotBe) {
  for (const char* key : {"vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads",
                          "intermediate_size", "max_position_embeddings"}) {
    EXPECT_THAT(refusal(without(bert_base(), key)), HasSubstr(key));
    for (const json& bad : {json(0), json(-3), json(1.5), json("12"), json(1e300), json(true),
                            json(std::uint64_t{1} << 63)})
      EXPECT_THAT(refusal(with(bert_base(), key, bad)), HasSubstr(key)) << bad;
  }
  EXPECT_THAT(refusal(with(bert_base(), "vocab_size", json::array({1, 2}))),
              HasSubstr("vocab_size must be a whole number from 1 to 16777216, but is a list"));
  EXPECT_THAT(refusal(with(bert_base(), "num_attention_heads", 7)),
              HasSubstr("hidden_size must be a multiple of num_attention_heads, 7, but is 768"));
  EXPECT_THAT(refusal(with(bert_base(), "hidden_dropout_prob", 1)),
              HasSubstr("hidden_dropout_prob"));
  EXPECT_THAT(refusal(with(xlm_r_base(), "max_position_embeddings", 2)),
              HasSubstr("max_position_embeddings must be more than 2"));
}

TEST(EncoderShape, RefusesFormsThatItDoesNotCompute) {
  EXPECT_THAT(refusal(with(bert_base(), "position_embedding_type", "relative_key")),
              HasSubstr("position_embedding_type"));
  EXPECT_THAT(refusal(with(bert_base(), "is_decoder", true)), HasSubstr("is_decoder"));
  EXPECT_THAT(refusal(with(deberta_v3_base(), "relative_attention", false)),
              HasSubstr("relative_attention"));
  EXPECT_THAT(refusal(with(deberta_v3_base(), "position_biased_input", true)),
              HasSubstr("position_biased_input"));
  EXPECT_THAT(refusal(with(deberta_v3_base(), "pos_att_type", "c2p")), HasSubstr("pos_att_type"));
  EXPECT_THAT(refusal(with(deberta_v3_base(), "conv_kernel_size", 3)),
              HasSubstr("conv_kernel_size"));
  EXPECT_THAT(refusal(with(deberta_v3_base(), "attention_head_size", 32)),
              HasSubstr("attention_head_size"));
  EXPECT_THAT(refusal(with(deberta_v3_base(), "embedding_size", 128)), HasSubstr("embedding_size"));
  EXPECT_THAT(refusal(with(deberta_v3_base(), "position_buckets", 7)),
              HasSubstr("position_buckets"));
}

TEST(EncoderShape, NamesTheFolderThatHasNoConfig) {
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) / "encoder-shape-test";
  std::filesystem::create_directories(folder);
  std::filesystem::remove(folder / "config.json");
  try {
    read_shape(folder);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr(folder.string() + " has no config.json"));
  }
  std::ofstream(folder / "config.json") << "{";
  EXPECT_THROW(read_shape(folder), Error);
  std::ofstream(folder / "config.json") << bert_base();
  EXPECT_EQ(read_shape(folder).width, 768);
}

}  // namespace
}  // namespace lockstep::dimabsa
