// Uniform numbers and what is made of them, on the GPU as on the CPU.
#include "gpu/gpu_fixture.h"
#include "ops/augment/augment.h"
#include "ops/uniform/uniform.h"
#include "training/recipe/recipe.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>

#include <memory>

namespace lockstep {
namespace {

using UniformOnGpu = GpuTest;

at::Tensor facts(std::int64_t seed, std::int64_t step, std::int64_t first_global_row) {
  return at::tensor({seed, step, first_global_row}, at::kLong);
}

TEST_F(UniformOnGpu, EqualsTheCpuBitForBit) {
  for (const at::Tensor& known : {facts(0, 0, 0), facts(42, 1000, (std::int64_t{1} << 32) - 1),
                                  facts(-5, 7, 3), facts(std::int64_t{1} << 62, 1, 1)})
    for (const std::int64_t rows : {0, 1, 5, 70000})
      for (const std::int64_t n : {0, 1, 3, 4, 5, 129, 1000}) {
        if (rows * n > 10000000) continue;
        const at::Tensor here = known.to(gpu().device());
        const at::Tensor cpu = uniform(rows, n, known, 9);
        EXPECT_TRUE(uniform(rows, n, here, 9).cpu().equal(cpu)) << rows << " " << n;
        EXPECT_TRUE(uniform_reference(rows, n, here, 9).cpu().equal(cpu)) << rows << " " << n;
      }
}

TEST_F(UniformOnGpu, InAGraphFollowsTheCounters) {
  const at::Tensor known = facts(1, 2, 3).to(gpu().device());
  StepContext context;
  context.device = gpu().device();
  context.counters = known;
  at::Tensor drawn = context.uniform(4, 7, 5);
  const auto graph = gpu().capture([&] { drawn = context.uniform(4, 7, 5); });
  for (const std::int64_t step : {2, 3, 11}) {
    known.copy_(facts(1, step, 8));
    graph->replay();
    EXPECT_TRUE(drawn.cpu().equal(uniform(4, 7, facts(1, step, 8), 5))) << step;
  }
}

TEST_F(UniformOnGpu, FlipsAsOnTheCpuAndKeepsChannelsLast) {
  const at::Tensor x = at::randn({3, 2, 4, 5, 6}).contiguous(at::MemoryFormat::ChannelsLast3d);
  const at::Tensor numbers = uniform(3, 3, facts(4, 5, 6), 7);
  const at::Tensor flipped = flip_rows(x.to(gpu().device()), {2, 3, 4}, numbers.to(gpu().device()));
  EXPECT_TRUE(flipped.is_contiguous(at::MemoryFormat::ChannelsLast3d));
  EXPECT_TRUE(flipped.cpu().equal(flip_rows(x, {2, 3, 4}, numbers)));
}

}  // namespace
}  // namespace lockstep
