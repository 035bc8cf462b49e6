// Runs matrix products with cuBLASLt. Each shape is described to the library once. Its algorithm is
// chosen by measurement.
#include "backends/cuda/libraries/matmul.h"

#include "backends/cuda/libraries/lt_product.h"
#include "ops/matmul/matmul.h"

#include <ATen/Context.h>
#include <ATen/ops/empty.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGraphsC10Utils.h>
#include <c10/cuda/CUDAStream.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace lockstep {
namespace {

constexpr int most_candidates = 16, rounds = 4;
// most shapes to measure; if shapes change all the time, measuring never pays
constexpr int most_tuned = 128;
constexpr float run_ms = 0.3F;       // approximate time for which a candidate runs in a round
constexpr float worthwhile = 0.98F;  // a smaller gain is taken for noise

class Stopwatch {
 public:
  explicit Stopwatch(cudaStream_t stream) : stream_(stream) {
    C10_CUDA_CHECK(cudaEventCreate(&begin_));
    C10_CUDA_CHECK(cudaEventCreate(&end_));
  }
  ~Stopwatch() {
    C10_CUDA_IGNORE_ERROR(cudaEventDestroy(begin_));
    C10_CUDA_IGNORE_ERROR(cudaEventDestroy(end_));
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  // Returns the mean milliseconds of one run, or a negative number if a run was refused.
  template <class Run>
  float time(int times, const Run& run) {
    bool accepted = true;
    C10_CUDA_CHECK(cudaEventRecord(begin_, stream_));
    for (int i = 0; i < times; ++i) accepted = run() && accepted;
    C10_CUDA_CHECK(cudaEventRecord(end_, stream_));
    C10_CUDA_CHECK(cudaEventSynchronize(end_));
    float all_ms = 0;
    C10_CUDA_CHECK(cudaEventElapsedTime(&all_ms, begin_, end_));
    return accepted ? all_ms / static_cast<float>(times) : -1;
  }

 private:
  cudaStream_t stream_;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

// Measures the candidates by repeating the product into `arguments.out`. A product that accumulates
// into `out` is written to a separate tensor instead.
std::size_t fastest(const LtProduct& product, MatmulArguments arguments, const LtPlace& place) {
  at::Tensor scratch;
  if (arguments.accumulate && arguments.addend == nullptr) {
    const auto bytes = arguments.m * arguments.n * (arguments.out_is_f32 ? 4 : 2);
    try {
      scratch = at::empty({bytes}, at::TensorOptions().device(at::kCUDA).dtype(at::kByte));
    } catch (const c10::OutOfMemoryError&) {
      return 0;  // the library's first choice
    }
    arguments.out = scratch.mutable_data_ptr();
  }
  Stopwatch stopwatch(place.stream);
  const std::size_t candidates = product.candidates();
  std::vector<float> best(candidates, -1);
  std::vector<int> times(candidates, 1);
  // candidates alternate, so that a change of clock rate affects all of them
  for (int round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < candidates; ++i) {
      if (round > 0 && best[i] < 0) continue;
      const float ms = stopwatch.time(
          times[i], [&] { return product.run(i, arguments, place) == CUBLAS_STATUS_SUCCESS; });
      if (round <= 1 || ms < best[i]) best[i] = ms;  // the first round only warms up
      if (ms > 0) times[i] = std::clamp(static_cast<int>(run_ms / ms), 1, 20);
    }
  std::size_t chosen = 0;
  for (std::size_t i = 1; i < candidates; ++i)
    if (best[i] >= 0 && (best[chosen] < 0 || best[i] < best[chosen] * worthwhile)) chosen = i;
  return chosen;
}

class Library {
 public:
  bool run(const MatmulArguments& arguments) {
    const std::lock_guard lock(mutex_);
    const cudaStream_t stream = c10::cuda::getCurrentCUDAStream();
    const LtPlace place{.workspace = workspace_of(stream).mutable_data_ptr(), .stream = stream};
    Known& known = known_[key_of(arguments)];
    if (!known.product) known.product = std::make_unique<LtProduct>(arguments, most_candidates);
    if (known.product->candidates() == 0) return false;
    // A shape is measured at its second use, because measuring a shape that is used only once does
    // not pay.
    if (known.used && !known.tuned && tuned_ < most_tuned && may_try()) {
      known.chosen = fastest(*known.product, arguments, place);
      known.tuned = true;
      ++tuned_;
    }
    known.used = true;
    const cublasStatus_t status = known.product->run(known.chosen, arguments, place);
    if (status == CUBLAS_STATUS_NOT_SUPPORTED) return false;
    TORCH_CHECK(status == CUBLAS_STATUS_SUCCESS,
                "cublasLtMatmul failed: ", cublasLtGetStatusString(status));
    return true;
  }

  void reserve() {
    const std::lock_guard lock(mutex_);
    workspace_of(c10::cuda::getCurrentCUDAStream());
  }

 private:
  at::Tensor& workspace_of(cudaStream_t stream) {
    at::Tensor& workspace = workspaces_[stream];
    if (!workspace.defined())
      workspace =
          at::empty({lt_workspace_bytes}, at::TensorOptions().device(at::kCUDA).dtype(at::kByte));
    return workspace;
  }

  struct Known {
    std::unique_ptr<LtProduct> product;
    std::size_t chosen = 0;
    bool used = false, tuned = false;
  };
  using Key = std::array<std::int64_t, 12>;

  static Key key_of(const MatmulArguments& a) {
    const int flags = (a.left_transposed ? 1 : 0) | (a.right_transposed ? 2 : 0) |
                      (a.accumulate ? 4 : 0) | (a.out_is_f32 ? 8 : 0) |
                      (a.bias != nullptr ? 16 : 0) | (a.addend != nullptr ? 32 : 0);
    return {a.m,
            a.n,
            a.k,
            flags,
            static_cast<std::int64_t>(a.dtype),
            alignment_of(a.left),
            alignment_of(a.right),
            std::min(alignment_of(a.out), alignment_of(a.addend)),
            a.batch,
            a.left_stride,
            a.right_stride,
            a.out_stride};
  }
  static bool may_try() {
    return matmul_tuning() && !at::globalContext().deterministicAlgorithms() &&
           c10::cuda::currentStreamCaptureStatusMayInitCtx() == c10::cuda::CaptureStatus::None;
  }

  std::mutex mutex_;
  int tuned_ = 0;
  std::map<Key, Known> known_;
  // one per stream, because products on two streams may run at once
  std::map<cudaStream_t, at::Tensor> workspaces_;
};

Library& library() {
  static Library* const one = new Library;  // never destroyed, because CUDA may be shut down before
  return *one;
}

}  // namespace

bool run_matmul(const MatmulArguments& arguments) { return library().run(arguments); }
void reserve_matmul_workspace() { library().reserve(); }

}  // namespace lockstep
