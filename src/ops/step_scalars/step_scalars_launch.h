// Lets plain C++ code launch the kernels of ops/step_scalars/step_scalars.h.
#pragma once

#include "ops/step_scalars/step_scalar_arguments.h"

#include <cuda_runtime_api.h>

namespace lockstep {

// Each function enqueues one small kernel. The functions neither synchronise nor allocate.
cudaError_t launch_step_factors(const StepFactorsLaunch& launch, cudaStream_t stream);
cudaError_t launch_own_numbers(const OwnNumbersLaunch& launch, cudaStream_t stream);
cudaError_t launch_dropped_step(const DroppedStepLaunch& launch, cudaStream_t stream);
cudaError_t launch_update_scalars(const UpdateScalarsLaunch& launch, cudaStream_t stream);
cudaError_t launch_host_metrics(const HostMetricsLaunch& launch, cudaStream_t stream);

}  // namespace lockstep
