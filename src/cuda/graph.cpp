// at::cuda::CUDAGraph behind the engine's interface.
#include "cuda/graph.h"

#include <ATen/cuda/CUDAGraph.h>
#include <cuda_runtime_api.h>

namespace lockstep {
namespace {

class CudaGraph : public Graph {
 public:
  explicit CudaGraph(const std::function<void()>& work) {
    // Thread-local: the loader may allocate and NCCL's watchdog may ask for events meanwhile.
    graph_.capture_begin({0, 0}, cudaStreamCaptureModeThreadLocal);
    try {
      work();
    } catch (...) {
      leave_capture();
      throw;
    }
    graph_.capture_end();
  }
  void replay() override { graph_.replay(); }

 private:
  // After a failure the capture may be invalid; ending it gives the stream back all the same.
  void leave_capture() {
    try {
      graph_.capture_end();
    } catch (const std::exception&) {
      static_cast<void>(cudaGetLastError());
    }
  }

  at::cuda::CUDAGraph graph_;
};

}  // namespace

std::unique_ptr<Graph> capture_graph(const std::function<void()>& work) {
  return std::make_unique<CudaGraph>(work);
}

}  // namespace lockstep
