// Cross-entropy of next tokens against hand-made cases.
#include "recipes/textgen/model/loss.h"

#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cmath>

namespace lockstep::textgen {
namespace {

at::Tensor wavy_logits() {
  return at::arange(2 * 3 * 5, at::kFloat).mul(0.7).sin().mul(3).view({2, 3, 5});
}

TEST(TokenLoss, IsTheLogarithmOfTheVocabularyForUniformLogits) {
  const at::Tensor targets = at::arange(12, at::kLong).view({3, 4});
  for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16, at::kHalf, at::kDouble}) {
    const at::Tensor loss = token_loss(at::full({3, 4, 50}, 2.5, dtype), targets);
    EXPECT_NEAR(loss.item<double>(), 12 * std::log(50.0), 1e-4);
    EXPECT_EQ(loss.scalar_type(), dtype == at::kDouble ? at::kDouble : at::kFloat);
    EXPECT_EQ(loss.dim(), 0);
  }
}

TEST(TokenLoss, IsTheSumOfTheRows) {
  const at::Tensor targets = at::arange(6, at::kLong).remainder(5).view({2, 3});
  const at::Tensor rows = row_losses(wavy_logits(), targets);
  EXPECT_EQ(rows.scalar_type(), at::kDouble);
  EXPECT_EQ(rows.sizes(), at::IntArrayRef({2}));
  EXPECT_NEAR(rows.sum().item<double>(), token_loss(wavy_logits(), targets).item<double>(), 1e-5);
}

TEST(TokenLoss, OfRowsIsTheSameInPieces) {
  const at::Tensor hidden = at::arange(5 * 3 * 4, at::kFloat).mul(0.3).sin().view({5, 3, 4});
  const at::Tensor weight = at::arange(7 * 4, at::kFloat).mul(0.9).cos().view({7, 4});
  const at::Tensor targets = at::arange(15, at::kLong).remainder(7).view({5, 3});
  const at::Tensor whole = row_losses(at::linear(hidden, weight), targets);
  for (const std::int64_t bytes : {1, 2 * 3 * 7 * 4, 1 << 20}) {
    const at::Tensor pieces = linear_row_losses(hidden, weight, targets, bytes);
    EXPECT_EQ(pieces.sizes(), whole.sizes());
    EXPECT_TRUE(at::allclose(pieces, whole, 1e-6, 1e-6)) << bytes;
  }
}

TEST(TokenLoss, EqualsTheDefinition) {
  const at::Tensor logits = wavy_logits();
  const at::Tensor targets = at::arange(6, at::kLong).remainder(5).view({2, 3});
  double expected = 0;
  for (std::int64_t i = 0; i < 6; ++i) {
    const at::Tensor row = logits.view({6, 5})[i].to(at::kDouble);
    expected += std::log(row.exp().sum().item<double>()) - row[i % 5].item<double>();
  }
  EXPECT_NEAR(token_loss(logits, targets).item<double>(), expected, 1e-5);
}

TEST(TokenLoss, LeavesOutIgnoredTargetsAndTheirGradient) {
  at::Tensor logits = wavy_logits().requires_grad_(true);
  at::Tensor targets = at::zeros({2, 3}, at::kLong);
  targets[0].fill_(kIgnored);
  const at::Tensor loss = token_loss(logits, targets);
  const at::Tensor second = token_loss(logits.slice(0, 1), targets.slice(0, 1));
  EXPECT_FLOAT_EQ(loss.item<float>(), second.item<float>());
  loss.backward();
  EXPECT_EQ(logits.grad()[0].abs().max().item<float>(), 0);
  EXPECT_GT(logits.grad()[1].abs().max().item<float>(), 0);
}

TEST(TokenLoss, IsZeroWhereNothingCounts) {
  at::Tensor logits = wavy_logits().requires_grad_(true);
  const at::Tensor loss = token_loss(logits, at::full({2, 3}, kIgnored, at::kLong));
  loss.backward();
  EXPECT_EQ(loss.item<float>(), 0);
  EXPECT_EQ(logits.grad().abs().max().item<float>(), 0);
}

}  // namespace
}  // namespace lockstep::textgen
