// Products into a given place on the CPU, and attention over packed projections.
#include "ops/matmul/matmul.h"
#include "ops/attention/attention.h"
#include "ops/column_sums/column_sums.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/full.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/softmax.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace lockstep {
namespace {

TEST(MatmulInto, TakesTransposesOnEitherSide) {
  const at::Tensor left = at::randn({5, 3}), right = at::randn({3, 4});
  for (const bool left_turned : {false, true})
    for (const bool right_turned : {false, true}) {
      at::Tensor out = at::full({5, 4}, 7.0);
      matmul_into(out, left_turned ? left.t().contiguous().t() : left,
                  right_turned ? right.t().contiguous().t() : right);
      EXPECT_TRUE(at::allclose(out, left.mm(right), 1e-5, 1e-6));
    }
}

TEST(MatmulInto, AddsABias) {
  const at::Tensor left = at::randn({5, 3}), right = at::randn({3, 4}), bias = at::randn({4});
  at::Tensor out = at::full({5, 4}, 7.0);
  matmul_into(out, left, right, bias);
  EXPECT_TRUE(at::allclose(out, left.mm(right) + bias, 1e-5, 1e-6));
}

TEST(MatmulInto, AccumulatesLowPrecisionInFloat) {
  const at::Tensor left = at::ones({1, 1}).to(at::kBFloat16), right = left;
  at::Tensor out = at::full({1, 1}, 1024.0);
  matmul_into(out, left, right, {}, true);  // 1025 has no bf16 form
  EXPECT_EQ(out.item<float>(), 1025.0F);
}

TEST(MatmulPlus, AddsToAnotherMatrixOrToWhatItHolds) {
  const at::Tensor left = at::randn({5, 3}), right = at::randn({3, 4}), addend = at::randn({5, 4});
  const at::Tensor expected = left.mm(right) + addend;
  at::Tensor out = at::full({5, 4}, 7.0);
  matmul_plus(out, addend, left, right);
  EXPECT_TRUE(at::allclose(out, expected, 1e-5, 1e-6));
  out.copy_(addend);
  matmul_plus(out, out, left, right);
  EXPECT_TRUE(at::allclose(out, expected, 1e-5, 1e-6));
}

TEST(MatmulBatch, IsAProductForEachEntryWithWhatIsAdded) {
  const auto batch = [](std::int64_t rows, std::int64_t columns) {
    return at::randn({2 * 32}).as_strided({2, rows, columns}, {32, columns, 1});
  };
  const at::Tensor left = batch(5, 3), right = batch(4, 3).transpose(1, 2), addend = batch(5, 4);
  const at::Tensor out = batch(5, 4);
  matmul_batch(out, left, right);
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(at::allclose(out[i], left[i].mm(right[i]), 1e-5, 1e-6));
  matmul_batch(out, left, right, 2);
  for (int i = 0; i < 2; ++i)
    EXPECT_TRUE(at::allclose(out[i], left[i].mm(right[i]) * 2, 1e-5, 1e-6));
  matmul_batch(out, left, right, 0.5, {.addend = addend, .beta = -3});
  for (int i = 0; i < 2; ++i)
    EXPECT_TRUE(at::allclose(out[i], left[i].mm(right[i]) * 0.5 - addend[i] * 3, 1e-5, 1e-5));
}

TEST(ColumnSums, AreAddedToWhatWasThere) {
  const at::Tensor matrix = at::randn({3, 7, 5}), into = at::full({5}, 2.0);
  add_column_sums(into, matrix);
  add_column_sums(into, matrix.narrow(0, 0, 0));
  EXPECT_TRUE(at::allclose(into, matrix.flatten(0, 1).sum(0) + 2, 1e-5, 1e-6));
}

TEST(MatmulInto, OfNothingIsZeroOrWhatWasThere) {
  at::Tensor out = at::full({2, 2}, 7.0);
  matmul_into(out, at::randn({2, 0}), at::randn({0, 2}), {}, true);
  EXPECT_TRUE(out.equal(at::full({2, 2}, 7.0)));
  matmul_into(out, at::randn({2, 0}), at::randn({0, 2}));
  EXPECT_TRUE(out.equal(at::full({2, 2}, 0.0)));
}

TEST(PackedAttention, EqualsSoftmaxOverTheVisiblePositions) {
  const std::int64_t length = 6, width = 4;
  const at::Tensor qkv = at::randn({2, length, 3, 2, width}).requires_grad_();
  const at::Tensor plain = qkv.detach().clone().requires_grad_();
  const at::Tensor out = packed_causal_attention(qkv);
  ASSERT_EQ(out.sizes(), at::IntArrayRef({2, length, 2, width}));

  const auto parts = plain.unbind(2);
  const auto heads = [&](int part) {
    return parts[static_cast<std::size_t>(part)].transpose(1, 2);
  };
  const at::Tensor scores = at::matmul(heads(0), heads(1).transpose(-2, -1)) / std::sqrt(4.0);
  const at::Tensor hidden = at::ones({length, length}).triu(1).to(at::kBool);
  const at::Tensor expected =
      at::matmul(
          at::softmax(scores.masked_fill(hidden, -std::numeric_limits<double>::infinity()), -1),
          heads(2))
          .transpose(1, 2);
  EXPECT_TRUE(at::allclose(out, expected, 1e-5, 1e-6));
  const at::Tensor up = at::randn(out.sizes());
  out.mul(up).sum().backward();
  expected.mul(up).sum().backward();
  EXPECT_TRUE(at::allclose(qkv.grad(), plain.grad(), 1e-4, 1e-5));
}

}  // namespace
}  // namespace lockstep
