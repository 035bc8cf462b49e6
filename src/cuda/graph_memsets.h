// Memsets of a captured graph as kernels.
#pragma once

#include <cuda_runtime_api.h>

namespace lockstep {

// Libraries clear a few bytes before many of their kernels. As a node of its own such a memset
// holds the graph up for some 5 us, which a kernel does not. Each memset of at most
// `replaced_memset_bytes` becomes a kernel with the same dependencies; larger ones the driver runs
// as kernels anyway. graph: captured, not yet instantiated. replaced: how many.
cudaError_t replace_memsets(cudaGraph_t graph, int* replaced);
constexpr size_t replaced_memset_bytes = 64 << 10;

}  // namespace lockstep
