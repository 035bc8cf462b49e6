// Computes scalars of a step. Each kernel runs as one warp.
#include "ops/step_scalars/step_scalars_launch.h"

namespace lockstep {
namespace {

constexpr int threads = 32;

template <class Function>
__device__ void for_each(std::int64_t count, const Function& function) {
  for (std::int64_t i = threadIdx.x; i < count; i += threads) function(i);
}

__global__ void factors_kernel(StepFactorsLaunch launch) {
  for_each(launch.terms, [&](std::int64_t i) {
    const double weight = launch.weights[i];
    const float factor = weight > 0 ? static_cast<float>(1 / weight) : 0.0F;
    launch.factors[i] = factor;
    launch.scales[i] = factor * *launch.loss_scale;
  });
}

__global__ void own_kernel(OwnNumbersLaunch launch) {
  for_each(launch.size, [&](std::int64_t i) {
    double value = i < launch.sums_size ? launch.sums[i] : launch.report[i];
    if (i == launch.drop_slot) value += *launch.dropped;
    launch.numbers[i] = value;
  });
}

__global__ void dropped_kernel(DroppedStepLaunch launch) {
  bool finite = true;
  for_each(launch.terms, [&](std::int64_t i) { finite = finite && isfinite(launch.sum[i]); });
  finite = __all_sync(0xffffffffU, finite) != 0;
  if (threadIdx.x == 0) *launch.dropped = launch.sum[launch.drop_slot] + (finite ? 0 : 1);
}

__global__ void update_kernel(UpdateScalarsLaunch launch) {
  for_each(launch.groups, [&](std::int64_t i) {
    const GroupRate rate = launch.rates[i];
    *rate.lr = *launch.lr * rate.factor;
  });
  if (threadIdx.x != 0) return;
  const float norm = *launch.raw_norm / *launch.loss_scale;
  const bool finite = isfinite(norm);
  const bool skipped = !finite || (launch.dropped != nullptr && *launch.dropped > 0);
  *launch.norm = norm;
  *launch.skip = skipped ? 1.0F : 0.0F;
  // norm / clip is the inverse of the coefficient that clips the norm.
  const float excess = launch.clip > 0 && finite ? norm / launch.clip : 1.0F;
  *launch.divisor = *launch.loss_scale * (excess > 1 ? excess : 1.0F);
  *launch.next_step = *launch.step + (skipped ? 0.0F : 1.0F);
}

__global__ void whole_kernel(HostMetricsLaunch launch) {
  for_each(launch.size, [&](std::int64_t i) { launch.whole[i] = launch.sum[i]; });
  if (threadIdx.x != 0) return;
  double* const behind = launch.whole + launch.size;
  behind[0] = *launch.norm;
  behind[1] = *launch.loss_scale;
  behind[2] = *launch.dropped;
  behind[3] = launch.stamps[0];
  behind[4] = launch.stamps[1];
}

}  // namespace

cudaError_t launch_step_factors(const StepFactorsLaunch& launch, cudaStream_t stream) {
  factors_kernel<<<1, threads, 0, stream>>>(launch);
  return cudaGetLastError();
}

cudaError_t launch_own_numbers(const OwnNumbersLaunch& launch, cudaStream_t stream) {
  own_kernel<<<1, threads, 0, stream>>>(launch);
  return cudaGetLastError();
}

cudaError_t launch_dropped_step(const DroppedStepLaunch& launch, cudaStream_t stream) {
  dropped_kernel<<<1, threads, 0, stream>>>(launch);
  return cudaGetLastError();
}

cudaError_t launch_update_scalars(const UpdateScalarsLaunch& launch, cudaStream_t stream) {
  update_kernel<<<1, threads, 0, stream>>>(launch);
  return cudaGetLastError();
}

cudaError_t launch_host_metrics(const HostMetricsLaunch& launch, cudaStream_t stream) {
  whole_kernel<<<1, threads, 0, stream>>>(launch);
  return cudaGetLastError();
}

}  // namespace lockstep
