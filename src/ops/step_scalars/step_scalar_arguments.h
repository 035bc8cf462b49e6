// Arguments of the kernels of ops/step_scalars/step_scalars.h: plain pointers, all to device
// memory. This header does not include torch, so CUDA sources can include it.
#pragma once

#include <cstdint>

namespace lockstep {

struct StepFactorsLaunch {
  const double* weights = nullptr;              // [terms]
  const float* loss_scale = nullptr;            // [1]
  float *factors = nullptr, *scales = nullptr;  // [terms]
  std::int64_t terms = 0;
};

struct OwnNumbersLaunch {
  const double *report = nullptr, *sums = nullptr, *dropped = nullptr;  // dropped has one element
  double* numbers = nullptr;                                            // [size]
  std::int64_t size = 0, sums_size = 0, drop_slot = 0;
};

struct DroppedStepLaunch {
  const double* sum = nullptr;
  double* dropped = nullptr;  // [1]
  std::int64_t terms = 0, drop_slot = 0;
};

// The learning rate of a parameter group, which is set to `factor` times the step's learning rate.
struct GroupRate {
  float* lr = nullptr;
  float factor = 1;
};
struct UpdateScalarsLaunch {
  const float *raw_norm = nullptr, *loss_scale = nullptr;                            // [1]
  const double* dropped = nullptr;                                                   // [1], or null
  const float *step = nullptr, *lr = nullptr;                                        // [1]
  float *norm = nullptr, *skip = nullptr, *divisor = nullptr, *next_step = nullptr;  // [1]
  const GroupRate* rates = nullptr;                                                  // [groups]
  std::int64_t groups = 0;
  float clip = 0;
};

struct HostMetricsLaunch {
  const double* sum = nullptr;                         // [size]
  const float *norm = nullptr, *loss_scale = nullptr;  // [1]
  const double *dropped = nullptr, *stamps = nullptr;  // dropped: [1], stamps: [2]
  double* whole = nullptr;                             // [size + 5]
  std::int64_t size = 0;
};

}  // namespace lockstep
