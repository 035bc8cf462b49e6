// Replaces the memset nodes of a captured graph with kernels.
#pragma once

#include <cuda_runtime_api.h>

namespace lockstep {

// Replaces each memset of at most replaced_memset_bytes with a kernel that has the same
// dependencies. Libraries clear a few bytes before many of their kernels. Each small memset node
// delays the graph by about 5 us, but a kernel in its place does not. The driver itself runs larger
// memsets as kernels.
//   graph      captured, not yet instantiated
//   replaced   gets the number of replaced memsets
cudaError_t replace_memsets(cudaGraph_t graph, int* replaced);
constexpr size_t replaced_memset_bytes = 64 << 10;

}  // namespace lockstep
