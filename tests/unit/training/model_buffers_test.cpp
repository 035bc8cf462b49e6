// A model's buffers beside their average: infinite numbers, as in the mask of attention, are no
// fault.
#include "training/update/model_buffers.h"

#include <gtest/gtest.h>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>

#include <cmath>

namespace lockstep {
namespace {

TEST(ModelBuffers, KeepInfiniteNumbersInAnAverage) {
  const at::Tensor mask = at::tensor({0.0F, -INFINITY, INFINITY}), mean = at::tensor({1.0F, 1.0F});
  ModelBuffers buffers({{"mask", mask}, {"mean", mean}}, at::kCPU);
  const std::vector<at::Tensor> copies = buffers.copies();
  buffers.tensors()[1].tensor.fill_(3);
  buffers.follow(copies, at::full({}, 0.5));
  const std::vector<NamedTensor> average = buffers.named(copies);
  ASSERT_EQ(average.size(), 2U);
  EXPECT_TRUE(average[0].tensor.equal(mask));
  EXPECT_TRUE(average[1].tensor.equal(at::tensor({2.0F, 2.0F})));
}

TEST(ModelBuffers, NameTheOneThatIsNotFiniteAnyMore) {
  ModelBuffers buffers({{"mask", at::tensor({0.0F, -INFINITY})}, {"mean", at::tensor({1.0F})}},
                       at::kCPU);
  EXPECT_EQ(buffers.not_finite(), "");
  buffers.tensors()[1].tensor.fill_(NAN);
  EXPECT_EQ(buffers.not_finite(), "mean");
  buffers.tensors()[1].tensor.fill_(1);
  buffers.tensors()[0].tensor.fill_(NAN);
  EXPECT_EQ(buffers.not_finite(), "mask");
}

}  // namespace
}  // namespace lockstep
