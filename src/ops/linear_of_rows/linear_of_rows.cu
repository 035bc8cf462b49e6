// A linear layer with few outputs, applied to few rows. A library's matrix product would be
// inefficient for it.
#include "ops/linear_of_rows/linear_of_rows_launch.h"
#include "ops/shared/device/device_assert.cuh"
#include "ops/shared/device/element.cuh"

#include <climits>

namespace lockstep {
namespace {

constexpr int threads = 256, warps = threads / 32;

__device__ std::int64_t row_at(const HeadArguments& shared, std::int64_t place) {
  const std::int64_t row = shared.rows[place];
  LOCKSTEP_DEVICE_ASSERT(row >= 0 && row < shared.all && "rows are there");
  return row;
}

// A warp computes one result.
template <class T>
__global__ void __launch_bounds__(threads) forward_kernel(HeadForward launch) {
  const HeadArguments& shared = launch.shared;
  const std::int64_t result = static_cast<std::int64_t>(blockIdx.x) * warps + threadIdx.x / 32;
  if (result >= shared.count * shared.outputs) return;
  const std::int64_t output = result % shared.outputs;
  const T* const row =
      static_cast<const T*>(shared.hidden) + row_at(shared, result / shared.outputs) * shared.width;
  const T* const weight = static_cast<const T*>(shared.weight) + output * shared.width;
  float sum = 0;
#pragma unroll 4
  for (std::int64_t column = threadIdx.x % 32 * 8; column < shared.width; column += 32 * 8) {
    float x[8], w[8];
    load_eight(row + column, x);
    load_eight(weight + column, w);
#pragma unroll
    for (int k = 0; k < 8; ++k) sum += x[k] * w[k];
  }
  sum = warp_sum(sum);
  if (threadIdx.x % 32 != 0) return;
  if (launch.bias != nullptr) sum += to_float(static_cast<const T*>(launch.bias)[output]);
  static_cast<T*>(launch.out)[result] = from_float<T>(sum);
}

// A warp handles one row of `hidden`. Only few of these rows were inputs of the layer.
template <class T>
__global__ void __launch_bounds__(threads) of_hidden_kernel(HeadBackward launch) {
  const HeadArguments& shared = launch.shared;
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * warps + threadIdx.x / 32;
  if (row >= shared.all) return;
  const int lane = threadIdx.x % 32;
  const auto* const of_out = static_cast<const T*>(launch.of_out);
  for (std::int64_t begin = 0; begin < shared.width; begin += 32 * 8) {
    const std::int64_t column = begin + lane * 8;
    const bool is_inside = column < shared.width;
    float sum[8] = {};
    if (is_inside && launch.other != nullptr)
      load_eight(static_cast<const T*>(launch.other) + row * shared.width + column, sum);
    for (std::int64_t first = 0; first < shared.count; first += 32) {
      const std::int64_t own = first + lane;
      unsigned found = __ballot_sync(0xffffffffU, own < shared.count && shared.rows[own] == row);
      for (; found != 0; found &= found - 1) {
        const std::int64_t place = first + __ffs(static_cast<int>(found)) - 1;
        for (std::int64_t output = 0; output < shared.outputs && is_inside; ++output) {
          const float factor = to_float(of_out[place * shared.outputs + output]);
          float w[8];
          load_eight(static_cast<const T*>(shared.weight) + output * shared.width + column, w);
#pragma unroll
          for (int k = 0; k < 8; ++k) sum[k] += factor * w[k];
        }
      }
    }
    if (is_inside)
      store_eight(sum, static_cast<T*>(launch.of_hidden) + row * shared.width + column);
  }
}

// A thread handles eight columns of an output's weights. The first thread of an output also handles
// its bias.
template <class T>
__global__ void __launch_bounds__(threads) of_weight_kernel(HeadBackward launch) {
  const HeadArguments& shared = launch.shared;
  const std::int64_t in_row = shared.width / 8;
  const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  const std::int64_t output = index / in_row, column = index % in_row * 8;
  if (output >= shared.outputs) return;
  float sum[8] = {}, of_bias = 0;
#pragma unroll 4
  for (std::int64_t place = 0; place < shared.count; ++place) {
    const float factor =
        to_float(static_cast<const T*>(launch.of_out)[place * shared.outputs + output]);
    of_bias += factor;
    float x[8];
    load_eight(static_cast<const T*>(shared.hidden) + row_at(shared, place) * shared.width + column,
               x);
#pragma unroll
    for (int k = 0; k < 8; ++k) sum[k] += factor * x[k];
  }
  if (launch.of_weight != nullptr) {
    float* const into = launch.of_weight + output * shared.width + column;
#pragma unroll
    for (int k = 0; k < 8; ++k) into[k] += sum[k];
  }
  if (column == 0 && launch.of_bias != nullptr) launch.of_bias[output] += of_bias;
}

// Calls function(element, blocks) with an element of the type, and enough blocks for `needed`
// threads.
template <class Function>
cudaError_t launch_for(KernelDtype dtype, std::int64_t needed, const Function& function) {
  const std::int64_t blocks = (needed + threads - 1) / threads;
  if (blocks > INT_MAX) return cudaErrorInvalidConfiguration;
  return with_type(dtype, [&](auto element) {
    function(element, static_cast<unsigned>(blocks));
    return cudaGetLastError();
  });
}

}  // namespace

cudaError_t launch_head_forward(const HeadForward& launch, cudaStream_t stream) {
  const HeadArguments& shared = launch.shared;
  return launch_for(shared.dtype, 32 * shared.count * shared.outputs,
                    [&](auto element, unsigned blocks) {
                      forward_kernel<decltype(element)><<<blocks, threads, 0, stream>>>(launch);
                    });
}

cudaError_t launch_head_of_hidden(const HeadBackward& launch, cudaStream_t stream) {
  return launch_for(launch.shared.dtype, 32 * launch.shared.all,
                    [&](auto element, unsigned blocks) {
                      of_hidden_kernel<decltype(element)><<<blocks, threads, 0, stream>>>(launch);
                    });
}

cudaError_t launch_head_of_weight(const HeadBackward& launch, cudaStream_t stream) {
  const HeadArguments& shared = launch.shared;
  return launch_for(shared.dtype, shared.outputs * shared.width / 8,
                    [&](auto element, unsigned blocks) {
                      of_weight_kernel<decltype(element)><<<blocks, threads, 0, stream>>>(launch);
                    });
}

}  // namespace lockstep
