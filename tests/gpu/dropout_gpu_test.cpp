#include "gpu/gpu_fixture.h"
#include "ops/dropout/dropout.h"
#include "ops/dropout/dropout_paths.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/linspace.h>
#include <ATen/ops/tensor.h>

#include <vector>

namespace lockstep {
namespace {

using DropoutOnGpu = GpuTest;

at::Tensor counters(std::int64_t seed, std::int64_t step, std::int64_t first_global_row) {
  return at::tensor({seed, step, first_global_row}, at::kLong);
}

at::Tensor values(at::IntArrayRef sizes, at::ScalarType dtype) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  return at::linspace(-3, 5, count, at::kDouble).view(sizes).to(dtype);
}

bool same_bits(const at::Tensor& a, const at::Tensor& b) {
  return a.view({-1}).view(at::kByte).equal(b.cpu().view({-1}).view(at::kByte));
}

const std::vector<std::vector<std::int64_t>> shapes = {
    {1},     {3},        {1, 1},      {2, 3},     {3, 4},         {5, 63},      {5, 64},
    {5, 65}, {2, 13, 3}, {1, 100000}, {70000, 2}, {16, 512, 384}, {3, 2000003}, {1000, 1001}};

TEST_F(DropoutOnGpu, EqualsTheCpuBitForBit) {
  const std::vector<at::Tensor> facts = {counters(0, 0, 0),
                                         counters(42, 1000, (std::int64_t{1} << 32) - 1),
                                         counters(std::int64_t{-5}, 7, 3)};
  for (const auto dtype : {at::kFloat, at::kBFloat16, at::kHalf})
    for (const auto& shape : shapes)
      for (const at::Tensor& fact : facts)
        for (const double p : {0.1, 0.5, 1.0}) {
          const at::Tensor x = values(shape, dtype);
          const at::Tensor y = dropout(x.to(gpu().device()), p, fact.to(gpu().device()), 5);
          ASSERT_TRUE(same_bits(dropout_cpu(x, p, fact, 5), y)) << dtype << " " << x.sizes();
        }
}

TEST_F(DropoutOnGpu, ReferenceEqualsTheCpuBitForBit) {
  for (const auto dtype : {at::kFloat, at::kBFloat16, at::kHalf, at::kDouble})
    for (const auto& shape : {shapes[3], shapes[5], shapes[8], shapes[13]}) {
      const at::Tensor x = values(shape, dtype), fact = counters(42, 1000, 999);
      const at::Tensor y = dropout_reference(x.to(gpu().device()), 0.3, fact.to(gpu().device()), 5);
      ASSERT_TRUE(same_bits(dropout_cpu(x, 0.3, fact, 5), y)) << dtype << " " << x.sizes();
    }
}

TEST_F(DropoutOnGpu, TakesMemoryThatIsNotAlignedForVectors) {
  const at::Tensor all = values({8 * 12 + 1}, at::kBFloat16);
  const at::Tensor x = all.narrow(0, 1, 96).view({8, 12}), fact = counters(1, 2, 3);
  const at::Tensor on_gpu = all.to(gpu().device()).narrow(0, 1, 96).view({8, 12});
  EXPECT_TRUE(
      same_bits(dropout_cpu(x, 0.5, fact, 4), dropout(on_gpu, 0.5, fact.to(gpu().device()), 4)));
}

TEST_F(DropoutOnGpu, DependsOnNeitherRanksNorMicroBatch) {
  const at::Tensor x = values({12, 4096}, at::kFloat).to(gpu().device());
  const auto fact = [&](std::int64_t first) { return counters(7, 8, first).to(gpu().device()); };
  const at::Tensor whole = dropout(x, 0.4, fact(0), 1);
  for (const std::int64_t micro : {1, 3, 4}) {
    std::vector<at::Tensor> parts;
    for (std::int64_t first = 0; first < 12; first += micro)
      parts.push_back(dropout(x.narrow(0, first, micro), 0.4, fact(first), 1));
    EXPECT_TRUE(at::cat(parts).equal(whole)) << micro;
  }
}

TEST_F(DropoutOnGpu, GradientHasTheMaskOfTheForwardPass) {
  const at::Tensor host = values({6, 50}, at::kFloat), fact = counters(3, 4, 5);
  const at::Tensor x = host.to(gpu().device()).requires_grad_();
  const at::Tensor weight = host.flip(0);
  const at::Tensor y = dropout(x, 0.25, fact.to(gpu().device()), 6);
  y.mul(weight.to(gpu().device())).sum().backward();
  EXPECT_TRUE(same_bits(dropout_cpu(weight, 0.25, fact, 6), x.grad()));
}

TEST_F(DropoutOnGpu, OfRaggedRowsEqualsTheCpuBitForBit) {
  const at::Tensor offsets = at::tensor({0, 3, 3, 23, 150, 151, 151}, at::kLong);
  const at::Tensor fact = counters(42, 1000, (std::int64_t{1} << 32) - 2);
  for (const auto dtype : {at::kFloat, at::kBFloat16, at::kHalf})
    for (const std::int64_t width : {1, 2, 7, 64, 768})
      for (const double p : {0.1, 1.0}) {
        const at::Tensor x = values({170, width}, dtype), on_gpu = x.to(gpu().device());
        const at::Tensor there = offsets.to(gpu().device()), facts = fact.to(gpu().device());
        const at::Tensor expected = ragged_dropout_cpu(x, offsets, p, fact, 5);
        ASSERT_TRUE(same_bits(expected, ragged_dropout(on_gpu, there, p, facts, 5)))
            << dtype << " " << width << " " << p;
        ASSERT_TRUE(same_bits(expected, ragged_dropout_reference(on_gpu, there, p, facts, 5)))
            << dtype << " " << width << " " << p;
      }
}

TEST_F(DropoutOnGpu, OfRaggedRowsTakesMemoryThatIsNotAlignedForVectors) {
  const at::Tensor all = values({8 * 12 + 1}, at::kBFloat16), fact = counters(1, 2, 3);
  const at::Tensor offsets = at::tensor({0, 5, 7}, at::kLong);
  const at::Tensor x = all.narrow(0, 1, 96).view({8, 12});
  const at::Tensor on_gpu = all.to(gpu().device()).narrow(0, 1, 96).view({8, 12});
  EXPECT_TRUE(same_bits(
      ragged_dropout_cpu(x, offsets, 0.5, fact, 4),
      ragged_dropout(on_gpu, offsets.to(gpu().device()), 0.5, fact.to(gpu().device()), 4)));
}

}  // namespace
}  // namespace lockstep
