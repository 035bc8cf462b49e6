// What a text's results may depend on, and gradients.
#include "recipes/dimabsa/encoder/encoder.h"

#include "training/gradients/gradient_buffers.h"
#include "unit/dimabsa-encoder/tiny.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/linspace.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace lockstep::dimabsa {
namespace {

// Tensors here are tiny: waking other threads would cost far more than the work.
class OneThread : public ::testing::Environment {
  void SetUp() override { at::set_num_threads(1); }
};
[[maybe_unused]] const auto* const one_thread = ::testing::AddGlobalTestEnvironment(new OneThread);

const std::vector<Text> texts = {some_text(5, 1), some_text(1, 2), some_text(13, 3),
                                 some_text(8, 4)};

std::vector<at::Tensor> by_text(const at::Tensor& all, const std::vector<Text>& of) {
  std::vector<at::Tensor> parts;
  std::int64_t begin = 0;
  for (const Text& text : of) {
    const auto length = static_cast<std::int64_t>(text.size());
    parts.push_back(all.narrow(0, begin, length));
    begin += length;
  }
  return parts;
}

void expect_near(const at::Tensor& a, const at::Tensor& b, const std::string& what = "") {
  ASSERT_EQ(a.sizes(), b.sizes()) << what;
  EXPECT_TRUE(at::allclose(a, b, 1e-4, 1e-5)) << what << "\n" << a << "\n" << b;
}

TEST(Encoder, GivesATextTheSameAloneAndAmongOthers) {
  const at::NoGradGuard no_grad;
  for (const EncoderShape& shape : all_tiny()) {
    const auto encoder = rough_encoder(shape);
    const auto parts = by_text(encoder->forward(input_of(texts, shape), evaluating()), texts);
    for (std::size_t i = 0; i < texts.size(); ++i)
      expect_near(parts[i], encoder->forward(input_of({texts[i]}, shape), evaluating()),
                  family_name(shape));
    EXPECT_FALSE(at::allclose(parts[0][0], parts[0][1])) << family_name(shape);
  }
}

TEST(Encoder, PermutesResultsWithTheTexts) {
  const at::NoGradGuard no_grad;
  const std::vector<Text> turned(texts.rbegin(), texts.rend());
  for (const EncoderShape& shape : all_tiny()) {
    const auto encoder = rough_encoder(shape);
    const auto one = by_text(encoder->forward(input_of(texts, shape), evaluating()), texts);
    const auto other = by_text(encoder->forward(input_of(turned, shape), evaluating()), turned);
    for (std::size_t i = 0; i < texts.size(); ++i)
      expect_near(one[i], other[texts.size() - 1 - i], family_name(shape));
  }
}

TEST(Encoder, TakesALongestThatNoTextReaches) {
  const at::NoGradGuard no_grad;
  for (const EncoderShape& shape : all_tiny()) {
    const auto encoder = rough_encoder(shape);
    EncoderInput input = input_of(texts, shape);
    const at::Tensor before = encoder->forward(input, evaluating());
    input.longest = 30;
    expect_near(before, encoder->forward(input, evaluating()), family_name(shape));
  }
}

TEST(Encoder, IsNotTouchedByTextsOfPadding) {
  for (const EncoderShape& shape : all_tiny()) {
    const auto encoder = rough_encoder(shape);
    const EncoderInput input = input_of(texts, shape);
    EncoderInput longer = input;
    longer.tokens = at::cat({input.tokens, at::ones({6}, at::kLong)});
    longer.segments = at::cat({input.segments, at::zeros({6}, at::kLong)});
    const std::int64_t end = input.tokens.size(0);
    longer.offsets = at::cat({input.offsets, at::tensor({end + 4, end + 6, end + 6}, at::kLong)});
    const std::int64_t used = input.tokens.size(0);
    const auto gradients = [&](const EncoderInput& of, const StepContext& context) {
      for (const Parameter& parameter : encoder->parameters())
        parameter.tensor.mutable_grad() = at::Tensor();
      const at::Tensor out = encoder->forward(of, context).narrow(0, 0, used);
      out.mul(at::linspace(-1, 1, out.numel()).view(out.sizes())).sum().backward();
      std::vector<at::Tensor> all{out.detach()};
      for (const Parameter& parameter : encoder->parameters())
        all.push_back(parameter.tensor.grad());
      return all;
    };
    for (const StepContext& context : {evaluating(), training()}) {
      const auto one = gradients(input, context), other = gradients(longer, context);
      for (std::size_t i = 0; i < one.size(); ++i) {
        ASSERT_EQ(one[i].defined(), other[i].defined());
        if (one[i].defined()) expect_near(one[i], other[i], family_name(shape));
      }
    }
  }
}

TEST(Encoder, SeesATokenThatIsLeftOutNowhere) {
  const at::NoGradGuard no_grad;
  for (const EncoderShape& shape : all_tiny()) {
    const auto encoder = rough_encoder(shape);
    EncoderInput whole = input_of({{1, 2, 3, 4}}, shape), left = input_of({{1, 2, 4}}, shape);
    whole.segments = at::zeros({4}, at::kLong);
    left.segments = at::zeros({3}, at::kLong);
    left.positions = at::tensor({0, 1, 3}, at::kLong);
    const at::Tensor out = encoder->forward(left, evaluating());
    left.positions = at::tensor({0, 1, 2}, at::kLong);
    const at::Tensor closed = encoder->forward(left, evaluating());
    left.positions = at::Tensor();
    expect_near(encoder->forward(left, evaluating()), closed, family_name(shape));
    EXPECT_FALSE(at::allclose(out, closed)) << family_name(shape);  // positions count
    EXPECT_FALSE(at::allclose(out[0], encoder->forward(whole, evaluating())[0]));
  }
}

TEST(Encoder, DropsOutTheSameOfARowWhereverItLies) {
  const at::NoGradGuard no_grad;
  for (EncoderShape shape : all_tiny())
    for (const double attention_dropout : {0.0, 0.3}) {
      shape.attention_dropout = attention_dropout;
      const auto encoder = rough_encoder(shape);
      const auto parts = by_text(encoder->forward(input_of(texts, shape), training(10)), texts);
      for (std::size_t i = 0; i < texts.size(); ++i) {
        const auto place = static_cast<std::int64_t>(10 + i);
        const at::Tensor alone = encoder->forward(input_of({texts[i]}, shape), training(place));
        expect_near(parts[i], alone, family_name(shape));
        const at::Tensor elsewhere =
            encoder->forward(input_of({texts[i]}, shape), training(place + 1));
        EXPECT_FALSE(at::allclose(alone, elsewhere)) << family_name(shape);
      }
    }
}

TEST(Encoder, DropsOutByTheRowThatATextIsPartOf) {
  const at::NoGradGuard no_grad;
  const EncoderShape shape = tiny_bert();
  const auto encoder = rough_encoder(shape);
  EncoderInput input = input_of({texts[0], texts[0]}, shape);
  input.row_offsets = at::tensor({0, 10}, at::kLong);  // one row of two texts
  const at::Tensor out = encoder->forward(input, training());
  EXPECT_FALSE(at::allclose(out.narrow(0, 0, 5), out.narrow(0, 5, 5)));
  expect_near(out.narrow(0, 0, 5), encoder->forward(input_of({texts[0]}, shape), training()));
}

TEST(Encoder, AttentionDropoutOf0AndTheSlowWayAgree) {
  const at::NoGradGuard no_grad;
  EncoderShape shape = tiny_bert();
  shape.dropout = 0;
  const auto fast = rough_encoder(shape);
  shape.attention_dropout = 1e-12;  // the slow way, and nothing dropped
  const auto slow = rough_encoder(shape);
  const EncoderInput input = input_of(texts, shape);
  expect_near(fast->forward(input, training()), slow->forward(input, training()));
}

TEST(Encoder, TakesEmptyTextsAndNoTexts) {
  const at::NoGradGuard no_grad;
  for (const EncoderShape& shape : all_tiny()) {
    const auto encoder = rough_encoder(shape);
    const at::Tensor out =
        encoder->forward(input_of({texts[0], {}, texts[1]}, shape), evaluating());
    expect_near(out, encoder->forward(input_of({texts[0], texts[1]}, shape), evaluating()));
    EXPECT_EQ(encoder->forward(input_of({}, shape), evaluating()).sizes(),
              at::IntArrayRef({0, shape.width}));
  }
}

TEST(Encoder, GradientsAreThoseOfFiniteDifferences) {
  for (EncoderShape shape : all_tiny()) {
    shape.norm_epsilon = 1e-5;
    const auto encoder = rough_encoder(shape);
    for (const Parameter& parameter : encoder->parameters()) {
      at::Tensor handle = parameter.tensor;
      handle.set_data(handle.detach().to(at::kDouble));
    }
    const EncoderInput input = input_of({texts[0], texts[3]}, shape);
    const auto loss = [&] {
      const at::Tensor out = encoder->forward(input, training());
      return out.mul(at::linspace(-1, 1, out.numel(), at::kDouble).view(out.sizes())).sum();
    };
    loss().backward();
    const at::NoGradGuard no_grad;
    for (const Parameter& parameter : encoder->parameters()) {
      const at::Tensor values = parameter.tensor.detach().view({-1});
      const at::Tensor gradient = parameter.tensor.grad();
      ASSERT_TRUE(gradient.defined()) << parameter.name;
      double* const value = values.mutable_data_ptr<double>();
      const std::int64_t step = std::max<std::int64_t>(1, values.numel() / 3);
      for (std::int64_t i = 0; i < values.numel(); i += step) {
        const double was = value[i], change = 1e-5;
        value[i] = was + change;
        const double above = loss().item<double>();
        value[i] = was - change;
        const double below = loss().item<double>();
        value[i] = was;
        const double expected = (above - below) / (2 * change);
        EXPECT_NEAR(gradient.view({-1})[i].item<double>(), expected,
                    1e-5 * (1 + std::abs(expected)))
            << family_name(shape) << " " << parameter.name << " " << i;
      }
    }
  }
}

// Weights and gradients of queries, keys and values lie together there where the width is a
// multiple of 64, and apart for others.
TEST(Encoder, GivesTheArenaTheGradientsThatAutogradGives) {
  for (EncoderShape shape : all_tiny())
    for (const std::int64_t width : {8, 64}) {
      shape.width = width;
      const EncoderInput input = input_of(texts, shape);
      const auto run = [&](Encoder& encoder, std::int64_t recomputed) {
        StepContext context = training();
        context.recomputed_blocks = recomputed;
        const at::Tensor out = encoder.forward(input, context);
        out.mul(at::linspace(-1, 1, out.numel()).view(out.sizes())).sum().backward();
        return out.detach();
      };
      const auto plain = rough_encoder(shape);
      const at::Tensor expected = run(*plain, 0);
      for (const std::int64_t recomputed : {0, 1}) {
        const auto fast = rough_encoder(shape);
        ParameterStorage storage(fast->parameters(), at::kCPU, at::kFloat);
        GradientBuffers gradients(storage);
        expect_near(run(*fast, recomputed), expected, family_name(shape));
        for (std::size_t i = 0; i < storage.parameters().size(); ++i)
          expect_near(storage.view(gradients.flat(), i), plain->parameters()[i].tensor.grad(),
                      storage.parameters()[i].name);
      }
    }
}

TEST(Encoder, TrainsWithSomeParametersFrozen) {
  for (const EncoderShape& shape : all_tiny()) {
    const auto encoder = rough_encoder(shape);
    for (Parameter& parameter : encoder->parameters())
      if (parameter.name.find("key") != std::string::npos || parameter.name.find("emb") == 0)
        parameter.tensor.requires_grad_(false);
    encoder->forward(input_of(texts, shape), training()).square().sum().backward();
    for (const Parameter& parameter : encoder->parameters())
      EXPECT_EQ(parameter.tensor.grad().defined(), parameter.tensor.requires_grad())
          << parameter.name;
  }
}

// XLM-R has one row of segments for all tokens, DeBERTa-v3 none: its callers need not know.
TEST(Encoder, TakesSegmentsThatItHasNoRowsFor) {
  for (EncoderShape shape : all_tiny())
    for (const std::int64_t segments : {0, 1}) {
      shape.segments = segments;
      const auto encoder = rough_encoder(shape);
      EncoderInput input = input_of(texts, shape);
      const at::Tensor before = encoder->forward(input, evaluating());
      input.segments = at::ones_like(input.tokens);
      const at::Tensor after = encoder->forward(input, evaluating());
      expect_near(after, before, family_name(shape));
      after.square().sum().backward();
    }
}

}  // namespace
}  // namespace lockstep::dimabsa
