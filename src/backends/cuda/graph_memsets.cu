#include "backends/cuda/graph_memsets.h"

#include <cstdint>
#include <vector>

namespace lockstep {
namespace {

constexpr int threads = 256;

// Runs as one block. element_bytes: how many low bytes of `value` are repeated: 1, 2 or 4.
// row_bytes and pitch must be multiples of it.
__global__ void __launch_bounds__(threads)
    memset_kernel(char* to, std::size_t pitch, std::size_t row_bytes, std::size_t rows,
                  unsigned value, unsigned element_bytes) {
  const std::size_t columns = row_bytes / element_bytes;
  for (std::size_t row = 0; row < rows; ++row) {
    char* const at = to + row * pitch;
    for (std::size_t i = threadIdx.x; i < columns; i += threads) {
      if (element_bytes == 4)
        reinterpret_cast<std::uint32_t*>(at)[i] = value;
      else if (element_bytes == 2)
        reinterpret_cast<std::uint16_t*>(at)[i] = static_cast<std::uint16_t>(value);
      else
        reinterpret_cast<std::uint8_t*>(at)[i] = static_cast<std::uint8_t>(value);
    }
  }
}

#define RETURN_IF_FAILED(call)                \
  do {                                        \
    const cudaError_t failed = call;          \
    if (failed != cudaSuccess) return failed; \
  } while (false)

using Nodes = std::vector<cudaGraphNode_t>;

// Edges of a memset carry no data, because a memset uses no programmatic launch.
cudaError_t dependencies_of(cudaGraphNode_t node, Nodes& nodes) {
  std::size_t count = 0;
#if CUDART_VERSION >= 13000
  RETURN_IF_FAILED(cudaGraphNodeGetDependencies(node, nullptr, nullptr, &count));
  nodes.resize(count);
  std::vector<cudaGraphEdgeData> edges(count);
  return cudaGraphNodeGetDependencies(node, nodes.data(), edges.data(), &count);
#else
  RETURN_IF_FAILED(cudaGraphNodeGetDependencies(node, nullptr, &count));
  nodes.resize(count);
  return cudaGraphNodeGetDependencies(node, nodes.data(), &count);
#endif
}

cudaError_t dependents_of(cudaGraphNode_t node, Nodes& nodes) {
  std::size_t count = 0;
#if CUDART_VERSION >= 13000
  RETURN_IF_FAILED(cudaGraphNodeGetDependentNodes(node, nullptr, nullptr, &count));
  nodes.resize(count);
  std::vector<cudaGraphEdgeData> edges(count);
  return cudaGraphNodeGetDependentNodes(node, nodes.data(), edges.data(), &count);
#else
  RETURN_IF_FAILED(cudaGraphNodeGetDependentNodes(node, nullptr, &count));
  nodes.resize(count);
  return cudaGraphNodeGetDependentNodes(node, nodes.data(), &count);
#endif
}

cudaError_t add_dependents(cudaGraph_t graph, cudaGraphNode_t node, const Nodes& dependents) {
  const Nodes from(dependents.size(), node);
#if CUDART_VERSION >= 13000
  return cudaGraphAddDependencies(graph, from.data(), dependents.data(), nullptr,
                                  dependents.size());
#else
  return cudaGraphAddDependencies(graph, from.data(), dependents.data(), dependents.size());
#endif
}

cudaError_t replace(cudaGraph_t graph, cudaGraphNode_t memset, const cudaMemsetParams& params) {
  Nodes before, after;
  RETURN_IF_FAILED(dependencies_of(memset, before));
  RETURN_IF_FAILED(dependents_of(memset, after));
  auto* to = static_cast<char*>(params.dst);
  std::size_t pitch = params.pitch, row_bytes = params.width * params.elementSize;
  std::size_t rows = params.height;
  unsigned value = params.value, element_bytes = params.elementSize;
  void* arguments[] = {&to, &pitch, &row_bytes, &rows, &value, &element_bytes};
  cudaKernelNodeParams launch{};
  launch.func = reinterpret_cast<void*>(&memset_kernel);
  launch.gridDim = dim3(1);
  launch.blockDim = dim3(threads);
  launch.kernelParams = arguments;
  cudaGraphNode_t kernel = nullptr;
  RETURN_IF_FAILED(cudaGraphAddKernelNode(&kernel, graph, before.data(), before.size(), &launch));
  if (!after.empty()) RETURN_IF_FAILED(add_dependents(graph, kernel, after));
  return cudaGraphDestroyNode(memset);
}

}  // namespace

cudaError_t replace_memsets(cudaGraph_t graph, int* replaced) {
  *replaced = 0;
  std::size_t count = 0;
  RETURN_IF_FAILED(cudaGraphGetNodes(graph, nullptr, &count));
  Nodes nodes(count);
  RETURN_IF_FAILED(cudaGraphGetNodes(graph, nodes.data(), &count));
  for (const cudaGraphNode_t node : nodes) {
    cudaGraphNodeType type{};
    RETURN_IF_FAILED(cudaGraphNodeGetType(node, &type));
    if (type != cudaGraphNodeTypeMemset) continue;
    cudaMemsetParams params{};
    RETURN_IF_FAILED(cudaGraphMemsetNodeGetParams(node, &params));
    if (params.width * params.elementSize * params.height > replaced_memset_bytes) continue;
    RETURN_IF_FAILED(replace(graph, node, params));
    ++*replaced;
  }
  return cudaSuccess;
}

#undef RETURN_IF_FAILED

}  // namespace lockstep
