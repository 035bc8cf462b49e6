// Losses by question: their definition, second derivatives, what counts, and what they refuse.
#include "fakes/chosen_cases.h"
#include "fakes/error_of.h"

#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep {
namespace {

using testing::FusedCase, testing::Tensors, ::testing::HasSubstr;

// The sums, then the gradient of the sums with a weight each.
Tensors run_losses(const testing::Function& function, const at::Tensor& input,
                   at::ScalarType type) {
  const at::Tensor leaf = input.to(type).clone().requires_grad_();
  const at::Tensor sums = function({leaf});
  (sums.to(at::kDouble) * at::arange(1, sums.numel() + 1)).sum().backward();
  return {sums.detach(), leaf.grad()};
}

TEST(ChosenLosses, AreThoseOfWhatEachRowIsAskedFor) {
  at::manual_seed(3);
  for (const FusedCase& test : testing::chosen_cases())
    for (const auto type : {at::kDouble, at::kFloat}) {
      const Tensors own = run_losses(test.own, test.inputs[0], type);
      const Tensors plain = run_losses(test.plain, test.inputs[0], at::kDouble);
      const double tolerance = type == at::kDouble ? 1e-6 : 1e-4;
      for (std::size_t i = 0; i < own.size(); ++i)
        EXPECT_TRUE(at::allclose(own[i].to(at::kDouble), plain[i], tolerance, tolerance))
            << test.name << " #" << i << " " << type;
      EXPECT_EQ(own[0].scalar_type(), type);
    }
}

TEST(ChosenLosses, HaveSecondDerivatives) {
  for (const FusedCase& test : testing::chosen_cases()) {
    const Tensors wide{test.inputs[0].to(at::kDouble)};
    const Tensors own = testing::leaves_of(wide), plain = testing::leaves_of(wide);
    testing::with_penalty(test.own, own).backward();
    testing::with_penalty(test.plain, plain).backward();
    EXPECT_TRUE(at::allclose(own[0].grad(), plain[0].grad(), 1e-5, 1e-5)) << test.name;
  }
}

TEST(ChosenLosses, InLowPrecisionAreF32) {
  const at::Tensor question = at::tensor({0, 1}, at::kLong);
  const at::Tensor found = chosen_squares(at::ones({2, 2}, at::kBFloat16), question,
                                          at::tensor({0.F, 3.F}), at::tensor({1.F, 0.5F}));
  EXPECT_EQ(found.scalar_type(), at::kFloat);
  EXPECT_TRUE(found.equal(at::tensor({1.F, 2.F})));
}

TEST(ChosenLosses, OfNoRowsAre0) {
  const at::Tensor none = at::ones({0}, at::kLong);
  EXPECT_TRUE(chosen_cross_entropy(at::ones({0, 2, 3, 4}), none, at::ones({0, 3}, at::kLong),
                                   at::ones({0, 3}))
                  .equal(at::tensor({0.F, 0.F})));
  EXPECT_TRUE(chosen_squares(at::ones({0, 1}), none, at::ones({0}), at::ones({0}))
                  .equal(at::tensor({0.F})));
}

TEST(ChosenLosses, RefuseOtherShapesAndTypesByName) {
  const at::Tensor logits = at::ones({3, 2, 1, 4}), question = at::ones({3}, at::kLong);
  const at::Tensor targets = at::ones({3, 1}, at::kLong), weights = at::ones({3, 1});
  EXPECT_THAT(error_of([&] { chosen_cross_entropy(logits[0], question, targets, weights); }),
              HasSubstr("logits of [N, Q, M, C]"));
  EXPECT_THAT(error_of([&] { chosen_cross_entropy(logits, question[0], targets, weights); }),
              HasSubstr("a question per row, i64 [3]"));
  EXPECT_THAT(error_of([&] { chosen_cross_entropy(logits, question, weights, weights); }),
              HasSubstr("targets of Long [3, 1]"));
  EXPECT_THAT(error_of([&] { chosen_cross_entropy(logits, question, targets, weights[0]); }),
              HasSubstr("weights of Float [3, 1]"));
  EXPECT_THAT(error_of([&] { chosen_squares(logits, question, targets, weights); }),
              HasSubstr("floating [N, Q]"));
  EXPECT_ANY_THROW(chosen_cross_entropy(logits, question, targets * 4, weights));
}

}  // namespace
}  // namespace lockstep
