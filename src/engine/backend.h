// A kind of device behind one interface: the CPU is built in, CUDA lives in liblockstep-cuda.so, so
// that the same worker runs on machines without any GPU.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/intrusive_ptr.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace c10d {
class Backend;
class Store;
}  // namespace c10d

namespace lockstep {

// Host tensors on their way to the device. Holds the sources until they have been read.
class Upload {
 public:
  virtual ~Upload() = default;
  // The copies; work enqueued on the current stream after this call sees them complete.
  virtual std::vector<at::Tensor> take() = 0;
};

// A device tensor on its way to the host.
class Download {
 public:
  virtual ~Download() = default;
  virtual bool ready() = 0;
  virtual at::Tensor get() = 0;  // blocks until it is there; a CPU tensor
};

// A moment in the work of the current stream.
class Mark {
 public:
  virtual ~Mark() = default;
  virtual bool reached() = 0;
  virtual double seconds_since(Mark& earlier) = 0;  // blocks until both are reached
};

struct MemoryUse {
  std::int64_t allocated_bytes = 0, reserved_bytes = 0, peak_bytes = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual at::Device device() const = 0;
  virtual std::string description() const = 0;  // "NVIDIA H200, sm_90, NCCL 2.28"

  // Makes the calling thread's current stream the one that all training work runs on (parameters
  // are created, warmed up and captured on one side stream); until the process ends.
  virtual void use_training_stream() = 0;
  // A collective backend over `size` ranks that meet in `store`: NCCL or Gloo.
  virtual c10::intrusive_ptr<c10d::Backend> make_group(const c10::intrusive_ptr<c10d::Store>& store,
                                                       int rank, int size,
                                                       std::chrono::milliseconds timeout) = 0;
  // An uninitialised host tensor that uploads fast (pinned on GPUs).
  virtual at::Tensor host_empty(at::IntArrayRef sizes, at::ScalarType dtype) = 0;
  virtual std::unique_ptr<Upload> upload(std::vector<at::Tensor> host) = 0;
  virtual std::unique_ptr<Download> download(const at::Tensor& tensor) = 0;
  virtual std::unique_ptr<Mark> mark();  // the default: the host's clock
  virtual void synchronize() = 0;
  virtual MemoryUse memory() = 0;
  virtual void release_cached_memory() = 0;
};

Backend& cpu_backend();
// Loads liblockstep-cuda.so beside liblockstep.so, before the first ATen call, and returns its
// backend for device cuda:0 of this process. Throws Error if the library is absent (hint: build
// with LOCKSTEP_CUDA=ON), does not fit, or no GPU answers.
Backend& cuda_backend();

}  // namespace lockstep
