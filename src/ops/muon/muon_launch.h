// Lets plain C++ code launch the kernels of ops/muon/muon.h.
#pragma once

#include "ops/muon/muon_arguments.h"

#include <cuda_runtime_api.h>

namespace lockstep {

// The functions only enqueue work. They neither synchronise nor allocate.
cudaError_t launch_muon_momentum(const MuonArguments& arguments, cudaStream_t stream);
cudaError_t launch_muon_scale(const MuonArguments& arguments, cudaStream_t stream);
cudaError_t launch_muon_weights(const MuonArguments& arguments, cudaStream_t stream);

}  // namespace lockstep
