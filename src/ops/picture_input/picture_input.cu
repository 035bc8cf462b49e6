// Turns pictures into a network's input. First sums each picture's bytes, because a change of
// contrast needs the mean. A second pass then computes every value of the result.
#include "ops/picture_input/picture_input_launch.h"
#include "ops/shared/device/element.cuh"

#include <climits>

namespace lockstep {
namespace {

constexpr int picture_threads = 256, picture_warps = picture_threads / 32;
// Pixels or half-blocks per thread. With several, a block of threads reads the changes to its
// picture only once.
constexpr int picture_items = 4;

using Sum = unsigned long long;

__device__ Sum warp_total(Sum value) {
#pragma unroll
  for (int lanes = 16; lanes > 0; lanes /= 2) value += __shfl_xor_sync(0xffffffffU, value, lanes);
  return value;
}

__device__ unsigned sum_of_bytes(const uint4& word) {
  constexpr unsigned ones = 0x01010101U;
  return __dp4a(word.x, ones, __dp4a(word.y, ones, __dp4a(word.z, ones, __dp4a(word.w, ones, 0U))));
}

__device__ std::int64_t bytes_of(const PictureShape& shape) {
  return static_cast<std::int64_t>(shape.channels) * shape.height * shape.width;
}

// A block adds up a share of a picture's 16-byte words. The first share includes the bytes before
// and after these words. The sums are integers, so their order does not matter.
__global__ void __launch_bounds__(picture_threads) picture_sums_kernel(PictureArguments launch) {
  __shared__ Sum shared[picture_warps];
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t row = blockIdx.x / launch.sums_per_picture;
  const int share = static_cast<int>(blockIdx.x % launch.sums_per_picture);
  const int bytes = static_cast<int>(bytes_of(launch.shape));
  const std::uint8_t* const picture = launch.pictures + row * bytes;
  const auto beyond = static_cast<int>(reinterpret_cast<std::uintptr_t>(picture) % 16);
  const int before = min((16 - beyond) % 16, bytes), words = (bytes - before) / 16;
  // start of the last bytes, which are fewer than 16
  const int behind = before + 16 * words;
  const auto* const first = reinterpret_cast<const uint4*>(picture + before);
  Sum sum = 0;
  for (int i = share * picture_threads + thread; i < words;
       i += launch.sums_per_picture * picture_threads)
    sum += sum_of_bytes(first[i]);
  if (share == 0) {
    if (thread < before) sum += picture[thread];
    if (thread < bytes - behind) sum += picture[behind + thread];
  }
  sum = warp_total(sum);
  if (thread % 32 == 0) shared[thread / 32] = sum;
  __syncthreads();
  if (thread != 0) return;
  for (int warp = 1; warp < picture_warps; ++warp) sum += shared[warp];
  launch.sums[blockIdx.x] = sum;
}

// Must be called by the first warp. All its lanes get the result.
__device__ PictureChange change_of(const PictureArguments& launch, std::int64_t row) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  float mean = 0;
  if (launch.sums != nullptr) {
    const Sum total = warp_total(
        lane < launch.sums_per_picture ? launch.sums[row * launch.sums_per_picture + lane] : 0);
    mean = static_cast<float>(static_cast<double>(total) /
                              static_cast<double>(bytes_of(launch.shape)));
  }
  return picture_change(launch.rule, launch.numbers == nullptr ? nullptr : launch.numbers + row * 3,
                        mean);
}

// blocks: number of blocks per picture.
template <class T, bool in_blocks>
__global__ void __launch_bounds__(picture_threads)
    picture_input_kernel(PictureArguments launch, int blocks, int items) {
  __shared__ PictureChange shared;
  const std::int64_t row = blockIdx.x / blocks;
  if (threadIdx.x < 32) {
    const PictureChange found = change_of(launch, row);
    if (threadIdx.x == 0) shared = found;
  }
  __syncthreads();
  const PictureChange change = shared;
  const PictureShape& shape = launch.shape;
  const std::uint8_t* const picture = launch.pictures + row * bytes_of(shape);
  const int first = static_cast<int>(blockIdx.x % blocks) * picture_threads * picture_items +
                    static_cast<int>(threadIdx.x);
#pragma unroll
  for (int i = 0; i < picture_items; ++i) {
    const int item = first + i * picture_threads;
    if (item >= items) return;
    if constexpr (in_blocks) {
      float values[8];
      picture_half_block(picture, shape, launch.rule, change, item, values);
      store_eight(values, static_cast<T*>(launch.out) + (row * items + item) * 8);
    } else {
      float values[picture_most_channels];
      picture_pixel(picture, shape, launch.rule, change, item / shape.width, item % shape.width,
                    values);
      T* const to = static_cast<T*>(launch.out) + (row * items + item) * shape.channels;
#pragma unroll
      for (int c = 0; c < picture_most_channels; ++c)
        if (c < shape.channels) to[c] = from_float<T>(values[c]);
    }
  }
}

}  // namespace

cudaError_t launch_picture_input(const PictureArguments& launch, cudaStream_t stream) {
  const PictureShape& shape = launch.shape;
  const std::int64_t items = launch.in_blocks
                                 ? 2 * blocks_along(shape.height) * blocks_along(shape.width)
                                 : static_cast<std::int64_t>(shape.height) * shape.width;
  constexpr std::int64_t per_block = picture_threads * picture_items;
  const std::int64_t blocks = (items + per_block - 1) / per_block;
  // `first` in the kernel may exceed the number of items by up to a block's items.
  if (items > INT_MAX - per_block || launch.rows * blocks > INT_MAX ||
      launch.rows * launch.sums_per_picture > INT_MAX ||
      launch.sums_per_picture > picture_most_sums)
    return cudaErrorInvalidConfiguration;
  if (launch.sums != nullptr)
    picture_sums_kernel<<<static_cast<unsigned>(launch.rows * launch.sums_per_picture),
                          picture_threads, 0, stream>>>(launch);
  const auto grid = static_cast<unsigned>(launch.rows * blocks);
  const auto each = static_cast<int>(blocks), of_picture = static_cast<int>(items);
  return with_type(launch.dtype, [&](auto element) {
    using T = decltype(element);
    if (launch.in_blocks)
      picture_input_kernel<T, true><<<grid, picture_threads, 0, stream>>>(launch, each, of_picture);
    else
      picture_input_kernel<T, false>
          <<<grid, picture_threads, 0, stream>>>(launch, each, of_picture);
    return cudaGetLastError();
  });
}

}  // namespace lockstep
