// Lets plain C++ code launch the embedding kernels.
#pragma once

#include "ops/shared/kernel_arguments.h"

#include <cuda_runtime_api.h>

namespace lockstep {

// The functions only enqueue work. They neither synchronise nor allocate.
cudaError_t launch_embedding_forward(const EmbeddingForward& arguments, cudaStream_t stream);
cudaError_t launch_embedding_backward(const EmbeddingBackward& arguments, cudaStream_t stream);
cudaError_t launch_embedding_sum(const EmbeddingSum& arguments, cudaStream_t stream);

}  // namespace lockstep
