// The recipe as the engine uses it: weights, losses, records, metrics and predictions.
#include "recipes/textgen/model/recipe.h"

#include "recipes/textgen/model/loss.h"
#include "recipes/textgen/options/token_pieces.h"
#include "tests/unit/textgen-model/temporary_tokens.h"
#include "tests/unit/textgen-model/tiny.h"
#include "training/contract/contract_check.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include <cmath>

namespace lockstep::textgen {
namespace {

// A tiny model on 60 training and 30 validation tokens of a vocabulary of 11.
class TextRecipeTest : public ::testing::Test {
 protected:
  TextRecipeTest() {
    options.model = {.layers = 2,
                     .width = 8,
                     .heads = 2,
                     .feed_forward = 12,
                     .context = 6,
                     .vocab = 11,
                     .bias = true,
                     .init_std = 0.4};
    write("train.tok", 60, 5);
    write("valid.tok", 30, 3);
    write_tokens(folder.path() / "bytes.bin", {0, 1, 1, 1, 2, 2, 2, 3, 3, 4});
    prepared.extra = {{"synthetic", false},         {"vocab", 11},
                      {"tokenizer_vocab", 10},      {"train", path("train.tok")},
                      {"valid", path("valid.tok")}, {"train_tokens", 60},
                      {"valid_tokens", 30},         {"bytes", path("bytes.bin")},
                      {"pair_bits_per_byte", 3.25}};
  }

  std::string path(const std::string& name) const { return (folder.path() / name).string(); }
  void write(const std::string& name, int count, int step) const {
    std::vector<std::uint16_t> tokens;
    for (int i = 0; i < count; ++i) tokens.push_back(static_cast<std::uint16_t>(i * i * step % 10));
    write_tokens(folder.path() / name, tokens);
  }
  // Rows of a data set; -1 is padding.
  Batch batch_of(const Dataset& data, const std::vector<std::int64_t>& rows) const {
    std::vector<std::vector<at::Tensor>> samples;
    std::vector<float> weights;
    for (const std::int64_t row : rows) {
      SampleContext context{.seed = 1,
                            .training = false,
                            .padding = row < 0,
                            .random = Random(1, RandomStream::augment, 0, 0)};
      samples.push_back(data.get(row < 0 ? 0 : row, context));
      weights.push_back(row < 0 ? 0.0F : 1.0F);
    }
    return {.tensors = data.collate(samples), .row_weight = at::tensor(weights)};
  }

