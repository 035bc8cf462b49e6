// Residual sum and layer norm. A warp handles a row and keeps it in registers.
#include "ops/dropout/dropped.cuh"
#include "ops/layer_norm/layer_norm_launch.h"

#include <type_traits>

namespace lockstep {
namespace {

constexpr int warps = 8;

// A lane has `vectors` groups of eight columns, which are 256 columns apart.
__device__ inline int column_of(int lane, int vector) { return (vector * 32 + lane) * 8; }

// A row's vectors as stored in memory. All of them are loaded before the first is used.
template <class T, int vectors>
struct Packed {
  Eight<T> vector[vectors];

  __device__ void load(const void* from, std::int64_t first, int lane, int width) {
#pragma unroll
    for (int v = 0; v < vectors; ++v) load_one(v, from, first, lane, width);
  }
  __device__ void load_one(int v, const void* from, std::int64_t first, int lane, int width) {
    if (column_of(lane, v) < width)
      vector[v] = *reinterpret_cast<const Eight<T>*>(static_cast<const T*>(from) + first +
                                                     column_of(lane, v));
  }
  __device__ float at(int v, int k) const { return to_float(vector[v].value[k]); }
  // Makes the compiler discard the values that it has unpacked. Otherwise it would keep them in
  // registers until their second use, and spill.
  __device__ void forget_unpacked() {
#pragma unroll
    for (int v = 0; v < vectors; ++v) {
      auto* const words = reinterpret_cast<unsigned*>(&vector[v]);
#pragma unroll
      for (std::size_t i = 0; i < sizeof(Eight<T>) / 4; ++i) asm volatile("" : "+r"(words[i]));
    }
  }
};

// With few rows, a kernel takes as long as its memory accesses take. So all data of a row is
// requested before any of it is used. With many rows, the registers are better used for more warps.
constexpr std::int64_t few_rows = 132 * warps;  // one block per multiprocessor of an H200
template <class T, int vectors>
constexpr bool has_registers = sizeof(T) * vectors <= 8;

template <class T, int vectors, bool has_dropout, bool few>
__global__ void __launch_bounds__(warps * 32) forward_kernel(LayerNormForward launch) {
  const int lane = threadIdx.x % 32;
  const std::int64_t row =
      static_cast<std::int64_t>(blockIdx.x) * (blockDim.x / 32) + threadIdx.x / 32;
  if (row >= launch.rows) return;
  const int width = static_cast<int>(launch.width);
  const std::int64_t first = row * width;
  const bool has_branch = launch.branch != nullptr, has_bias = launch.bias != nullptr;
  Packed<T, vectors> from, branch, weight, bias;
  DroppedItem dropped;
  if constexpr (few) {
    from.load(launch.x, first, lane, width);
    if (has_branch) branch.load(launch.branch, first, lane, width);
    weight.load(launch.weight, 0, lane, width);
    if (has_bias) bias.load(launch.bias, 0, lane, width);
    if constexpr (has_dropout) dropped = DroppedItem(launch.dropout, row, width);
  }
  float x[vectors][8];
  float total = 0;
#pragma unroll
  for (int v = 0; v < vectors; ++v) {
    const int column = column_of(lane, v);
    if (column >= width) continue;
    if constexpr (!few) from.load_one(v, launch.x, first, lane, width);
#pragma unroll
    for (int k = 0; k < 8; ++k) x[v][k] = from.at(v, k);
    if (has_branch) {
      if constexpr (!few) branch.load_one(v, launch.branch, first, lane, width);
      float added[8];
#pragma unroll
      for (int k = 0; k < 8; ++k) added[k] = branch.at(v, k);
      if constexpr (has_dropout) {
        if constexpr (!few) dropped = DroppedItem(launch.dropout, row, width);
        dropped.drop<T>(launch.dropout, added, column);
      }
#pragma unroll
      for (int k = 0; k < 8; ++k) x[v][k] = to_float(from_float<T>(x[v][k] + added[k]));
      store_eight(x[v], static_cast<T*>(launch.sum) + first + column);
    }
#pragma unroll
    for (int k = 0; k < 8; ++k) total += x[v][k];
  }
  const float mean = warp_sum(total) / static_cast<float>(width);
  float squares = 0;
#pragma unroll
  for (int v = 0; v < vectors; ++v) {
    if (column_of(lane, v) >= width) continue;
#pragma unroll
    for (int k = 0; k < 8; ++k) squares += (x[v][k] - mean) * (x[v][k] - mean);
  }
  const float inverse = rsqrtf(warp_sum(squares) / static_cast<float>(width) + launch.epsilon);
  if (lane == 0) {
    launch.mean[row] = mean;
    launch.inverse_deviation[row] = inverse;
  }
#pragma unroll
  for (int v = 0; v < vectors; ++v) {
    const int column = column_of(lane, v);
    if (column >= width) continue;
    if constexpr (!few) {
      weight.load_one(v, launch.weight, 0, lane, width);
      if (has_bias) bias.load_one(v, launch.bias, 0, lane, width);
    }
#pragma unroll
    for (int k = 0; k < 8; ++k)
      // the same expression in every variant
      x[v][k] = fmaf((x[v][k] - mean) * inverse, weight.at(v, k), has_bias ? bias.at(v, k) : 0.0F);
    store_eight(x[v], static_cast<T*>(launch.normed) + first + column);
  }
}

// Adds up the warps' values into out [width], one warp after another. shares:
// [warps][shared_columns].
constexpr int shared_columns = 1024;

template <int vectors>
__device__ void add_warps(const float (&values)[vectors][8], float* shares, float* out, int width) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
  for (int v = 0; v < vectors; v += shared_columns / 256) {
    const int first = v * 256, count = min(width - first, shared_columns);
    if (count <= 0) break;
    __syncthreads();
#pragma unroll
    for (int w = v; w < min(v + shared_columns / 256, vectors); ++w) {
      const int column = column_of(lane, w);
      if (column < width) store_eight(values[w], shares + warp * shared_columns + column - first);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < count; i += warps * 32) {
      float sum = 0;
#pragma unroll
      for (int w = 0; w < warps; ++w) sum += shares[w * shared_columns + i];
      out[first + i] = sum;
    }
  }
}

// Each warp handles every (blocks * warps)-th row, and sums its share of the gradients of weight
// and bias in registers. The block then adds up its warps' shares in order. If registers suffice
// and there are many rows, two blocks run per multiprocessor. With three, values would spill and
// the kernel would take twice as long.
template <class T, int vectors, bool has_bias, bool has_dropout, bool few>
__global__ void __launch_bounds__(warps * 32, sizeof(T) == 2 && vectors <= 3 && !few ? 2 : 1)
    backward_kernel(LayerNormBackward launch) {
  __shared__ float shares[warps * shared_columns];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int width = static_cast<int>(launch.width);
  const float one_over_width = 1.0F / static_cast<float>(width);
  float of_weight[vectors][8] = {}, of_bias[has_bias ? vectors : 1][8] = {};
  Packed<T, vectors> weight;
  weight.load(launch.weight, 0, lane, width);
  const std::int64_t stride = launch.blocks * warps;
  for (std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * warps + warp; row < launch.rows;
       row += stride) {
    const std::int64_t first = row * width;
    Packed<T, vectors> sum, of_normed, of_sum;
    sum.load(launch.sum, first, lane, width);
    of_normed.load(launch.of_normed, first, lane, width);
    if (launch.of_sum != nullptr) of_sum.load(launch.of_sum, first, lane, width);
    DroppedItem dropped;
    if constexpr (has_dropout && few) dropped = DroppedItem(launch.dropout, row, width);
    const float mean = launch.mean[row], inverse = launch.inverse_deviation[row];
    float of_mean = 0, of_deviation = 0;
#pragma unroll
    for (int v = 0; v < vectors; ++v) {
      if (column_of(lane, v) >= width) continue;
#pragma unroll
      for (int k = 0; k < 8; ++k) {
        const float normed = (sum.at(v, k) - mean) * inverse, up = of_normed.at(v, k);
        of_weight[v][k] += up * normed;
        if constexpr (has_bias) of_bias[v][k] += up;
        of_mean += up * weight.at(v, k);
        of_deviation += up * weight.at(v, k) * normed;
      }
    }
    sum.forget_unpacked();
    of_normed.forget_unpacked();
    weight.forget_unpacked();
    of_mean = warp_sum(of_mean) * one_over_width;
    of_deviation = warp_sum(of_deviation) * one_over_width;
#pragma unroll
    for (int v = 0; v < vectors; ++v) {
      if (column_of(lane, v) >= width) continue;
      float of_x[8];
#pragma unroll
      for (int k = 0; k < 8; ++k) {
        const float normed = (sum.at(v, k) - mean) * inverse;
        const float gradient = of_normed.at(v, k) * weight.at(v, k);
        of_x[k] = (gradient - of_mean - normed * of_deviation) * inverse;
        if (launch.of_sum != nullptr) of_x[k] += of_sum.at(v, k);
      }
      store_eight(of_x, static_cast<T*>(launch.of_x) + first + column_of(lane, v));
      if constexpr (has_dropout) {
        if constexpr (!few) dropped = DroppedItem(launch.dropout, row, width);
        dropped.drop<T>(launch.dropout, of_x, column_of(lane, v));
        store_eight(of_x, static_cast<T*>(launch.of_branch) + first + column_of(lane, v));
      }
    }
  }
  float* const partial = launch.partial + static_cast<std::int64_t>(blockIdx.x) * 2 * width;
  add_warps(of_weight, shares, partial, width);
  if constexpr (has_bias) add_warps(of_bias, shares, partial + width, width);
}

// A block with 32 columns and 32 rows of threads adds up the shares of all blocks.
constexpr int share_rows = 32;

__global__ void add_shares_kernel(LayerNormBackward launch) {
  __shared__ float shares[share_rows][33];
  const std::int64_t both = 2 * launch.width;
  const std::int64_t used = launch.of_bias == nullptr ? launch.width : both;
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * 32 + threadIdx.x;
  float sum = 0;
  if (column < used) {
#pragma unroll 8
    for (std::int64_t block = threadIdx.y; block < launch.blocks; block += share_rows)
      sum += launch.partial[block * both + column];
  }
  shares[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y != 0 || column >= used) return;
#pragma unroll
  for (int i = 1; i < share_rows; ++i) sum += shares[i][threadIdx.x];
  if (column < launch.width)
    launch.of_weight[column] += sum;
  else
    launch.of_bias[column - launch.width] += sum;
}

// Calls `function` with a type that tells whether there are few rows.
template <class T, int vectors, class Function>
void with_few(std::int64_t rows, const Function& function) {
  if constexpr (has_registers<T, vectors>)
    if (rows <= few_rows) return function(std::true_type());
  function(std::false_type());
}

template <class T, int vectors>
cudaError_t launch_forward(const LayerNormForward& launch, cudaStream_t stream) {
  with_few<T, vectors>(launch.rows, [&](auto few) {
    const int own = few ? 2 : warps;  // few rows are spread over all multiprocessors
    const auto blocks = static_cast<unsigned>((launch.rows + own - 1) / own);
    const auto run = [&](auto kernel) { kernel<<<blocks, own * 32, 0, stream>>>(launch); };
    if (launch.dropout.counters != nullptr)
      run(forward_kernel<T, vectors, true, few.value>);
    else
      run(forward_kernel<T, vectors, false, few.value>);
  });
  return cudaGetLastError();
}

template <class T, int vectors>
cudaError_t launch_backward(const LayerNormBackward& launch, cudaStream_t stream) {
  const auto blocks_of_rows = static_cast<unsigned>(launch.blocks);
  const auto run = [&](auto kernel) { kernel<<<blocks_of_rows, warps * 32, 0, stream>>>(launch); };
  with_few<T, vectors>(launch.rows, [&](auto few) {
    if (launch.of_branch != nullptr)
      launch.of_bias == nullptr ? run(backward_kernel<T, vectors, false, true, few.value>)
                                : run(backward_kernel<T, vectors, true, true, few.value>);
    else
      launch.of_bias == nullptr ? run(backward_kernel<T, vectors, false, false, few.value>)
                                : run(backward_kernel<T, vectors, true, false, few.value>);
  });
  return cudaGetLastError();
}

// Calls `function` with the number of vectors per lane as a type.
template <int n>
struct Count {
  static constexpr int value = n;
};
template <class Function>
cudaError_t with_vectors(std::int64_t width, const Function& function) {
  if (width <= 256) return function(Count<1>());
  if (width <= 512) return function(Count<2>());
  if (width <= 768) return function(Count<3>());
  if (width <= 1024) return function(Count<4>());
  if (width <= 1536) return function(Count<6>());
  if (width <= 2048) return function(Count<8>());
  return cudaErrorInvalidValue;
}

}  // namespace

cudaError_t launch_layer_norm_forward(const LayerNormForward& launch, cudaStream_t stream) {
  if (launch.rows == 0) return cudaSuccess;
  return with_type(launch.dtype, [&](auto element) {
    return with_vectors(launch.width, [&](auto count) {
      return launch_forward<decltype(element), decltype(count)::value>(launch, stream);
    });
  });
}

cudaError_t launch_layer_norm_backward(const LayerNormBackward& launch, cudaStream_t stream) {
  if (launch.rows == 0) return cudaSuccess;
  return with_type(launch.dtype, [&](auto element) {
    return with_vectors(launch.width, [&](auto count) {
      return launch_backward<decltype(element), decltype(count)::value>(launch, stream);
    });
  });
}

cudaError_t launch_layer_norm_shares(const LayerNormBackward& launch, cudaStream_t stream) {
  if (launch.rows == 0) return cudaSuccess;
  const std::int64_t columns = launch.of_bias == nullptr ? launch.width : 2 * launch.width;
  const auto blocks = static_cast<unsigned>((columns + 31) / 32);
  add_shares_kernel<<<blocks, dim3(32, share_rows), 0, stream>>>(launch);
  return cudaGetLastError();
}

}  // namespace lockstep
