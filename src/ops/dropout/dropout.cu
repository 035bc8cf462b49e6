// Dropout on the GPU. A thread draws the random words of four elements at a time. If rows allow it,
// it loads and stores these elements as one vector.
#include "ops/dropout/dropout_launch.h"
#include "ops/dropout/dropped.cuh"
#include "ops/shared/device/element.cuh"

namespace lockstep {
namespace {

constexpr int threads = 256;

template <class T>
struct alignas(4 * sizeof(T)) Quad {
  T value[4];
};

struct Facts {
  std::int64_t rows, row_elements, quads_per_row;
  std::int64_t row_stride, quad_stride;  // one grid stride = row_stride rows + quad_stride quads
  DropoutRule rule;
  float scale;
  const std::int64_t* counters;
  std::int64_t layer;
  const std::int64_t* offsets;  // set only for ragged rows, like `items`
  std::int64_t items;
};

// vector: whether row_elements is a multiple of four and both pointers are aligned to a Quad.
template <class T, bool vector>
__device__ void drop_quad(const T* x, T* y, std::int64_t row, std::int64_t quad,
                          const PhiloxWords& words, const Facts& facts) {
  const std::int64_t first = row * facts.row_elements + quad * 4;
  if constexpr (vector) {
    Quad<T> values = *reinterpret_cast<const Quad<T>*>(x + first);
#pragma unroll
    for (int i = 0; i < 4; ++i)
      values.value[i] = dropped(values.value[i], words.word[i], facts.rule.threshold, facts.scale);
    *reinterpret_cast<Quad<T>*>(y + first) = values;
  } else {
    const std::int64_t left = facts.row_elements - quad * 4;
#pragma unroll
    for (int i = 0; i < 4; ++i)
      if (i < left)
        y[first + i] = dropped(x[first + i], words.word[i], facts.rule.threshold, facts.scale);
  }
}

template <class T, bool vector>
__global__ void __launch_bounds__(threads) dropout_kernel(const T* x, T* y, Facts facts) {
  const std::int64_t seed = facts.counters[0], step = facts.counters[1];
  const std::int64_t first_global_row = facts.counters[2];
  const std::int64_t index = blockIdx.x * std::int64_t{threads} + threadIdx.x;
  std::int64_t row = index / facts.quads_per_row;
  std::int64_t quad = index - row * facts.quads_per_row;
  while (row < facts.rows) {
    drop_quad<T, vector>(x, y, row, quad,
                         dropout_words(quad, first_global_row + row, step, facts.layer, seed),
                         facts);
    row += facts.row_stride;
    quad += facts.quad_stride;
    if (quad >= facts.quads_per_row) {
      quad -= facts.quads_per_row;
      ++row;
    }
  }
}

// vector: whether each quad belongs to one item and is aligned. If not, a thread handles single
// elements.
template <class T, bool vector>
__global__ void __launch_bounds__(threads) ragged_kernel(const T* x, T* y, Facts facts) {
  const std::int64_t seed = facts.counters[0], step = facts.counters[1];
  const std::int64_t first_global_row = facts.counters[2];
  const std::int64_t used = facts.offsets[facts.rows];
  const std::int64_t in_item = vector ? facts.quads_per_row : facts.row_elements;
  const std::int64_t stride = std::int64_t{gridDim.x} * threads;
  for (std::int64_t index = blockIdx.x * std::int64_t{threads} + threadIdx.x;
       index < facts.items * in_item; index += stride) {
    const std::int64_t item = index / in_item;
    const bool is_used = item < used;
    const std::int64_t row = is_used ? row_of_item(facts.offsets, facts.rows, item) : 0;
    const std::int64_t in_row = index - facts.offsets[row] * in_item;
    const std::int64_t quad = vector ? in_row : in_row / 4;
    const PhiloxWords words = dropout_words(quad, first_global_row + row, step, facts.layer, seed);
    if constexpr (vector) {
      Quad<T> values = *reinterpret_cast<const Quad<T>*>(x + index * 4);
#pragma unroll
      for (int i = 0; i < 4; ++i)
        values.value[i] =
            is_used ? dropped(values.value[i], words.word[i], facts.rule.threshold, facts.scale)
                    : from_float<T>(0.0f);
      *reinterpret_cast<Quad<T>*>(y + index * 4) = values;
    } else {
      const int place = static_cast<int>(in_row % 4);
      const std::uint32_t word = place < 2 ? (place == 0 ? words.word[0] : words.word[1])
                                           : (place == 2 ? words.word[2] : words.word[3]);
      y[index] = is_used ? dropped(x[index], word, facts.rule.threshold, facts.scale)
                         : from_float<T>(0.0f);
    }
  }
}

// Enough blocks to fill the GPU several times, but not more than the work needs.
cudaError_t grid_size(std::int64_t quads, int& blocks) {
  static int processors = 0;  // a process has one GPU; racing threads store the same number
  if (processors == 0) {
    int device = 0;
    if (const cudaError_t error = cudaGetDevice(&device); error != cudaSuccess) return error;
    int count = 0;
    const cudaError_t error =
        cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
    if (error != cudaSuccess) return error;
    processors = count;
  }
  const std::int64_t wanted = (quads + threads - 1) / threads, most = std::int64_t{16} * processors;
  blocks = static_cast<int>(wanted < most ? wanted : most);
  return cudaSuccess;
}

template <class T>
bool vectors_fit(const DropoutLaunch& launch) {
  const auto aligned = [](const void* pointer) {
    return reinterpret_cast<std::uintptr_t>(pointer) % sizeof(Quad<T>) == 0;
  };
  return launch.row_elements % 4 == 0 && aligned(launch.x) && aligned(launch.y);
}

template <class T>
cudaError_t launch_typed(const DropoutLaunch& launch, cudaStream_t stream) {
  const std::int64_t quads_per_row = (launch.row_elements + 3) / 4;
  const bool ragged = launch.offsets != nullptr, vector = vectors_fit<T>(launch);
  const std::int64_t pieces = !ragged  ? launch.rows * quads_per_row
                              : vector ? launch.items * quads_per_row
                                       : launch.items * launch.row_elements;
  int blocks = 0;
  const cudaError_t error = grid_size(pieces, blocks);
  if (error != cudaSuccess) return error;
  const std::int64_t stride = std::int64_t{blocks} * threads;
  const Facts facts{.rows = launch.rows,
                    .row_elements = launch.row_elements,
                    .quads_per_row = quads_per_row,
                    .row_stride = stride / quads_per_row,
                    .quad_stride = stride % quads_per_row,
                    .rule = launch.rule,
                    .scale = static_cast<float>(launch.rule.scale),
                    .counters = launch.counters,
                    .layer = launch.layer,
                    .offsets = launch.offsets,
                    .items = launch.items};
  const auto* x = static_cast<const T*>(launch.x);
  auto* y = static_cast<T*>(launch.y);
  if (ragged && vector)
    ragged_kernel<T, true><<<blocks, threads, 0, stream>>>(x, y, facts);
  else if (ragged)
    ragged_kernel<T, false><<<blocks, threads, 0, stream>>>(x, y, facts);
  else if (vector)
    dropout_kernel<T, true><<<blocks, threads, 0, stream>>>(x, y, facts);
  else
    dropout_kernel<T, false><<<blocks, threads, 0, stream>>>(x, y, facts);
  return cudaGetLastError();
}

std::size_t element_bytes(KernelDtype dtype) { return dtype == KernelDtype::f32 ? 4 : 2; }

}  // namespace

bool dropout_runs_here() {
  cudaFuncAttributes attributes;
  const cudaError_t error = cudaFuncGetAttributes(&attributes, dropout_kernel<float, true>);
  if (error != cudaSuccess) static_cast<void>(cudaGetLastError());
  return error == cudaSuccess;
}

cudaError_t launch_dropout(const DropoutLaunch& launch, cudaStream_t stream) {
  const std::int64_t elements =
      (launch.offsets != nullptr ? launch.items : launch.rows) * launch.row_elements;
  if (elements == 0) return cudaSuccess;
  if (launch.rule.drop_all)
    return cudaMemsetAsync(launch.y, 0, elements * element_bytes(launch.dtype), stream);
  return with_type(launch.dtype,
                   [&](auto element) { return launch_typed<decltype(element)>(launch, stream); });
}

}  // namespace lockstep
