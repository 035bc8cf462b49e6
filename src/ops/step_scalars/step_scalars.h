// The scalars that a step computes. On GPUs each function takes one small kernel. ATen would launch
// about a dozen, which slows down a step of a small model.
#pragma once

#include "ops/step_scalars/step_scalar_arguments.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace lockstep {

struct StepFactors {
  at::Tensor factors;  // f32 [terms]: 1 / weight, or 0 if the weight is not above 0
  at::Tensor scales;   // f32 [terms]: factors times the loss scale
};
// weights: f64 [terms]; loss_scale: f32 [1].
StepFactors step_factors(const at::Tensor& weights, const at::Tensor& loss_scale);

// Returns report, f64 [n], with `sums`, f64, in its first places, and with dropped, f64 [1], added
// at `drop_slot`.
at::Tensor own_numbers(const at::Tensor& report, const at::Tensor& sums, const at::Tensor& dropped,
                       std::int64_t drop_slot);

// Sets dropped, f64 [1], to sum[drop_slot], plus 1 if one of the first `terms` elements is not
// finite. sum: f64 [n].
void find_dropped(const at::Tensor& sum, std::int64_t terms, std::int64_t drop_slot,
                  const at::Tensor& dropped);

// The scalars that an update needs, f32 [1] each. An optimizer uses the same tensors in every step.
struct UpdateScalars {
  // Inputs. raw_norm: the norm of gradients that include the scale.
  at::Tensor raw_norm, loss_scale, step;
  at::Tensor norm, skip, divisor, next_step;  // results
  std::vector<at::Tensor> rates;              // f32 0-dim: each becomes the step's rate times its
                                              // factor
  std::vector<float> factors;
  double clip = 0;   // largest norm; 0: no clipping
  at::Tensor table;  // the result of rate_table
};
// The rates and factors in the form that kernels read. Undefined on CPUs.
at::Tensor rate_table(const UpdateScalars& scalars);
// Computes the results. norm: the norm of the gradient. skip: 1 if the norm is not finite or if
// `dropped` (f64 [1], or undefined) is above 0, else 0. divisor: gradients are divided by it, to
// unscale and clip them. next_step: `step` + 1, or `step` if skipped. lr: f32 0-dim.
void find_update_scalars(const UpdateScalars& scalars, const at::Tensor& lr,
                         const at::Tensor& dropped);

// Returns f64 [n + 5], which consists of sum f64 [n], norm and loss_scale f32 [1], dropped f64 [1],
// stamps f64 [2].
at::Tensor host_metrics(const at::Tensor& sum, const at::Tensor& norm, const at::Tensor& loss_scale,
                        const at::Tensor& dropped, const at::Tensor& stamps);

struct StepScalarKernels {  // all run on the current stream
  void (*factors)(const StepFactorsLaunch&) = nullptr;
  void (*own)(const OwnNumbersLaunch&) = nullptr;
  void (*dropped)(const DroppedStepLaunch&) = nullptr;
  void (*update)(const UpdateScalarsLaunch&) = nullptr;
  void (*whole)(const HostMetricsLaunch&) = nullptr;
};
void register_cuda_step_scalars(const StepScalarKernels& kernels);

}  // namespace lockstep
