// Computes the scalars of a training step, such as the gradient norm and the learning rates. On
// GPUs each function launches one small kernel. ATen would launch about a dozen kernels, which
// would slow down the step of a small model.
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
// Computes the factors of loss terms. weights are f64 [terms], and loss_scale is f32 [1].
StepFactors step_factors(const at::Tensor& weights, const at::Tensor& loss_scale);

// Returns the step metrics that a rank adds to the sum over the ranks (StepMetrics::own). They are
// a copy of report, f64 [n], with two changes. The first elements are replaced by `sums`, f64.
// dropped, f64 [1], is added to the element at index drop_slot.
at::Tensor own_numbers(const at::Tensor& report, const at::Tensor& sums, const at::Tensor& dropped,
                       std::int64_t drop_slot);

// Sets dropped, f64 [1], which is above 0 if a rank dropped the step. The value is sum[drop_slot].
// It is larger by 1 if one of the first `terms` elements of sum, f64 [n], is not finite.
void find_dropped(const at::Tensor& sum, std::int64_t terms, std::int64_t drop_slot,
                  const at::Tensor& dropped);

// The scalars of an update, f32 [1] each. An optimizer uses the same tensors in every step.
struct UpdateScalars {
  // These are inputs. raw_norm is the norm of the gradients, which still include the loss scale.
  at::Tensor raw_norm, loss_scale, step;
  at::Tensor norm, skip, divisor, next_step;  // results
  std::vector<at::Tensor> rates;              // f32 0-dim learning rates; results
  std::vector<float> factors;
  double clip = 0;   // largest norm of the gradient; 0 if there is no clipping
  at::Tensor table;  // the result of rate_table
};
// Returns a table of the rates and factors in `scalars`, which the kernel reads. The result is
// undefined on the CPU, or if there are no rates.
at::Tensor rate_table(const UpdateScalars& scalars);
// Sets the results in `scalars`:
//   norm        the norm of the unscaled gradient
//   skip        1 if norm is not finite or dropped is above 0, else 0
//   divisor     the divisor that unscales and clips the gradients
//   next_step   `step` if skip is 1, else `step` + 1
//   rates       lr times the factor of each rate
// lr is the step's learning rate, f32 0-dim. dropped is f64 [1], or undefined.
void find_update_scalars(const UpdateScalars& scalars, const at::Tensor& lr,
                         const at::Tensor& dropped);

// Returns the step metrics for the host, f64 [n + 5]. They are the concatenation of sum f64 [n],
// norm and loss_scale f32 [1], dropped f64 [1], and the time stamps f64 [2].
at::Tensor host_metrics(const at::Tensor& sum, const at::Tensor& norm, const at::Tensor& loss_scale,
                        const at::Tensor& dropped, const at::Tensor& stamps);

struct StepScalarKernels {  // all functions run on the current stream
  void (*factors)(const StepFactorsLaunch&) = nullptr;
  void (*own)(const OwnNumbersLaunch&) = nullptr;
  void (*dropped)(const DroppedStepLaunch&) = nullptr;
  void (*update)(const UpdateScalarsLaunch&) = nullptr;
  void (*whole)(const HostMetricsLaunch&) = nullptr;
};
void register_cuda_step_scalars(const StepScalarKernels& kernels);

}  // namespace lockstep
