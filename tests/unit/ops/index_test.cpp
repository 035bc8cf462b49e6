// Targets and tokens at and beyond the ends of their tables, and logits that are not finite.
#include "fakes/error_of.h"
#include "ops/cross_entropy/cross_entropy.h"
#include "ops/embedding/embedding.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/full.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <limits>
#include <string>

namespace lockstep {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

at::Tensor longs(std::initializer_list<std::int64_t> values) {
  return at::tensor(at::ArrayRef<std::int64_t>(values), at::kLong);
}

TEST(CrossEntropyTargets, AreRefusedOnceTheyAreNoClass) {
  const at::Tensor scale = at::full({}, 1.0);
  for (const std::int64_t wrong : {8, 9, 1 << 20}) {
    at::Tensor logits = at::randn({3, 8});
    const std::string error = error_of([&] {
      cross_entropy_in_place(logits, longs({0, wrong, 3}), scale);
    });
    EXPECT_NE(
        error.find("targets of the loss must be below 8, but one is " + std::to_string(wrong)),
        std::string::npos)
        << error;
  }
  at::Tensor logits = at::randn({4, 8});
  const at::Tensor losses = cross_entropy_in_place(logits, longs({7, 0, -1, -100}), scale);
  EXPECT_TRUE(losses.narrow(0, 2, 2).eq(0).all().item<bool>());
  EXPECT_TRUE(losses.narrow(0, 0, 2).gt(0).all().item<bool>());
}

TEST(EmbeddingTokens, AreRefusedOnceTheyAreNoRow) {
  const at::Tensor weight = at::randn({5, 4}), positions = at::randn({3, 4});
  for (const std::int64_t wrong : {-1, 5}) {
    const std::string error = error_of([&] {
      embed_tokens(longs({0, 4, wrong}).view({1, 3}), weight, positions);
    });
    EXPECT_NE(
        error.find("tokens must be at least 0 and below 5, but one is " + std::to_string(wrong)),
        std::string::npos)
        << error;
  }
  EXPECT_NO_THROW(embed_tokens(longs({0, 4, 2}).view({1, 3}), weight, positions));
}

TEST(CrossEntropy, OfARowThatBeginsWithMinusInfinityIsThatOfTheOthers) {
  at::Tensor logits = at::randn({2, 12});
  logits.narrow(1, 0, 9).fill_(-infinite);
  const at::Tensor exact = at::log_softmax(logits.narrow(1, 9, 3), -1);
  const at::Tensor losses = cross_entropy_in_place(logits, longs({10, 11}), at::full({}, 2.0));
  EXPECT_NEAR(losses[0].item<double>(), -exact[0][1].item<double>(), 1e-5);
  EXPECT_NEAR(losses[1].item<double>(), -exact[1][2].item<double>(), 1e-5);
  EXPECT_TRUE(logits.narrow(1, 0, 9).eq(0).all().item<bool>());
  EXPECT_TRUE(logits.isfinite().all().item<bool>());
  EXPECT_NEAR(logits[0].sum().item<double>(), 0, 1e-5);
}

TEST(CrossEntropy, OfARowThatDoesNotCountIsZeroWhateverItHolds) {
  at::Tensor logits = at::randn({3, 8});
  logits[0][0] = -infinite;
  logits[1].fill_(NAN);
  const at::Tensor losses = cross_entropy_in_place(logits, longs({-1, -100, 2}), at::full({}, 1.0));
  EXPECT_TRUE(losses.narrow(0, 0, 2).eq(0).all().item<bool>()) << losses;
  EXPECT_TRUE(logits.narrow(0, 0, 2).eq(0).all().item<bool>()) << logits;
  EXPECT_TRUE(losses.isfinite().all().item<bool>());
}

}  // namespace
}  // namespace lockstep
