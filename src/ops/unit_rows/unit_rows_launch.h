// Lets plain C++ code launch the kernels that scale rows to the same length.
#pragma once

#include "ops/shared/detection_arguments.h"

#include <cuda_runtime_api.h>

namespace lockstep {

// The functions only enqueue work. They neither synchronise nor allocate.
cudaError_t launch_unit_rows_forward(const UnitRows& arguments, cudaStream_t stream);
cudaError_t launch_unit_rows_backward(const UnitRows& arguments, cudaStream_t stream);

}  // namespace lockstep
