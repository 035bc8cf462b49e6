// Scales rows to a common length. A block handles a row.
#include "ops/shared/device/runs.cuh"
#include "ops/unit_rows/unit_rows_launch.h"

#include <climits>

namespace lockstep {
namespace {

constexpr int threads = 128, warps = threads / 32;

__global__ void __launch_bounds__(threads) unit_rows_kernel(UnitRows launch) {
  const std::int64_t first = blockIdx.x * launch.width;
  float squares = 0;
  for (std::int64_t i = threadIdx.x; i < launch.width; i += threads) {
    const float x = load_as(launch.x_dtype, launch.x, first + i);
    squares += x * x;
  }
  const float norm = sqrtf(block_sum<warps>(squares));
  const float divisor = norm < launch.least ? launch.least : norm;  // keeps NaN
  for (std::int64_t i = threadIdx.x; i < launch.width; i += threads)
    store_as(launch.y_dtype, load_as(launch.x_dtype, launch.x, first + i) / divisor * launch.length,
             launch.y, first + i);
  if (threadIdx.x == 0) launch.norm[blockIdx.x] = norm;
}

// The result is y = x / n × length. For a gradient g of y, the gradient of x is g × length / n. If
// n is the norm itself and not the minimum, the part of g along the row is removed first.
__global__ void __launch_bounds__(threads) unit_rows_gradient_kernel(UnitRows launch) {
  const std::int64_t first = blockIdx.x * launch.width;
  const float norm = launch.norm[blockIdx.x];
  const bool shorter = norm < launch.least;
  const float divisor = shorter ? launch.least : norm;
  float product = 0;
  if (!shorter)
    for (std::int64_t i = threadIdx.x; i < launch.width; i += threads)
      product += load_as(launch.y_dtype, launch.of_y, first + i) *
                 (load_as(launch.x_dtype, launch.x, first + i) / divisor);
  // The component of the gradient along the row's direction x / n.
  const float along = block_sum<warps>(product);
  for (std::int64_t i = threadIdx.x; i < launch.width; i += threads) {
    float gradient = load_as(launch.y_dtype, launch.of_y, first + i);
    if (!shorter) gradient -= along * (load_as(launch.x_dtype, launch.x, first + i) / divisor);
    store_as(launch.x_dtype, gradient * launch.length / divisor, launch.of_x, first + i);
  }
}

}  // namespace

cudaError_t launch_unit_rows_forward(const UnitRows& launch, cudaStream_t stream) {
  if (launch.rows == 0 || launch.rows > INT_MAX) return cudaErrorInvalidConfiguration;
  unit_rows_kernel<<<static_cast<unsigned>(launch.rows), threads, 0, stream>>>(launch);
  return cudaGetLastError();
}

cudaError_t launch_unit_rows_backward(const UnitRows& launch, cudaStream_t stream) {
  if (launch.rows == 0 || launch.rows > INT_MAX) return cudaErrorInvalidConfiguration;
  unit_rows_gradient_kernel<<<static_cast<unsigned>(launch.rows), threads, 0, stream>>>(launch);
  return cudaGetLastError();
}

}  // namespace lockstep
