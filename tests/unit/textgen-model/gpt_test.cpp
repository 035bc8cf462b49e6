// The model: its size and names, what it may see, and its gradient.
#include "recipes/textgen/model/gpt.h"

#include "recipes/textgen/model/loss.h"
#include "tests/unit/textgen-model/tiny.h"
#include "training/gradients/gradient_buffers.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/equal.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

namespace lockstep::textgen {
namespace {

// Tensors here are tiny: waking other threads would cost far more than the work.
class OneThread : public ::testing::Environment {
  void SetUp() override { at::set_num_threads(1); }
};
[[maybe_unused]] const auto* const one_thread = ::testing::AddGlobalTestEnvironment(new OneThread);

// The shapes of the presets, written out: a change of a formula must not go unseen.
GptShape kaggle() {
  return {.vocab = 50257,
          .width = 256,
          .layers = 8,
          .heads = 8,
          .feed_forward = 1024,
          .context = 512,
          .bias = true};
}
GptShape bench_textgen() {
  return {.vocab = 256,
          .width = 384,
          .layers = 6,
          .heads = 6,
          .feed_forward = 1536,
          .context = 512,
          .bias = false,
          .tanh_gelu = false};
}
GptShape bench_gpt124m() {
  return {.vocab = 50304,
          .width = 768,
          .layers = 12,
          .heads = 12,
          .feed_forward = 3072,
          .context = 1024,
          .bias = false,
          .tanh_gelu = false};
}

std::int64_t elements(Gpt& model) {
  std::int64_t sum = 0;
  for (const Parameter& p : model.parameters()) sum += p.tensor.numel();
  return sum;
}

double loss_of(const Gpt& model, const at::Tensor& tokens, const at::Tensor& targets) {
  const at::NoGradGuard no_grad;
  const StepContext context = quiet();
  return token_loss(model.logits(model.hidden(tokens, context)), targets).item<double>();
}

void to_double(Gpt& model) {
  for (Parameter p : model.parameters()) p.tensor.set_data(p.tensor.detach().to(at::kDouble));
}

TEST(GptShape, CountsTheParametersOfKnownModels) {
  EXPECT_EQ(parameter_count(kaggle()), 19'315'456);
  GptShape small_vocabulary = kaggle();
  small_vocabulary.vocab = 14'336;
  EXPECT_EQ(parameter_count(small_vocabulary), 10'119'680);
  EXPECT_EQ(parameter_count(bench_textgen()), 10'916'736);
  EXPECT_EQ(parameter_count(bench_gpt124m()), 124'373'760);
}

TEST(Gpt, HasAsManyParametersAsItsShapeSays) {
  for (const bool bias : {false, true})
    for (const bool tied : {false, true}) {
      GptShape shape = tiny_shape();
      shape.bias = bias;
      shape.tied = tied;
      Gpt model(shape, 1);
      EXPECT_EQ(elements(model), parameter_count(shape)) << bias << tied;
    }
}

TEST(Gpt, NamesItsParametersAsThePeersDo) {
  GptShape shape = tiny_shape();
  shape.bias = false;
  Gpt model(shape, 1);
  std::set<std::string> names;
  for (const Parameter& p : model.parameters()) names.insert(p.name);
  std::set<std::string> expected = {"tok.weight", "pos.weight", "ln.weight"};
  for (const char* block : {"blocks.0.", "blocks.1."})
    for (const char* part : {"ln1", "ln2", "qkv", "proj", "up", "down"})
      expected.insert(std::string(block) + part + ".weight");
  EXPECT_EQ(names, expected);
  EXPECT_EQ(names.size(), model.parameters().size());
}

TEST(Gpt, AddsBiasesAndAnOutputMatrixWhereAsked) {
  GptShape shape = tiny_shape();
  shape.tied = false;
  Gpt model(shape, 1);
  std::set<std::string> names;
  for (const Parameter& p : model.parameters()) names.insert(p.name);
  EXPECT_TRUE(names.contains("blocks.1.ln1.bias"));
  EXPECT_TRUE(names.contains("blocks.1.qkv.bias"));
  EXPECT_TRUE(names.contains("ln.bias"));
  EXPECT_TRUE(names.contains("head.weight"));
  EXPECT_FALSE(names.contains("head.bias"));
}

TEST(Gpt, DecaysMatricesOnly) {
  Gpt model(tiny_shape(), 1);
  for (const Parameter& p : model.parameters()) EXPECT_EQ(p.decay, p.tensor.dim() >= 2) << p.name;
}

TEST(Gpt, StartsFromNormalMatricesZeroBiasesAndUnitNorms) {
  const GptShape shape{
      .vocab = 256, .width = 96, .layers = 6, .heads = 6, .feed_forward = 384, .context = 64};
  Gpt model(shape, 3);
  for (const Parameter& p : model.parameters()) {
    const at::Tensor t = p.tensor.detach();
    if (p.tensor.dim() == 1) {
      const bool norm = p.name.find("ln") != std::string::npos && p.name.ends_with("weight");
      EXPECT_TRUE(t.eq(norm ? 1 : 0).all().item<bool>()) << p.name;
      continue;
    }
    const bool last =
        p.name.find("proj") != std::string::npos || p.name.find("down") != std::string::npos;
    const double std = last ? 0.02 / std::sqrt(12.0) : 0.02;
    const double n = std::sqrt(static_cast<double>(t.numel()));
    EXPECT_NEAR(t.std().item<double>() / std, 1, 5 / n) << p.name;
    EXPECT_NEAR(t.mean().item<double>() / std, 0, 6 / n) << p.name;
  }
}

TEST(Gpt, IsAFunctionOfTheSeed) {
  Gpt a(tiny_shape(), 5), b(tiny_shape(), 5), c(tiny_shape(), 6);
  for (std::size_t i = 0; i < a.parameters().size(); ++i) {
    const at::Tensor mine = a.parameters()[i].tensor;
    EXPECT_TRUE(at::equal(mine, b.parameters()[i].tensor));
    if (mine.dim() < 2) continue;
    EXPECT_FALSE(at::equal(mine, c.parameters()[i].tensor));
  }
}

TEST(Gpt, StartsTheSameWithAnyNumberOfThreads) {
  const GptShape shape{.vocab = 3000, .width = 16, .layers = 1, .heads = 2, .feed_forward = 32};
  Gpt one(shape, 5);
  at::set_num_threads(3);
  Gpt three(shape, 5);
  at::set_num_threads(1);
  for (std::size_t i = 0; i < one.parameters().size(); ++i)
    EXPECT_TRUE(at::equal(one.parameters()[i].tensor, three.parameters()[i].tensor));
}

TEST(Gpt, NoTokenChangesTheLogitsBeforeIt) {
  const at::NoGradGuard no_grad;
  Gpt model(tiny_shape(), 1);
  const at::Tensor tokens = some_tokens(2, 6, 11);
  const at::Tensor before = model.logits(model.hidden(tokens, quiet()));
  for (std::int64_t t = 0; t < 6; ++t) {
    at::Tensor changed = tokens.clone();
    changed.select(1, t).add_(1).remainder_(11);
    const at::Tensor difference =
        model.logits(model.hidden(changed, quiet())).sub(before).abs().amax({0, 2});
    for (std::int64_t i = 0; i < t; ++i)
      EXPECT_LT(difference[i].item<double>(), 1e-6) << t << " changed " << i;
    EXPECT_GT(difference[t].item<double>(), 1e-3) << t;
  }
}

TEST(Gpt, TakesTokensOfEitherIntegerType) {
  const at::NoGradGuard no_grad;
  Gpt model(tiny_shape(), 1);
  const at::Tensor tokens = some_tokens(2, 5, 11);
  EXPECT_TRUE(at::equal(model.hidden(tokens, quiet()), model.hidden(tokens.to(at::kInt), quiet())));
}

TEST(Gpt, ComputesInTheTypeOfItsParameters) {
  const at::NoGradGuard no_grad;
  const at::Tensor tokens = some_tokens(2, 6, 11);
  Gpt reference(tiny_shape(), 1);
  const at::Tensor expected = reference.logits(reference.hidden(tokens, quiet()));
  for (const at::ScalarType dtype : {at::kBFloat16, at::kHalf, at::kDouble}) {
    Gpt model(tiny_shape(), 1);
    for (Parameter p : model.parameters()) p.tensor.set_data(p.tensor.detach().to(dtype));
    const at::Tensor logits = model.logits(model.hidden(tokens, quiet()));
    EXPECT_EQ(logits.scalar_type(), dtype);
    EXPECT_LT(logits.sub(expected).abs().max().item<double>(), dtype == at::kDouble ? 1e-5 : 0.3);
  }
}

// Every element of every parameter against a central difference, in double precision.
void expect_right_gradient(const GptShape& shape) {
  Gpt model(shape, 2);
  to_double(model);
  const at::Tensor tokens = some_tokens(3, shape.context - 1, shape.vocab).to(at::kInt);
  at::Tensor targets = some_tokens(3, shape.context - 1, shape.vocab, 4);
  targets[1].slice(0, 2).fill_(kIgnored);
  token_loss(model.logits(model.hidden(tokens, StepContext{})), targets).backward();
  constexpr double step = 1e-5;
  for (const Parameter& p : model.parameters()) {
    const at::Tensor flat = p.tensor.detach().view(-1);
    const at::Tensor gradient = p.tensor.grad().contiguous().view(-1);
    double* values = flat.mutable_data_ptr<double>();
    for (std::int64_t i = 0; i < flat.numel(); ++i) {
      const double value = values[i];
      values[i] = value + step;
      const double above = loss_of(model, tokens, targets);
      values[i] = value - step;
      const double below = loss_of(model, tokens, targets);
      values[i] = value;
      ASSERT_NEAR(gradient[i].item<double>(), (above - below) / (2 * step), 1e-6)
          << p.name << " element " << i;
    }
  }
}

TEST(Gpt, HasTheGradientOfFiniteDifferences) { expect_right_gradient(tiny_shape()); }

TEST(Gpt, HasTheGradientOfFiniteDifferencesUntiedWithoutBiasesAndWithErf) {
  GptShape shape = tiny_shape();
  shape.tied = shape.bias = shape.tanh_gelu = false;
  shape.layers = 1;
  expect_right_gradient(shape);
}

// Loss and gradients of a micro-batch with dropout, of whose blocks so many are computed again.
std::vector<at::Tensor> gradients(std::int64_t again, at::ScalarType dtype) {
  GptShape shape = tiny_shape();
  shape.layers = 3;
  shape.dropout = 0.2;
  shape.attention_dropout = 0.1;
  Gpt model(shape, 5);
  ParameterStorage storage(model.parameters(), at::kCPU, dtype);
  GradientBuffers gradients(storage);
  StepContext context;
  context.compute_dtype = dtype;
  context.counters = at::tensor({5, 2, 0}, at::kLong);
  context.recomputed_blocks = again;
  const at::Tensor tokens = some_tokens(4, 6, shape.vocab), targets = some_tokens(4, 6, 11, 3);
  const at::Tensor loss = token_loss(model.logits(model.hidden(tokens, context)), targets);
  loss.backward();
  std::vector<at::Tensor> all{loss.detach()};
  for (std::size_t i = 0; i < storage.parameters().size(); ++i) {
    gradients.take(i);
    gradients.place();
    all.push_back(storage.view(gradients.flat(), i).clone());
  }
  return all;
}

TEST(Gpt, HasTheSameGradientsToTheBitWhereBlocksAreComputedAgain) {
  for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16}) {
    const auto kept = gradients(0, dtype);
    for (const std::int64_t again : {1, 2, 3, 1000}) {
      const auto result = gradients(again, dtype);
      ASSERT_EQ(result.size(), kept.size());
      for (std::size_t i = 0; i < kept.size(); ++i)
        EXPECT_TRUE(result[i].equal(kept[i])) << again << " blocks, tensor " << i;
    }
    EXPECT_GT(kept[5].abs().sum().item<double>(), 0);
  }
}

}  // namespace
}  // namespace lockstep::textgen
