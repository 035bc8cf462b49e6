// Copies ranges of bytes, or converts their elements. Each range has a few blocks.
#include "ops/copy_all/copy_all_launch.h"
#include "ops/shared/device/element.cuh"

#include <climits>

namespace lockstep {
namespace {

constexpr int threads = 256;

template <class T>
__device__ void copy(const CopyRange& range, std::int64_t begin, std::int64_t end) {
  const auto* const from = static_cast<const T*>(range.from);
  auto* const to = static_cast<T*>(range.to);
  constexpr std::int64_t size = sizeof(T);
  for (std::int64_t i = begin / size + threadIdx.x; i < end / size; i += threads) to[i] = from[i];
}

// Converts elements of type From to type To. begin, end: bytes of `from`.
template <class From, class To>
__device__ void convert(const CopyRange& range, std::int64_t begin, std::int64_t end) {
  const auto* const from = static_cast<const From*>(range.from);
  auto* const to = static_cast<To*>(range.to);
  constexpr std::int64_t size = sizeof(From);
  std::int64_t i = begin / size + threadIdx.x * 8;
  for (; i + 8 <= end / size; i += threads * 8) {
    float values[8];
    load_eight(from + i, values);
    store_eight(values, to + i);
  }
  for (; i < end / size; ++i) to[i] = from_float<To>(to_float(from[i]));
}

__global__ void __launch_bounds__(threads) copies_kernel(CopyLaunch launch) {
  int own = 0;  // the last range that begins at this block or before and is not empty
  for (int i = 1; i < launch.count; ++i)
    if (launch.ranges[i].blocks <= blockIdx.x) own = i;
  const CopyRange range = launch.ranges[own];
  const std::int64_t begin = (blockIdx.x - range.blocks) * copy_block_bytes;
  const std::int64_t left = range.bytes - begin;
  const std::int64_t end = begin + (left < copy_block_bytes ? left : copy_block_bytes);
  if (range.kind == CopyKind::from_bf16) return convert<__nv_bfloat16, float>(range, begin, end);
  if (range.kind == CopyKind::from_f16) return convert<__half, float>(range, begin, end);
  if (range.kind == CopyKind::to_bf16) return convert<float, __nv_bfloat16>(range, begin, end);
  const auto bits = reinterpret_cast<std::uintptr_t>(range.from) |
                    reinterpret_cast<std::uintptr_t>(range.to) |
                    static_cast<std::uintptr_t>(range.bytes);
  if (bits % sizeof(int4) == 0)
    copy<int4>(range, begin, end);
  else if (bits % sizeof(int) == 0)
    copy<int>(range, begin, end);
  else
    copy<char>(range, begin, end);
}

}  // namespace

cudaError_t launch_copies(const CopyLaunch& launch, cudaStream_t stream) {
  if (launch.blocks > INT_MAX) return cudaErrorInvalidConfiguration;
  copies_kernel<<<static_cast<unsigned>(launch.blocks), threads, 0, stream>>>(launch);
  return cudaGetLastError();
}

}  // namespace lockstep
