// The elementwise parts of Muon. A block handles a chunk of a matrix, so one launch handles all
// matrices of a shape. Sums are added in a fixed order.
#include "ops/muon/muon_launch.h"
#include "ops/shared/device/element.cuh"

#include <climits>

namespace lockstep {
namespace {

constexpr int threads = 256, warps = threads / 32;
constexpr float least_norm = 1e-7F;

// Calls four(i) for each complete group of four elements in this block's chunk. Calls one(i) for
// each element after the last such group.
template <class Fours, class One>
__device__ void for_elements(const MuonArguments& launch, const Fours& four, const One& one) {
  const std::int64_t begin = blockIdx.x * muon_chunk;
  const std::int64_t end = min(begin + muon_chunk, launch.elements);
  const std::int64_t fours = begin + (end - begin) / 4 * 4;
  for (std::int64_t i = begin + threadIdx.x * 4; i < fours; i += threads * 4) four(i);
  for (std::int64_t i = fours + threadIdx.x; i < end; i += threads) one(i);
}

struct MomentumFactors {
  float one_over_divisor, momentum;
  bool nesterov;
};

// Adds a gradient to the momentum. Returns the update, rounded to its stored type.
__device__ __nv_bfloat16 add_gradient(float gradient, float& momentum,
                                      const MomentumFactors& factors, float& squares) {
  gradient *= factors.one_over_divisor;
  momentum += (1.0F - factors.momentum) * (gradient - momentum);
  const float update =
      factors.nesterov ? momentum - (momentum - gradient) * (1.0F - factors.momentum) : momentum;
  const auto rounded = from_float<__nv_bfloat16>(update);
  const float value = to_float(rounded);
  squares += value * value;
  return rounded;
}

__global__ void __launch_bounds__(threads) momentum_kernel(MuonArguments launch) {
  if (*launch.skip != 0) return;
  const MuonMatrix matrix = launch.matrices[blockIdx.y];
  auto* const update = static_cast<__nv_bfloat16*>(launch.update) + blockIdx.y * launch.stride;
  const MomentumFactors factors{.one_over_divisor = 1.0F / *launch.divisor,
                                .momentum = static_cast<float>(launch.momentum),
                                .nesterov = launch.nesterov};
  float squares = 0;
  for_elements(
      launch,
      [&](std::int64_t i) {
        const Four<float> gradient = *reinterpret_cast<const Four<float>*>(matrix.gradient + i);
        Four<float> momentum = *reinterpret_cast<const Four<float>*>(matrix.momentum + i);
        Four<__nv_bfloat16> made;
#pragma unroll
        for (int k = 0; k < 4; ++k)
          made.value[k] = add_gradient(gradient.value[k], momentum.value[k], factors, squares);
        *reinterpret_cast<Four<float>*>(matrix.momentum + i) = momentum;
        *reinterpret_cast<Four<__nv_bfloat16>*>(update + i) = made;
      },
      [&](std::int64_t i) {
        update[i] = add_gradient(matrix.gradient[i], matrix.momentum[i], factors, squares);
      });
  const float sum = block_sum<warps>(squares);
  if (threadIdx.x == 0) launch.squares[blockIdx.y * gridDim.x + blockIdx.x] = sum;
}

__global__ void __launch_bounds__(threads) scale_kernel(MuonArguments launch) {
  if (*launch.skip != 0) return;
  auto* const update = static_cast<__nv_bfloat16*>(launch.update) + blockIdx.y * launch.stride;
  float squares = 0;
  for (unsigned chunk = threadIdx.x; chunk < gridDim.x; chunk += threads)
    squares += launch.squares[blockIdx.y * gridDim.x + chunk];
  // The norm is rounded as in torch.optim.Muon, because the iteration magnifies a difference in
  // scale.
  const float norm = to_float(from_float<__nv_bfloat16>(sqrtf(block_sum<warps>(squares))));
  const float divisor = fmaxf(norm, least_norm);
  const auto scaled = [&](__nv_bfloat16 value) {
    return from_float<__nv_bfloat16>(to_float(value) / divisor);
  };
  for_elements(
      launch,
      [&](std::int64_t i) {
        auto* const place = reinterpret_cast<Four<__nv_bfloat16>*>(update + i);
        Four<__nv_bfloat16> values = *place;
#pragma unroll
        for (int k = 0; k < 4; ++k) values.value[k] = scaled(values.value[k]);
        *place = values;
      },
      [&](std::int64_t i) { update[i] = scaled(update[i]); });
}

template <class T>
__global__ void __launch_bounds__(threads) weights_kernel(MuonArguments launch) {
  if (*launch.skip != 0) return;
  const MuonMatrix matrix = launch.matrices[blockIdx.y];
  const auto* const update =
      static_cast<const __nv_bfloat16*>(launch.update) + blockIdx.y * launch.stride;
  auto* const working = static_cast<T*>(matrix.working);
  const double lr = *matrix.lr;
  const auto keep = static_cast<float>(1 - lr * matrix.decay);
  const auto step = static_cast<float>(-lr * matrix.factor);
  const auto next = [&](float weight, __nv_bfloat16 by) {
    return weight * keep + step * to_float(by);
  };
  for_elements(
      launch,
      [&](std::int64_t i) {
        Four<float> weights = *reinterpret_cast<const Four<float>*>(matrix.weights + i);
        const auto by = *reinterpret_cast<const Four<__nv_bfloat16>*>(update + i);
        Four<T> copy;
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          weights.value[k] = next(weights.value[k], by.value[k]);
          copy.value[k] = from_float<T>(weights.value[k]);
        }
        *reinterpret_cast<Four<float>*>(matrix.weights + i) = weights;
        if (working != nullptr) *reinterpret_cast<Four<T>*>(working + i) = copy;
      },
      [&](std::int64_t i) {
        matrix.weights[i] = next(matrix.weights[i], update[i]);
        if (working != nullptr) working[i] = from_float<T>(matrix.weights[i]);
      });
}

// Calls `launch` with a grid of chunks and matrices.
template <class Launch>
cudaError_t with_grid(const MuonArguments& arguments, const Launch& launch) {
  if (arguments.count == 0 || arguments.elements == 0) return cudaSuccess;
  const std::int64_t chunks = (arguments.elements + muon_chunk - 1) / muon_chunk;
  if (chunks > INT_MAX || arguments.count > USHRT_MAX) return cudaErrorInvalidConfiguration;
  launch(dim3(static_cast<unsigned>(chunks), static_cast<unsigned>(arguments.count)));
  return cudaGetLastError();
}

}  // namespace

cudaError_t launch_muon_momentum(const MuonArguments& arguments, cudaStream_t stream) {
  return with_grid(arguments,
                   [&](dim3 grid) { momentum_kernel<<<grid, threads, 0, stream>>>(arguments); });
}

cudaError_t launch_muon_scale(const MuonArguments& arguments, cudaStream_t stream) {
  return with_grid(arguments,
                   [&](dim3 grid) { scale_kernel<<<grid, threads, 0, stream>>>(arguments); });
}

cudaError_t launch_muon_weights(const MuonArguments& arguments, cudaStream_t stream) {
  return with_type(arguments.working_dtype, [&](auto element) {
    return with_grid(arguments, [&](dim3 grid) {
      weights_kernel<decltype(element)><<<grid, threads, 0, stream>>>(arguments);
    });
  });
}

}  // namespace lockstep
