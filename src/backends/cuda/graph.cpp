// Implements the engine's graph interface with at::cuda::CUDAGraph.
#include "backends/cuda/graph.h"

#include "backends/cuda/graph_memsets.h"

#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>

#include <memory>

namespace lockstep {
namespace {

// With thread-local mode, other threads may call CUDA during a capture. The loader may allocate
// memory, and NCCL's watchdog may query events.
constexpr cudaStreamCaptureMode capture_mode = cudaStreamCaptureModeThreadLocal;

void nothing(void* /*data*/) {}

using Pool = c10::cuda::MempoolId_t;

// Returns the memory pool of the existing graphs, or a new one if there are none. Torch frees a
// pool with its last graph, and its handle is then invalid. Only the training thread may call this.
std::shared_ptr<const Pool> shared_pool() {
  static std::weak_ptr<const Pool> living;
  std::shared_ptr<const Pool> pool = living.lock();
  if (!pool) {
    pool = std::make_shared<const Pool>(at::cuda::graph_pool_handle());
    living = pool;
  }
  return pool;
}

class CudaGraph : public Graph {
 public:
  explicit CudaGraph(const std::function<void()>& work)
      : stream_(c10::cuda::getCurrentCUDAStream()), pool_(shared_pool()) {
    graph_.capture_begin(*pool_, capture_mode);
    try {
      work();
      graph_.capture_end();
      int replaced = 0;
      C10_CUDA_CHECK(replace_memsets(graph_.raw_cuda_graph(), &replaced));
      graph_.instantiate();
    } catch (...) {
      if (!ended()) abandon();
      throw;
    }
  }
  void replay() override { graph_.replay(); }

 private:
  // Whether capture_end got so far that the graph's destructor releases the memory pool.
  bool ended() {
    try {
      graph_.pool();
      return true;
    } catch (const c10::Error&) {
      return false;
    }
  }

  // Ends a failed capture. capture_begin makes both allocators use the pool for this stream. They
  // then reuse no block that another stream has used. It also makes the random generator count for
  // the graph. Torch reverts all this only in capture_end, and only if the capture succeeded. So
  // this function ends the failed capture. It then begins a new capture with an empty function, and
  // calls capture_end for that.
  void abandon() {
    const c10::cuda::CUDAStreamGuard on_stream(stream_);
    cudaGraph_t unfinished = nullptr;
    static_cast<void>(cudaStreamEndCapture(stream_, &unfinished));
    if (unfinished != nullptr) static_cast<void>(cudaGraphDestroy(unfinished));
    static_cast<void>(cudaGetLastError());
    C10_CUDA_CHECK(cudaStreamBeginCapture(stream_, capture_mode));
    // torch warns about empty graphs
    C10_CUDA_CHECK(cudaLaunchHostFunc(stream_, &nothing, nullptr));
    graph_.capture_end();
  }

  c10::cuda::CUDAStream stream_;
  std::shared_ptr<const Pool> pool_;
  at::cuda::CUDAGraph graph_{/*keep_graph=*/true};
};

}  // namespace

std::unique_ptr<Graph> capture_graph(const std::function<void()>& work) {
  return std::make_unique<CudaGraph>(work);
}

}  // namespace lockstep
