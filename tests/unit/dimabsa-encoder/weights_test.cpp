// Names, sizes and first values of parameters, and the names that files have for them.
#include "core/base/error.h"
#include "core/base/text/glob.h"
#include "training/checkpoint/first_weights.h"
#include "unit/dimabsa-encoder/tiny.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace lockstep::dimabsa {
namespace {

std::set<std::string> names_of(const EncoderShape& shape) {
  std::set<std::string> names;
  for (const Parameter& parameter : make_encoder(shape, 1)->parameters())
    names.insert(parameter.name);
  return names;
}

// By the patterns alone, as init.from goes by them.
std::string own_name(const EncoderShape& shape, const std::string& theirs) {
  const std::set<std::string> names = names_of(shape);
  for (const auto& [from, to] : encoder_weight_names(shape))
    if (const auto renamed = glob_renamed(from, to, theirs))
      if (renamed->starts_with("encoder.") && names.contains(renamed->substr(8))) return *renamed;
  return "";
}

TEST(EncoderWeights, AreAsManyAsTheShapeSays) {
  for (const EncoderShape& shape : all_tiny()) {
    std::int64_t sum = 0;
    for (const Parameter& parameter : make_encoder(shape, 1)->parameters())
      sum += parameter.tensor.numel();
    EXPECT_EQ(sum, parameter_count(shape)) << family_name(shape);
  }
}

TEST(EncoderWeights, OfBertBaseHaveItsNamesAndShapes) {
  EncoderShape shape;
  shape.vocabulary = 100;  // only the words' table depends on it
  shape.layers = 2;        // all are alike
  std::map<std::string, std::vector<std::int64_t>> shapes;
  for (const Parameter& parameter : make_encoder(shape, 1)->parameters())
    shapes[parameter.name] = parameter.tensor.sizes().vec();
  EXPECT_EQ(shapes.size(), 5 + 2 * 16);
  using Sizes = std::vector<std::int64_t>;
  EXPECT_EQ(shapes["embeddings.word_embeddings.weight"], (Sizes{100, 768}));
  EXPECT_EQ(shapes["embeddings.position_embeddings.weight"], (Sizes{512, 768}));
  EXPECT_EQ(shapes["embeddings.token_type_embeddings.weight"], (Sizes{2, 768}));
  EXPECT_EQ(shapes["embeddings.LayerNorm.bias"], (Sizes{768}));
  const std::string layer = "encoder.layer.1.";
  for (const char* part : {"query", "key", "value"})
    EXPECT_EQ(shapes[layer + "attention.self." + part + ".weight"], (Sizes{768, 768})) << part;
  EXPECT_EQ(shapes[layer + "attention.output.dense.bias"], (Sizes{768}));
  EXPECT_EQ(shapes[layer + "intermediate.dense.weight"], (Sizes{3072, 768}));
  EXPECT_EQ(shapes[layer + "output.dense.weight"], (Sizes{768, 3072}));
  EXPECT_EQ(shapes[layer + "output.LayerNorm.weight"], (Sizes{768}));
}

TEST(EncoderWeights, OfDebertaHaveItsNames) {
  const std::set<std::string> names = names_of(tiny_deberta());
  for (const char* name : {"encoder.rel_embeddings.weight", "encoder.LayerNorm.bias",
                           "encoder.layer.1.attention.self.query_proj.weight"})
    EXPECT_TRUE(names.contains(name)) << name;
  EXPECT_FALSE(names.contains("embeddings.position_embeddings.weight"));
  const std::set<std::string> plain = names_of(plain_deberta());
  EXPECT_TRUE(plain.contains("encoder.layer.0.attention.self.pos_key_proj.bias"));
  EXPECT_FALSE(plain.contains("encoder.LayerNorm.bias"));
}

TEST(EncoderWeights, DecayIsOfMatricesAlone) {
  for (const EncoderShape& shape : all_tiny())
    for (const Parameter& parameter : make_encoder(shape, 1)->parameters())
      EXPECT_EQ(parameter.decay, parameter.tensor.dim() >= 2) << parameter.name;
}

TEST(EncoderWeights, BeginNormalAndAreTheSameForTheSameSeed) {
  EncoderShape shape = tiny_bert();
  shape.width = 64;
  const auto one = make_encoder(shape, 1), same = make_encoder(shape, 1),
             other = make_encoder(shape, 2);
  for (std::size_t i = 0; i < one->parameters().size(); ++i) {
    const at::Tensor values = one->parameters()[i].tensor.detach();
    const std::string& name = one->parameters()[i].name;
    EXPECT_TRUE(values.equal(same->parameters()[i].tensor)) << name;
    if (values.dim() == 1) {
      EXPECT_TRUE(values.eq(name.ends_with("Norm.weight") ? 1 : 0).all().item<bool>()) << name;
      continue;
    }
    EXPECT_FALSE(values.equal(other->parameters()[i].tensor)) << name;
    EXPECT_NEAR(values.mean().item<double>(), 0, 0.02 * 6 / std::sqrt(values.numel())) << name;
    EXPECT_NEAR(values.std().item<double>(), 0.02, 0.02 * 5 / std::sqrt(values.numel())) << name;
  }
}

TEST(EncoderWeightNames, LeadFromEveryFormOfFileToTheModel) {
  const EncoderShape shape = tiny_bert();
  for (const std::string& front : {"bert.", ""})
    for (const std::string& name : names_of(shape))
      EXPECT_EQ(own_name(shape, front + name), "encoder." + name);
  EXPECT_EQ(own_name(shape, "bert.embeddings.LayerNorm.gamma"),
            "encoder.embeddings.LayerNorm.weight");
  EXPECT_EQ(own_name(shape, "encoder.layer.1.output.LayerNorm.beta"),
            "encoder.encoder.layer.1.output.LayerNorm.bias");
  EXPECT_EQ(own_name(tiny_xlm_roberta(), "roberta.embeddings.word_embeddings.weight"),
            "encoder.embeddings.word_embeddings.weight");
  EXPECT_EQ(own_name(tiny_deberta(), "deberta.encoder.rel_embeddings.weight"),
            "encoder.encoder.rel_embeddings.weight");
}

TEST(EncoderWeightNames, IgnoreNothingThatAnEncoderHas) {
  for (const EncoderShape& shape : all_tiny()) {
    const std::vector<std::string> ignored = ignored_weights(shape);
    for (const std::string& front : {"", "bert.", "roberta.", "deberta.", "encoder."})
      for (const std::string& name : names_of(shape))
        EXPECT_FALSE(any_matches(ignored, front + name)) << front << name;
    for (const char* name :
         {"bert.pooler.dense.weight", "pooler.dense.bias", "cls.predictions.bias",
          "cls.seq_relationship.weight", "bert.embeddings.position_ids", "lm_head.dense.weight",
          "embeddings.position_ids", "classifier.weight", "deberta.embeddings.position_ids",
          "lm_predictions.lm_head.bias", "mask_predictions.dense.weight"})
      EXPECT_TRUE(any_matches(ignored, name)) << name;
  }
}

TEST(EncoderWeightNames, AnotherVocabularyAndMissingTensorsAreNamedAtOnce) {
  const EncoderShape shape = tiny_bert();
  std::vector<ModelTensor> model;
  std::vector<SourceTensor> source;
  for (const Parameter& parameter : make_encoder(shape, 1)->parameters()) {
    model.push_back({.names = {"encoder." + parameter.name}, .tensor = parameter.tensor});
    SourceTensor tensor;
    tensor.stored.name = "bert." + parameter.name;
    tensor.stored.dtype = "F32";
    tensor.stored.shape = parameter.tensor.sizes().vec();
    if (parameter.name == "embeddings.word_embeddings.weight") tensor.stored.shape[0] = 99;
    if (parameter.name != "encoder.layer.1.output.dense.bias") source.push_back(tensor);
  }
  SourceTensor pooler = source[2];
  pooler.stored.name = "bert.pooler.dense.weight";
  source.push_back(pooler);
  TrainOptions options;
  options.init.unexpected = ignored_weights(shape);
  try {
    match_weights(model, source, options, encoder_weight_names(shape), "a folder");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(),
                ::testing::AllOf(::testing::HasSubstr("encoder.embeddings.word_embeddings.weight "
                                                      "[99, 8], in the model [31, 8]"),
                                 ::testing::HasSubstr("encoder.encoder.layer.1.output.dense.bias"),
                                 ::testing::Not(::testing::HasSubstr("pooler"))));
  }
}

}  // namespace
}  // namespace lockstep::dimabsa
