// at::cuda::CUDAGraph behind the engine's interface.
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

// Thread-local: the loader may allocate and NCCL's watchdog may ask for events meanwhile.
constexpr cudaStreamCaptureMode capture_mode = cudaStreamCaptureModeThreadLocal;

void nothing(void* /*data*/) {}

using Pool = c10::cuda::MempoolId_t;

// The pool of the graphs that live now; a new one where none does, because torch frees a pool with
// its last graph and does not know its name afterwards. Called on the training thread alone.
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
  // Whether capture_end came so far that the graph's destructor gives the memory pool back.
  bool ended() {
    try {
      graph_.pool();
      return true;
    } catch (const c10::Error&) {
      return false;
    }
  }

  // Torch takes back what capture_begin did (both allocators put the stream's memory into the pool
  // and reuse no block that another stream has used, its random generator counts for the graph) in
  // capture_end alone, and there only if the capture succeeded. So the failed one ends here, and
  // capture_end gets one that succeeds: of nothing.
  void abandon() {
    const c10::cuda::CUDAStreamGuard on_stream(stream_);
    cudaGraph_t unfinished = nullptr;
    static_cast<void>(cudaStreamEndCapture(stream_, &unfinished));
    if (unfinished != nullptr) static_cast<void>(cudaGraphDestroy(unfinished));
    static_cast<void>(cudaGetLastError());
    C10_CUDA_CHECK(cudaStreamBeginCapture(stream_, capture_mode));
    C10_CUDA_CHECK(cudaLaunchHostFunc(stream_, &nothing, nullptr));  // torch warns of empty graphs
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
