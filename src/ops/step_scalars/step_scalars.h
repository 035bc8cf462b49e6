// The few numbers that a step works out beside its tensors. On GPUs one small kernel each: ATen
// would launch a dozen, which a step of a small model feels.
#pragma once

#include "ops/step_scalars/step_scalar_arguments.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace lockstep {

struct StepFactors {
  at::Tensor factors;  // f32 [terms]: one over each weight, 0 of one that is not above 0
  at::Tensor scales;   // f32 [terms]: factors times the loss scale
};
// weights: f64 [terms]; loss_scale: f32 [1].
StepFactors step_factors(const at::Tensor& weights, const at::Tensor& loss_scale);

// report f64 [n] with `sums` f64 in its first places, and dropped f64 [1] added to that of
// `drop_slot`.
at::Tensor own_numbers(const at::Tensor& report, const at::Tensor& sums, const at::Tensor& dropped,
                       std::int64_t drop_slot);

// dropped f64 [1] becomes sum[drop_slot], and one more where one of the first `terms` is not
// finite. sum: f64 [n].
void find_dropped(const at::Tensor& sum, std::int64_t terms, std::int64_t drop_slot,
                  const at::Tensor& dropped);

// The scalars that an update needs, f32 [1] each. Fixed for an optimizer.
struct UpdateScalars {
  at::Tensor raw_norm, loss_scale, step;      // given: of gradients that the scale multiplies
  at::Tensor norm, skip, divisor, next_step;  // found
  std::vector<at::Tensor> rates;              // f32 0-dim: each becomes the step's times its factor
  std::vector<float> factors;
  double clip = 0;   // of the norm; 0: none
  at::Tensor table;  // rate_table of the two above
};
// The rates and factors as kernels read them; undefined on CPUs.
at::Tensor rate_table(const UpdateScalars& scalars);
// norm: of the gradient; skip: 1 where it is not finite or dropped (f64 [1], or undefined) is above
// 0, else 0; divisor: what gradients are divided by to be unscaled and clipped; next_step: one more
// than `step`, or the same where skipped. lr: f32 0-dim.
void find_update_scalars(const UpdateScalars& scalars, const at::Tensor& lr,
                         const at::Tensor& dropped);

// f64 [n + 5]: sum f64 [n], norm and loss_scale f32 [1], dropped f64 [1], stamps f64 [2].
at::Tensor host_metrics(const at::Tensor& sum, const at::Tensor& norm, const at::Tensor& loss_scale,
                        const at::Tensor& dropped, const at::Tensor& stamps);

struct StepScalarKernels {  // on the current stream
  void (*factors)(const StepFactorsLaunch&) = nullptr;
  void (*own)(const OwnNumbersLaunch&) = nullptr;
  void (*dropped)(const DroppedStepLaunch&) = nullptr;
  void (*update)(const UpdateScalarsLaunch&) = nullptr;
  void (*whole)(const HostMetricsLaunch&) = nullptr;
};
void register_cuda_step_scalars(const StepScalarKernels& kernels);

}  // namespace lockstep
