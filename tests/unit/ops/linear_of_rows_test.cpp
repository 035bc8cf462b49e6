// A linear layer over few rows: what it refuses, and what else reads the hidden states. Its numbers
// and gradients are those of a case of fakes/fused_cases.h.
#include "ops/linear_of_rows/linear_of_rows.h"

#include "fakes/error_of.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep {
namespace {

using ::testing::HasSubstr;

TEST(LinearOfRows, ReadsTheRowsInTheirOrder) {
  const at::Tensor hidden = at::arange(6, at::kFloat).view({3, 2});
  const at::Tensor weight = at::tensor({1.F, 10.F}).view({1, 2});
  const at::Tensor rows = at::tensor({2, 0, 2}, at::kLong);
  EXPECT_TRUE(
      linear_of_rows(hidden, rows, weight).equal(at::tensor({54.F, 10.F, 54.F}).view({3, 1})));
  EXPECT_TRUE(linear_of_rows(hidden, rows, weight, at::tensor({1.F}))
                  .equal(at::tensor({55.F, 11.F, 55.F}).view({3, 1})));
}

TEST(LinearOfRows, HandsTheHiddenStatesOn) {
  const at::Tensor hidden = at::ones({3, 2}).requires_grad_(), weight = at::ones({1, 2});
  const auto [y, same] = linear_of_rows_beside(hidden, at::tensor({1, 1}, at::kLong), weight);
  EXPECT_TRUE(same.equal(hidden));
  (y.sum() + same.sum() * 10).backward();
  EXPECT_TRUE(hidden.grad().equal(at::tensor({10.F, 12.F, 10.F}).unsqueeze(1).expand({3, 2})));
}

TEST(LinearOfRows, RefusesOtherShapesAndTypesByName) {
  const at::Tensor hidden = at::ones({3, 2}), weight = at::ones({4, 2}), bias = at::ones({4});
  const at::Tensor rows = at::tensor({0}, at::kLong);
  EXPECT_THAT(error_of([&] { linear_of_rows(hidden[0], rows, weight, bias); }),
              HasSubstr("floating [N, D], but got [2]"));
  EXPECT_THAT(error_of([&] { linear_of_rows(hidden, rows.to(at::kInt), weight, bias); }),
              HasSubstr("rows of i64 [S]"));
  EXPECT_THAT(error_of([&] { linear_of_rows(hidden, rows, weight.t(), bias); }),
              HasSubstr("a weight of Float [O, 2], but got [2, 4]"));
  EXPECT_THAT(error_of([&] { linear_of_rows(hidden, rows, weight.to(at::kHalf), bias); }),
              HasSubstr("of Half"));
  EXPECT_THAT(error_of([&] { linear_of_rows(hidden, rows, weight, bias.narrow(0, 0, 3)); }),
              HasSubstr("a bias of Float [4], but got [3]"));
  EXPECT_ANY_THROW(linear_of_rows(hidden, at::tensor({3}, at::kLong), weight, bias));
}

}  // namespace
}  // namespace lockstep
