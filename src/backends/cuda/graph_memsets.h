// Replaces memsets of a captured graph by kernels.
#pragma once

#include <cuda_runtime_api.h>

namespace lockstep {

// Libraries clear a few bytes before many of their kernels. Such a memset as a graph node delays
// the graph by about 5 us, while a kernel does not. Each memset of at most `replaced_memset_bytes`
// becomes a kernel with the same dependencies. The driver runs larger ones as kernels anyway.
// graph: captured, not yet instantiated. replaced: gets the number of replaced memsets.
cudaError_t replace_memsets(cudaGraph_t graph, int* replaced);
constexpr size_t replaced_memset_bytes = 64 << 10;

}  // namespace lockstep
