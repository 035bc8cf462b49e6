// Dice, focal and binary cross-entropy loss of a mask. Forward reads logits and target once and
// computes six sums. Backward reads them once more and computes the gradient.
#include "ops/mask_loss/mask_loss_launch.h"
#include "ops/shared/device/element.cuh"

#include <climits>

namespace lockstep {
namespace {

constexpr int threads = 256, warps = threads / 32, sums_of_chunk = 6;

// W neighbouring places: their logits as stored in memory, and their targets.
template <class T, int W>
struct alignas(W == 1 ? sizeof(T) : 16) Logits {
  T value[W];
};
template <int W>
struct alignas(W) Targets {
  std::uint8_t value[W];
};

struct Place {
  bool counts, foreground;
  float wrong;        // the logit, with the sign that is positive on the wrong side
  float error, rest;  // sigmoid(wrong), and 1 minus that
  float bce;

  __device__ Place(float logit, std::uint8_t target, int ignore)
      : counts(static_cast<int>(target) != ignore), foreground(target != 0) {
    wrong = foreground ? -logit : logit;
    const float small = expf(-fabsf(wrong)), larger = 1.0F / (1.0F + small);
    error = wrong >= 0 ? larger : small * larger;
    rest = wrong >= 0 ? small * larger : larger;
    bce = fmaxf(wrong, 0.0F) + log1pf(small);
    if (wrong != wrong) bce = wrong;  // if `wrong` is NaN, fmaxf would return 0
  }
  __device__ float probability() const { return foreground ? rest : error; }
};

// Returns alpha_t * (1 - p_t)^gamma.
__device__ inline float focal_factor(const MaskLossArguments& shared, const Place& place) {
  const float alpha = place.foreground ? shared.alpha : 1.0F - shared.alpha;
  if (shared.gamma == 2.0F) return alpha * place.error * place.error;
  return alpha * powf(place.error, shared.gamma);
}

// Calls `function` for each group of W places in the block's chunk that belongs to this thread. The
// arguments are the index of the group's first place in the row, its logits and its targets.
template <class T, int W, class Function>
__device__ void for_chunk(const MaskLossArguments& shared, std::int64_t row, std::int64_t chunk,
                          const Function& function) {
  const std::int64_t first = chunk * mask_loss_chunk;
  const std::int64_t end = min(first + mask_loss_chunk, shared.places);
  const auto* const logits = static_cast<const T*>(shared.logits) + row * shared.places;
  const std::uint8_t* const target = shared.target + row * shared.places;
#pragma unroll 2
  for (std::int64_t place = first + threadIdx.x * W; place < end; place += threads * W)
    function(place, *reinterpret_cast<const Logits<T, W>*>(logits + place),
             *reinterpret_cast<const Targets<W>*>(target + place));
}

template <class T, int W>
__global__ void __launch_bounds__(threads) mask_sums_kernel(MaskLossForward launch) {
  __shared__ float of_warps[sums_of_chunk][warps];
  const MaskLossArguments& shared = launch.shared;
  const std::int64_t chunks = shared.chunks;
  const std::int64_t row = blockIdx.x / chunks, chunk = blockIdx.x % chunks;
  float sums[sums_of_chunk] = {};
  for_chunk<T, W>(shared, row, chunk,
                  [&](std::int64_t, const Logits<T, W>& logits, const Targets<W>& targets) {
#pragma unroll
                    for (int i = 0; i < W; ++i) {
                      const Place place(to_float(logits.value[i]), targets.value[i], shared.ignore);
                      if (!place.counts) continue;
                      const float p = place.probability();
                      sums[0] += place.foreground ? p : 0.0F;
                      sums[1] += p;
                      sums[2] += place.foreground ? 1.0F : 0.0F;
                      sums[3] += 1.0F;
                      sums[4] += focal_factor(shared, place) * place.bce;
                      sums[5] += place.bce;
                    }
                  });
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
  for (int s = 0; s < sums_of_chunk; ++s) {
    sums[s] = warp_sum(sums[s]);
    if (lane == 0) of_warps[s][warp] = sums[s];
  }
  __syncthreads();
  if (threadIdx.x >= sums_of_chunk) return;
  float sum = 0;
#pragma unroll
  for (int w = 0; w < warps; ++w) sum += of_warps[threadIdx.x][w];
  launch.partial[blockIdx.x * std::int64_t{sums_of_chunk} + threadIdx.x] = sum;
}

// Runs as one block. Each warp adds up the chunks of a row, then one thread adds up the rows in
// order.
__global__ void __launch_bounds__(threads) finish_mask_kernel(MaskLossForward launch) {
  __shared__ float losses[3][warps];
  const MaskLossArguments& shared = launch.shared;
  const std::int64_t chunks = shared.chunks;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float total = 0;
  for (std::int64_t first = 0; first < shared.rows; first += warps) {
    const std::int64_t row = first + warp;
    if (row < shared.rows) {
      float sums[sums_of_chunk] = {};
      for (std::int64_t chunk = lane; chunk < chunks; chunk += 32)
#pragma unroll
        for (int s = 0; s < sums_of_chunk; ++s)
          sums[s] += launch.partial[(row * chunks + chunk) * sums_of_chunk + s];
#pragma unroll
      for (int s = 0; s < sums_of_chunk; ++s) sums[s] = warp_sum(sums[s]);
      if (lane == 0) {
#pragma unroll
        for (int s = 0; s < 4; ++s) shared.row_sums[row * 4 + s] = sums[s];
        const float weight = shared.row_weight[row];
        const float dice =
            1.0F - (2.0F * sums[0] + shared.smooth) / (sums[1] + sums[2] + shared.smooth);
        losses[0][warp] = sums[3] > 0 ? weight * dice : 0.0F;
        losses[1][warp] = weight * sums[4];
        losses[2][warp] = weight * sums[5];
      }
    }
    __syncthreads();
    if (threadIdx.x < 3)
      for (int w = 0; w < warps && first + w < shared.rows; ++w) total += losses[threadIdx.x][w];
    __syncthreads();
  }
  if (threadIdx.x == 0) *launch.dice = total;
  if (threadIdx.x == 1) *launch.focal = total;
  if (threadIdx.x == 2) *launch.bce = total;
}

template <class T, int W>
__global__ void __launch_bounds__(threads) mask_gradient_kernel(MaskLossBackward launch) {
  const MaskLossArguments& shared = launch.shared;
  const std::int64_t chunks = shared.chunks;
  const std::int64_t row = blockIdx.x / chunks, chunk = blockIdx.x % chunks;
  const float weight = shared.row_weight[row];
  const auto factor = [&](const float* of) { return of == nullptr ? 0.0F : weight * *of; };
  const float of_dice = factor(launch.of_dice), of_focal = factor(launch.of_focal);
  const float of_bce = factor(launch.of_bce);
  const float* const sums = shared.row_sums + row * 4;
  const float either = sums[1] + sums[2] + shared.smooth;
  const float ratio = (2.0F * sums[0] + shared.smooth) / either;
  // The derivatives of the dice loss by the probability, at background and at foreground places.
  const float of_background = of_dice * ratio / either;
  const float of_foreground = of_background - of_dice * 2.0F / either;
  auto* const of_logits = static_cast<T*>(launch.of_logits) + row * shared.places;
  for_chunk<T, W>(shared, row, chunk,
                  [&](std::int64_t at, const Logits<T, W>& logits, const Targets<W>& targets) {
                    Logits<T, W> result;
#pragma unroll
                    for (int i = 0; i < W; ++i) {
                      const Place place(to_float(logits.value[i]), targets.value[i], shared.ignore);
                      const float slope =
                          of_focal * focal_factor(shared, place) *
                              (shared.gamma * place.rest * place.bce + place.error) +
                          of_bce * place.error;
                      const float gradient = (place.foreground ? of_foreground : of_background) *
                                                 place.error * place.rest +
                                             (place.foreground ? -slope : slope);
                      result.value[i] = from_float<T>(place.counts ? gradient : 0.0F);
                    }
                    *reinterpret_cast<Logits<T, W>*>(of_logits + at) = result;
                  });
}

// Calls `function` with an element and the number of neighbouring places (1 or 8) as types, and
// with the number of blocks.
template <int n>
struct Neighbours {
  static constexpr int value = n;
};
template <class Function>
cudaError_t with_places(const MaskLossArguments& shared, const Function& function) {
  const std::int64_t blocks = shared.rows * shared.chunks;
  if (blocks > INT_MAX) return cudaErrorInvalidConfiguration;
  return with_type(shared.dtype, [&](auto element) {
    const auto count = static_cast<unsigned>(blocks);
    return shared.places % 8 == 0 ? function(element, Neighbours<8>(), count)
                                  : function(element, Neighbours<1>(), count);
  });
}

}  // namespace

cudaError_t launch_mask_loss_forward(const MaskLossForward& launch, cudaStream_t stream) {
  return with_places(launch.shared, [&](auto element, auto neighbours, unsigned blocks) {
    using T = decltype(element);
    constexpr int W = decltype(neighbours)::value;
    mask_sums_kernel<T, W><<<blocks, threads, 0, stream>>>(launch);
    finish_mask_kernel<<<1, threads, 0, stream>>>(launch);
    return cudaGetLastError();
  });
}

cudaError_t launch_mask_loss_backward(const MaskLossBackward& launch, cudaStream_t stream) {
  return with_places(launch.shared, [&](auto element, auto neighbours, unsigned blocks) {
    using T = decltype(element);
    constexpr int W = decltype(neighbours)::value;
    mask_gradient_kernel<T, W><<<blocks, threads, 0, stream>>>(launch);
    return cudaGetLastError();
  });
}

}  // namespace lockstep
