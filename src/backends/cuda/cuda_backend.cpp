// The CUDA backend, and the function by which the engine finds it in this library.
#include "backends/backend.h"
#include "backends/cuda/graph.h"
#include "backends/cuda/kernels.h"
#include "backends/cuda/libraries/cudnn_attention.h"
#include "backends/cuda/libraries/matmul.h"
#include "backends/cuda/nccl_group.h"
#include "backends/cuda/preload.h"
#include "backends/cuda/side_work.h"
#include "backends/cuda/transfers.h"
#include "backends/out_of_memory.h"
#include "core/base/error.h"
#include "core/base/text/text.h"
#include "ops/matmul/matmul.h"

#include <ATen/Context.h>
#include <ATen/core/CachingHostAllocator.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdlib>
#include <limits>
#include <string_view>

namespace lockstep {
namespace {

std::string cuda_version(int number) { return cat(number / 1000, ".", number % 1000 / 10); }

// Whether LOCKSTEP_KERNELS=aten disables our kernels, for comparisons or to locate a fault.
bool only_aten() {
  const char* const wish = std::getenv("LOCKSTEP_KERNELS");
  if (wish == nullptr || *wish == 0 || std::string_view(wish) == "own") return false;
  if (std::string_view(wish) == "aten") return true;
  throw Error(cat("LOCKSTEP_KERNELS must be own or aten, but is ", wish), "unset it");
}

// For register_memory_shortage. Libraries load kernels and allocate memory outside ATen's
// allocator. So memory is also short if ATen's allocator leaves less than `little_bytes` free.
bool memory_is_short() {
  constexpr std::size_t little_bytes = std::size_t{512} << 20;
  static std::atomic<std::int64_t> known = 0;
  const std::int64_t failures = c10::cuda::CUDACachingAllocator::getDeviceStats(0).num_ooms;
  if (known.exchange(failures) < failures) return true;
  std::size_t free_bytes = 0, all_bytes = 0;
  if (cudaMemGetInfo(&free_bytes, &all_bytes) == cudaSuccess) return free_bytes < little_bytes;
  static_cast<void>(cudaGetLastError());
  return false;
}

class CudaBackend : public Backend {
 public:
  CudaBackend() {
    register_memory_shortage(&memory_is_short);
    if (only_aten()) return;
    register_cuda_matmul(&run_matmul);
    AttentionKernels attention = attention_kernels();
    attention.ragged_flash = at::cuda::getCurrentDeviceProperties()->major >= 8;
    register_cuda_attention(attention);
    own_kernels_ = register_kernels();
  }

  at::Device device() const override { return {at::kCUDA, 0}; }

  std::string description() const override {
    cudaDeviceProp properties;
    C10_CUDA_CHECK(cudaGetDeviceProperties(&properties, 0));
    int driver = 0;
    C10_CUDA_CHECK(cudaDriverGetVersion(&driver));
    return cat(properties.name, ", sm_", properties.major, properties.minor, ", NCCL ",
               nccl_version(), ", driver for CUDA ", cuda_version(driver),
               own_kernels_ ? "" : ", without Lockstep's own kernels");
  }

  void use_training_stream() override { c10::cuda::setCurrentCUDAStream(training_stream_); }

  c10::intrusive_ptr<c10d::Backend> make_group(const c10::intrusive_ptr<c10d::Store>& store,
                                               const World& world,
                                               std::chrono::milliseconds timeout) override {
    return make_nccl_group(store, world.rank, world.size, device(), timeout);
  }

  at::Tensor host_empty(at::IntArrayRef sizes, at::ScalarType dtype) override {
    return pinned_empty(sizes, dtype);
  }
  std::unique_ptr<Upload> upload(std::vector<at::Tensor> host) override {
    return start_upload(host, copy_stream_);
  }
  std::unique_ptr<Download> download(const at::Tensor& tensor) override {
    return start_download(tensor);
  }
  void stamp(const at::Tensor& slot) override {
    if (own_kernels_)
      stamp_device_time(slot);
    else
      slot.fill_(std::numeric_limits<double>::quiet_NaN());
  }
  bool has_graphs() const override { return true; }
  std::unique_ptr<Graph> capture(const std::function<void()>& work) override {
    return capture_graph(work);
  }
  std::unique_ptr<SideWork> side_work(bool second) override {
    if (second) return make_side_work(second_side_stream_);
    const c10::cuda::CUDAStreamGuard on_side(side_stream_);
    if (!only_aten()) reserve_matmul_workspace();
    return make_side_work(side_stream_);
  }
  void synchronize() override { c10::cuda::device_synchronize(); }

  MemoryUse memory() override {
    const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(0);
    constexpr auto all = static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);
    return {.allocated_bytes = stats.allocated_bytes[all].current,
            .reserved_bytes = stats.reserved_bytes[all].current,
            .peak_bytes = stats.allocated_bytes[all].peak};
  }
  void release_cached_memory() override { c10::cuda::CUDACachingAllocator::emptyCache(); }
  void release_cached_host_memory() override { at::getHostAllocator(at::kCUDA)->empty_cache(); }

 private:
  // High priority, like NCCL's streams, so that neither of them starves. Copies have low priority.
  c10::cuda::CUDAStream training_stream_ = c10::cuda::getStreamFromPool(/*isHighPriority=*/true, 0);
  c10::cuda::CUDAStream copy_stream_ = c10::cuda::getStreamFromPool(/*isHighPriority=*/false, 0);
  // The middle priority. Kernels of equal priority start in the order of their launches. Work on
  // this stream overlaps the backward pass. It must not wait for the table's update, which has
  // thousands of blocks.
  c10::cuda::CUDAStream side_stream_ = c10::cuda::getStreamFromPool(/*priority=*/-1, 0);
  c10::cuda::CUDAStream second_side_stream_ =
      c10::cuda::getStreamFromPool(/*isHighPriority=*/false, 0);
  bool own_kernels_ = false;
};

// Throws Error unless CUDA sees a GPU.
void require_gpu() {
  int count = 0, driver = 0, runtime = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaSuccess && count > 0) return;
  static_cast<void>(cudaGetLastError());
  static_cast<void>(cudaDriverGetVersion(&driver));
  static_cast<void>(cudaRuntimeGetVersion(&runtime));
  if (error == cudaErrorInsufficientDriver)
    throw Error(cat("this build needs an NVIDIA driver for CUDA ", cuda_version(runtime),
                    driver == 0 ? ", and there is none"
                                : cat(", but the driver here is for CUDA ", cuda_version(driver))),
                cat("install an NVIDIA driver for CUDA ", cuda_version(runtime),
                    " or newer, or use --devices cpu"));
  throw Error(cat("no GPU answers: ",
                  error == cudaSuccess ? "CUDA counts none" : cudaGetErrorString(error)),
              "check nvidia-smi and CUDA_VISIBLE_DEVICES, or use --devices cpu");
}

Backend* start() {
  require_gpu();
  preload_nvrtc();
  try {
    at::globalContext().lazyInitDevice(at::kCUDA);
    // never destroyed, because CUDA may be shut down before static destructors run
    return new CudaBackend;
  } catch (const c10::Error& error) {
    throw Error(cat("could not start the GPU: ", error.what_without_backtrace()),
                "check nvidia-smi for other programs on the GPU, or use --devices cpu");
  }
}

}  // namespace
}  // namespace lockstep

// Returns the same object at every call. Throws lockstep::Error.
extern "C" __attribute__((visibility("default"))) lockstep::Backend* lockstep_cuda_backend() {
  static lockstep::Backend* backend = lockstep::start();
  return backend;
}