  TemporaryDirectory folder;
  TextOptions options;
  Prepared prepared;
};

double loss_sum(TextRecipe& recipe, Model& model, const Batch& batch) {
  StepContext context;
  return recipe.loss(model, batch, context).at(0).item<double>();
}

TEST_F(TextRecipeTest, IsMadeByItsRegisteredFactory) {
  const auto recipe = find_recipe_factory("textgen")(options, prepared);
  EXPECT_EQ(recipe->terms(), std::vector<std::string>{"loss"});
  const auto model = recipe->build(1);
  std::int64_t count = 0;
  for (const Parameter& p : model->parameters()) count += p.tensor.numel();
  EXPECT_EQ(count, options.parameter_count(10));
}

TEST_F(TextRecipeTest, HasTheShapeOfEachOptionSet) {
  TextOptions other;
  for (const bool bias : {false, true})
    for (const bool tied : {false, true}) {
      other.model = {
          .layers = 3, .width = 24, .heads = 3, .context = 17, .bias = bias, .tied = tied};
      EXPECT_EQ(parameter_count(gpt_shape(other, 256)), other.parameter_count(256));
    }
}

TEST_F(TextRecipeTest, WeighsABatchByItsTargets) {
  TextRecipe recipe(options, prepared);
  const DatasetPair data = recipe.data();
  ASSERT_EQ(data.train->size(), 10);  // 59 pairs
  ASSERT_EQ(data.valid->size(), 5);   // 29 pairs, the last sample has 5
  EXPECT_EQ(recipe.loss_weights(batch_of(*data.valid, {0, 1})), std::vector<double>{12});
  EXPECT_EQ(recipe.loss_weights(batch_of(*data.valid, {0, 4, -1})), std::vector<double>{11});
}

TEST_F(TextRecipeTest, GivesPaddingRowsNoLossNoWeightAndNoGradient) {
  TextRecipe recipe(options, prepared);
  const DatasetPair data = recipe.data();
  const auto model = recipe.build(1), padded_model = recipe.build(1);
  const Batch batch = batch_of(*data.train, {3, 7});
  const Batch padded = batch_of(*data.train, {3, 7, -1, -1});
  StepContext context;
  const at::Tensor loss = recipe.loss(*model, batch, context).at(0);
  const at::Tensor padded_loss = recipe.loss(*padded_model, padded, context).at(0);
  EXPECT_NEAR(loss.item<double>(), padded_loss.item<double>(), 1e-4);
  EXPECT_EQ(recipe.loss_weights(batch), recipe.loss_weights(padded));
  EXPECT_EQ(loss_sum(recipe, *model, batch_of(*data.train, {-1})), 0);
  loss.backward();
  padded_loss.backward();
  for (std::size_t i = 0; i < model->parameters().size(); ++i)
    EXPECT_TRUE(at::allclose(model->parameters()[i].tensor.grad(),
                             padded_model->parameters()[i].tensor.grad(), 1e-4, 1e-5));
}

TEST_F(TextRecipeTest, AddsLossesOfMicroBatchesToThatOfTheWhole) {
  TextRecipe recipe(options, prepared);
  const auto data = recipe.data().train;
  const auto model = recipe.build(1);
  const double whole = loss_sum(recipe, *model, batch_of(*data, {0, 4, 9, 5}));
  const double parts = loss_sum(recipe, *model, batch_of(*data, {0})) +
                       loss_sum(recipe, *model, batch_of(*data, {4, 9, 5}));
  EXPECT_NEAR(whole, parts, 1e-3);
}

TEST_F(TextRecipeTest, JudgesRowsByNatsTargetsAndBytes) {
  TextRecipe recipe(options, prepared);
  const auto data = recipe.data().valid;
  const auto model = recipe.build(1);
  const at::NoGradGuard no_grad;
  StepContext context = quiet();
  const Batch batch = batch_of(*data, {0, 4});
  const at::Tensor records = recipe.evaluate(*model, batch, context);
  EXPECT_EQ(records.scalar_type(), at::kDouble);
  ASSERT_EQ(records.sizes(), at::IntArrayRef({2, 3}));
  EXPECT_NEAR(records.select(1, 0).sum().item<double>(), loss_sum(recipe, *model, batch), 1e-3);
  EXPECT_EQ(records[0][1].item<double>(), 6);
  EXPECT_EQ(records[1][1].item<double>(), 5);
  const double bytes_of[] = {0, 1, 1, 1, 2, 2, 2, 3, 3, 4};
  double bytes = 0;
  for (int position = 1; position <= 6; ++position) bytes += bytes_of[position * position * 3 % 10];
  EXPECT_EQ(records[0][2].item<double>(), bytes);
}

TEST_F(TextRecipeTest, GivesTheSameMetricsOnAnyNumberOfRanks) {
  TextRecipe recipe(options, prepared);
  const auto data = recipe.data().valid;
  const auto model = recipe.build(1);
  const at::NoGradGuard no_grad;
  StepContext context = quiet();
  const std::int64_t count = data->size();
  const auto metrics_on = [&](std::int64_t ranks) {
    const std::int64_t share = (count + ranks - 1) / ranks;
    std::vector<at::Tensor> records;
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
      std::vector<std::int64_t> rows;
      for (std::int64_t i = 0; i < share; ++i)
        rows.push_back(rank * share + i < count ? rank * share + i : -1);
      records.push_back(recipe.evaluate(*model, batch_of(*data, rows), context));
    }
    return recipe.metrics(Records(at::cat(records).narrow(0, 0, count)));
  };
  const auto one = metrics_on(1);
  ASSERT_EQ(one.size(), 5);
  EXPECT_EQ(one[0].name, "loss");
  EXPECT_EQ(one[4].name, "pair_bits_per_byte");
  EXPECT_EQ(one[4].value, 3.25);
  for (std::int64_t ranks = 2; ranks <= count + 1; ++ranks) {
    const auto metrics = metrics_on(ranks);
    ASSERT_EQ(metrics.size(), one.size());
    for (std::size_t i = 0; i < one.size(); ++i) {
      EXPECT_EQ(metrics[i].name, one[i].name);
      EXPECT_NEAR(metrics[i].value / one[i].value, 1, 1e-6) << one[i].name << " on " << ranks;
    }
  }
}

TEST_F(TextRecipeTest, KnowsNoPairTableWhereItIsZero) {
  prepared.extra["pair_bits_per_byte"] = 0;
  const TextRecipe recipe(options, prepared);
  const auto metrics = recipe.metrics(Records(at::ones({2, 3}, at::kDouble)));
  for (const Metric& metric : metrics) EXPECT_NE(metric.name, "pair_bits_per_byte");
}

// Training takes it for granted: the check before the first step is for recipes in plugins.
TEST_F(TextRecipeTest, KeepsItsContractWithTheEngine) {
  options.model.dropout = 0.3;
  TextRecipe recipe(options, prepared);
  const auto model = recipe.build(1);
  ModelBuffers buffers(model->buffers(), at::kCPU);
  ProcessGroup group{World{}, cpu_backend()};
  const DatasetPair data = recipe.data();
  const ContractReport report = check_contract({.recipe = recipe,
                                                .model = *model,
                                                .buffers = buffers,
                                                .data = data,
                                                .group = group,
                                                .backend = cpu_backend(),
                                                .micro = 2,
                                                .eval_batch = 4,
                                                .best_metric = "bits_per_byte"});
  const std::vector<std::string> none;
  EXPECT_EQ(report.faults, none);
  EXPECT_EQ(report.warnings, none);
  EXPECT_EQ(report.notes, none);
  EXPECT_EQ(report.tried.size(), 3U);
}

TEST_F(TextRecipeTest, RunsOnSyntheticTokensWithoutFiles) {
  options.data.path = {"synthetic"};
  prepared.extra = {
      {"synthetic", true}, {"vocab", 11}, {"train_tokens", 600}, {"valid_tokens", 60}};
  TextRecipe recipe(options, prepared);
  const DatasetPair data = recipe.data();
  EXPECT_EQ(data.train->size(), 100);
  const auto model = recipe.build(1);
  const at::NoGradGuard no_grad;
  StepContext context = quiet();
  const auto records = recipe.evaluate(*model, batch_of(*data.valid, {0}), context);
  EXPECT_EQ(records[0][1].item<double>(), records[0][2].item<double>());
  EXPECT_FALSE(
      at::equal(batch_of(*data.train, {0}).tensors[0], batch_of(*data.valid, {0}).tensors[0]));
}

TEST_F(TextRecipeTest, HasNoValidationWhereThereIsNoText) {
  prepared.extra["valid_tokens"] = 1;
  TextRecipe recipe(options, prepared);
  EXPECT_EQ(recipe.data().valid, nullptr);
}

TEST_F(TextRecipeTest, DrawsDropoutByPlaceNotByMicroBatch) {
  options.model.dropout = 0.3;
  options.model.attention_dropout = 0.2;
  TextRecipe recipe(options, prepared);
  const auto data = recipe.data().train;
  const auto model = recipe.build(1);
  const at::NoGradGuard no_grad;
  const auto loss = [&](const std::vector<std::int64_t>& rows, std::int64_t step,
                        std::int64_t place) {
    StepContext context;
    context.counters = at::tensor(std::vector<std::int64_t>{1, step, place}, at::kLong);
    return recipe.loss(*model, batch_of(*data, rows), context).at(0).item<double>();
  };
  const double whole = loss({3, 1, 4, 1}, 5, 8);
  EXPECT_NEAR(whole, loss({3}, 5, 8) + loss({1, 4}, 5, 9) + loss({1}, 5, 11), 1e-3);
  EXPECT_GT(std::abs(whole - loss({3, 1, 4, 1}, 6, 8)), 1e-3);
  EXPECT_GT(std::abs(loss({1}, 5, 9) - loss({1}, 5, 11)), 1e-4);
}

TEST_F(TextRecipeTest, KeepsProbabilitiesOfAttentionWhereTheirDropoutIsOffForJudging) {
  TextRecipe plain(options, prepared);
  options.model.attention_dropout = options.model.dropout = 0.5;
  TextRecipe dropping(options, prepared);
  const auto data = plain.data().valid;
  const at::NoGradGuard no_grad;
  StepContext context = quiet();
  EXPECT_TRUE(at::equal(plain.evaluate(*plain.build(1), batch_of(*data, {1}), context),
                        dropping.evaluate(*dropping.build(1), batch_of(*data, {1}), context)));
}

TEST_F(TextRecipeTest, PredictsTextAfterEachPrompt) {
  const std::vector<std::string> pieces = {"", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
  write_file_atomic(folder.path() / "pieces.bin", encode_pieces(pieces));
  options.predict.tokens = 20;
  options.predict.count = 2;
  options.predict.temperature = 1;
  TextRecipe recipe(options, prepared);
  const auto model = recipe.build(1);
  std::string text;
  PredictRequest request{.extra = {{"prompts", {{1, 2}, {3}}},
                                   {"prompt_texts", {"bc", "d"}},
                                   {"pieces", path("pieces.bin")},
                                   {"eot", -1}},
                         .run_dir = folder.path().string(),
                         .out = [&](const std::string& part) { text += part; }};
  recipe.predict(*model, request);
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  ASSERT_EQ(lines.size(), 7) << text;
  for (const std::size_t i : {1, 3, 5}) EXPECT_EQ(lines[i], "---");
  EXPECT_TRUE(lines[0].starts_with("bc") && lines[2].starts_with("bc")) << text;
  EXPECT_TRUE(lines[4].starts_with("d") && lines[6].starts_with("d")) << text;
  EXPECT_NE(lines[0], lines[2]);

  request.out = nullptr;
  recipe.predict(*model, request);
  EXPECT_EQ(read_file(folder.path() / "predictions" / "samples.txt"), text);
}

}  // namespace
}  // namespace lockstep::textgen
