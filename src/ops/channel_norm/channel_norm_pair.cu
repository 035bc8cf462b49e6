// The sum of the norms of two tensors, then ReLU. It ends a residual block whose other branch ends
// in a norm too. Forward reads each tensor for its mean and squared deviations, then both again
// together. Backward reads both tensors and the gradient twice.
#include "ops/channel_norm/channel_norm_launch.h"
#include "ops/channel_norm/channel_norm_passes.cuh"
#include "ops/shared/device/early_launch.cuh"

namespace lockstep {
namespace {

template <class T>
constexpr int resident_pairs = sizeof(T) == 2 ? 2 : 1;  // blocks that a multiprocessor must hold

template <class T, int W, bool finishes>
__global__ void __launch_bounds__(voxel_threads, resident_pairs<T>)
    apply_pair_kernel(ChannelNormPairForward pair) {
  const ChannelNormForward &first = pair.first, &second = pair.second;
  const VoxelLayout& layout = first.layout;
  // As in apply_kernel. The previous pass has read the second tensor for its moments, unless these
  // were known.
  const VoxelPlace place = voxel_place<W>(layout, /*backwards=*/second.known != nullptr);
  let_the_next_begin();
  wait_for_those_before();
  __shared__ FinishedNorm of_first, of_second;
  if constexpr (finishes) {
    finish_moments(first, place, of_first);
    finish_moments(second, place, of_second);
  }
  if (place.turns == 0) return;
  const auto facts = facts_of<W, finishes>(first, place, of_first);
  const auto other = facts_of<W, finishes>(second, place, of_second);
  const float least = first.relu ? 0.0F : -INFINITY;
  auto* const y = static_cast<T*>(first.y);
  const T* const from[] = {static_cast<const T*>(first.x), static_cast<const T*>(second.x)};
  for_turns<T, W, 2, ahead<T, 2>, 3>(
      place, layout, from, Nothing(), [&](const Pack<T, W>(&packs)[2], Nothing, std::int64_t at) {
        Pack<T, W> result;
        unsigned bits = 0;
#pragma unroll
        for (int i = 0; i < W; ++i) {
          const float value = facts.normed(packs[0][i] - facts.mean[i], i) +
                              other.normed(packs[1][i] - other.mean[i], i);
          const bool below = value <= least;  // false for NaN, so that NaN is kept
          bits |= below ? 0U : 1U << i;
          result.value[i] = from_float<T>(below ? least : value);
        }
        result.store(y + at);
        if (first.positive != nullptr) first.positive[at / W] = static_cast<std::uint8_t>(bits);
      });
}

// The gradient that passes the ReLU.
template <int W, class Up>
__device__ float passed(const Up& up, std::uint8_t bits, int i) {
  return (bits >> i & 1) != 0 ? up[i] : 0.0F;
}
struct BitsOf {
  const std::uint8_t* positive;
  int width;
  __device__ std::uint8_t operator()(std::int64_t at) const {
    return positive == nullptr ? std::uint8_t{0xff} : positive[at / width];
  }
};

// Sums the gradient that passes the ReLU, which both norms share. Also sums, for each tensor, that
// gradient times (x - mean).
template <class T, int W>
__global__ void __launch_bounds__(voxel_threads, resident_pairs<T>)
    sums_pair_kernel(ChannelNormPairBackward pair) {
  let_the_next_begin();
  wait_for_those_before();
  const ChannelNormBackward &first = pair.first, &second = pair.second;
  const VoxelLayout& layout = first.layout;
  const VoxelPlace place = voxel_place<W>(layout, /*backwards=*/true);
  float sums[3][W] = {};
  if (place.turns > 0) {
    const ChannelFacts<W> facts(first, place.statistic(layout));
    const ChannelFacts<W> other(second, place.statistic(layout));
    const T* const from[] = {static_cast<const T*>(first.x), static_cast<const T*>(second.x),
                             static_cast<const T*>(first.of_y)};
    for_turns<T, W, 2, ahead<T, 3>, 0>(
        place, layout, from, BitsOf{first.positive, W},
        [&](const Pack<T, W>(&packs)[3], std::uint8_t bits, std::int64_t) {
#pragma unroll
          for (int i = 0; i < W; ++i) {
            const float gradient = passed<W>(packs[2], bits, i);
            sums[0][i] += gradient;
            sums[1][i] += gradient * (packs[0][i] - facts.mean[i]);
            sums[2][i] += gradient * (packs[1][i] - other.mean[i]);
          }
        });
  }
  add_lanes(sums, place);
  if (place.lane != 0 || place.turns == 0) return;
  const std::int64_t of_sum = partial_place(layout, place, 2, 0),
                     of_product = partial_place(layout, place, 2, 1);
  store_floats(sums[0], first.partial + of_sum);
  store_floats(sums[1], first.partial + of_product);
  store_floats(sums[0], second.partial + of_sum);
  store_floats(sums[2], second.partial + of_product);
}

template <class T, int W, bool finishes>
__global__ void __launch_bounds__(voxel_threads, resident_pairs<T>)
    gradient_pair_kernel(ChannelNormPairBackward pair) {
  const ChannelNormBackward &first = pair.first, &second = pair.second;
  const VoxelLayout& layout = first.layout;
  const VoxelPlace place = voxel_place<W>(layout, /*backwards=*/false);
  let_the_next_begin();
  wait_for_those_before();
  __shared__ FinishedNorm of_first, of_second;
  if constexpr (finishes) {
    finish_sums(first, place, of_first);
    finish_sums(second, place, of_second);
  }
  if (place.turns == 0) return;
  const ChannelFacts<W> facts(first, place.statistic(layout));
  const ChannelFacts<W> other(second, place.statistic(layout));
  const auto shares = shares_of<W, finishes>(first, place, of_first);
  const auto other_shares = shares_of<W, finishes>(second, place, of_second);
  const T* const from[] = {static_cast<const T*>(first.x), static_cast<const T*>(second.x),
                           static_cast<const T*>(first.of_y)};
  for_turns<T, W, 2, ahead<T, 3>, 7>(
      place, layout, from, BitsOf{first.positive, W},
      [&](const Pack<T, W>(&packs)[3], std::uint8_t bits, std::int64_t at) {
        Pack<T, W> of_first_x, of_second_x;
#pragma unroll
        for (int i = 0; i < W; ++i) {
          const float gradient = passed<W>(packs[2], bits, i);
          of_first_x.value[i] =
              from_float<T>(shares.gradient(gradient, packs[0][i] - facts.mean[i], facts, i));
          of_second_x.value[i] =
              from_float<T>(other_shares.gradient(gradient, packs[1][i] - other.mean[i], other, i));
        }
        of_first_x.store(static_cast<T*>(first.of_x) + at);
        of_second_x.store(static_cast<T*>(second.of_x) + at);
      });
}

}  // namespace

cudaError_t launch_channel_norm_pair_forward(const ChannelNormPairForward& both,
                                             cudaStream_t stream) {
  ChannelNormPairForward pair = both;
  // Readers finish the sums of both tensors or of neither. Known moments have their own kernel for
  // this.
  if (pair.first.known != nullptr || pair.second.known != nullptr)
    pair.first.layout.finished_by_readers = pair.second.layout.finished_by_readers = false;
  for (const ChannelNormForward* launch : {&pair.first, &pair.second})
    if (const cudaError_t error = launch_channel_moments(*launch, stream); error != cudaSuccess)
      return error;
  return with_voxels(pair.first.layout, [&](auto element, auto width, unsigned blocks) {
    using T = decltype(element);
    constexpr int W = decltype(width)::value;
    if (readers_finish<W>(pair.first))
      launch_early(apply_pair_kernel<T, W, may_finish<W>>, blocks, voxel_threads, stream, pair);
    else
      launch_early(apply_pair_kernel<T, W, false>, blocks, voxel_threads, stream, pair);
    return cudaGetLastError();
  });
}

cudaError_t launch_channel_norm_pair_backward(const ChannelNormPairBackward& pair,
                                              cudaStream_t stream) {
  const bool sums_wanted = are_sums_wanted(pair.first) || are_sums_wanted(pair.second);
  return with_voxels(pair.first.layout, [&](auto element, auto width, unsigned blocks) {
    using T = decltype(element);
    constexpr int W = decltype(width)::value;
    const bool finishes = readers_finish<W>(pair.first, sums_wanted);
    if (sums_wanted) launch_early(sums_pair_kernel<T, W>, blocks, voxel_threads, stream, pair);
    if (sums_wanted && !finishes)
      for (const ChannelNormBackward* launch : {&pair.first, &pair.second})
        launch_finish_sums(*launch, stream);
    if (finishes)
      launch_early(gradient_pair_kernel<T, W, may_finish<W>>, blocks, voxel_threads, stream, pair);
    else
      launch_early(gradient_pair_kernel<T, W, false>, blocks, voxel_threads, stream, pair);
    return cudaGetLastError();
  });
}

}  // namespace lockstep
