// Draws uniform numbers by the implementation for the device.
#include "ops/uniform/uniform.h"

#include "core/base/check.h"
#include "ops/philox/philox_inline.h"
#include "ops/philox/philox_lanes.h"
#include "ops/philox/philox_tensors.h"
#include "ops/shared/kernel_arguments.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <atomic>

namespace lockstep {
namespace {

std::atomic<UniformKernel> cuda_uniform = nullptr;

at::Tensor empty_rows(std::int64_t rows, std::int64_t n, const at::Tensor& counters) {
  return at::empty({rows, n}, counters.options().dtype(at::kFloat));
}

at::Tensor uniform_cpu(std::int64_t rows, std::int64_t n, const at::Tensor& counters,
                       std::int64_t layer) {
  at::Tensor result = empty_rows(rows, n, counters);
  float* to = result.mutable_data_ptr<float>();
  const std::int64_t* facts = counters.const_data_ptr<std::int64_t>();
  std::uint32_t words[4 * philox_lanes];
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t begin = 0; begin < n; begin += 4 * philox_lanes) {
      draw_row_words(begin / 4, facts[2] + row, facts[1], layer, uniform_key(facts[0]), words);
      const std::int64_t count = std::min(4 * philox_lanes, n - begin);
      for (std::int64_t i = 0; i < count; ++i) to[row * n + begin + i] = uniform_of(words[i]);
    }
  return result;
}

at::Tensor uniform_kernel(UniformKernel kernel, std::int64_t rows, std::int64_t n,
                          const at::Tensor& counters, std::int64_t layer) {
  at::Tensor result = empty_rows(rows, n, counters);
  if (result.numel() == 0) return result;
  kernel({.numbers = result.mutable_data_ptr<float>(),
          .counters = counters.const_data_ptr<std::int64_t>(),
          .rows = rows,
          .row_numbers = n,
          .layer = layer});
  return result;
}

}  // namespace

at::Tensor uniform_reference(std::int64_t rows, std::int64_t n, const at::Tensor& counters,
                             std::int64_t layer) {
  return philox_rows(rows, n, counters, layer, counters.select(0, 0).mul(2))
      .bitwise_right_shift(8)
      .to(at::kFloat)
      .mul(5.9604644775390625e-08);
}

at::Tensor uniform(std::int64_t rows, std::int64_t n, const at::Tensor& counters,
                   std::int64_t layer) {
  LOCKSTEP_CHECK(rows >= 0 && n >= 0);
  LOCKSTEP_CHECK(counters.scalar_type() == at::kLong && counters.numel() == 3);
  const at::Tensor facts = counters.contiguous();
  if (facts.is_cpu()) return uniform_cpu(rows, n, facts, layer);
  const UniformKernel kernel = cuda_uniform;
  if (facts.is_cuda() && kernel != nullptr) return uniform_kernel(kernel, rows, n, facts, layer);
  return uniform_reference(rows, n, facts, layer);
}

void register_cuda_uniform(UniformKernel kernel) { cuda_uniform = kernel; }

}  // namespace lockstep
