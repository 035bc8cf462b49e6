// The interface to a kind of device. The CPU backend is built in. The CUDA backend is in
// liblockstep-cuda.so, so the same worker program runs on machines without a GPU.
// docs/design/cuda.md lists the requirements for another kind of GPU.
#pragma once

#include "ops/shared/side_work.h"
#include "runtime/launch/world/world.h"

#include <ATen/core/Tensor.h>
#include <c10/util/intrusive_ptr.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace c10d {
class Backend;
class Store;
}  // namespace c10d

namespace lockstep {

// An unfinished copy of host tensors to the device. It keeps the host tensors until they have been
// read.
class Upload {
 public:
  virtual ~Upload() = default;
  // Returns the copies. Work enqueued on the current stream after this call sees them complete.
  virtual std::vector<at::Tensor> take() = 0;
};

// An unfinished copy of a device tensor to the host.
class Download {
 public:
  virtual ~Download() = default;
  virtual bool ready() = 0;
  virtual at::Tensor get() = 0;  // waits for the copy; returns a CPU tensor
};

// Captured work that is replayed as a whole. On GPUs it is a CUDA graph.
class Graph {
 public:
  virtual ~Graph() = default;
  virtual void replay() = 0;  // runs on the current stream
};

struct MemoryUse {
  std::int64_t allocated_bytes = 0, reserved_bytes = 0, peak_bytes = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual at::Device device() const = 0;
  // For example "NVIDIA H200, sm_90, NCCL 2.28.9, driver for CUDA 13.0".
  virtual std::string description() const = 0;

  // Sets the calling thread's current stream to the training stream, until the process ends. All
  // training work runs on that stream: parameters are created on it, and steps are warmed up and
  // captured on it.
  virtual void use_training_stream() = 0;
  // Makes c10d's backend for collectives among all ranks of `world`: NCCL on GPUs, Gloo on the CPU.
  // The ranks connect through `store`.
  virtual c10::intrusive_ptr<c10d::Backend> make_group(const c10::intrusive_ptr<c10d::Store>& store,
                                                       const World& world,
                                                       std::chrono::milliseconds timeout) = 0;
  // Returns an uninitialised host tensor. On GPUs its memory is pinned, so that uploads are fast.
  virtual at::Tensor host_empty(at::IntArrayRef sizes, at::ScalarType dtype) = 0;
  // upload and download start copies. On the CPU, upload returns the host tensors themselves. A
  // copy keeps the strides of its source if the source is dense (layout.h), for example
  // channels-last.
  virtual std::unique_ptr<Upload> upload(std::vector<at::Tensor> host) = 0;
  virtual std::unique_ptr<Download> download(const at::Tensor& tensor) = 0;
  // Enqueues work on the current stream that writes the time at which it runs to `slot`, f64 [1] on
  // the device. The time is in seconds, by the device's own clock. It is NaN if the device has no
  // such clock. The work can be captured into a graph.
  virtual void stamp(const at::Tensor& slot) = 0;
  virtual bool has_graphs() const { return false; }
  // Calls work(). The work that this call enqueues on the current stream is captured into a graph
  // and does not run yet. Memory that the captured work uses must keep its address as long as the
  // graph exists. Returns null if the device has no graphs. Exceptions of work() are passed on.
  // Throws std::exception if something that work() enqueues cannot be captured.
  virtual std::unique_ptr<Graph> capture(const std::function<void()>& work) { return nullptr; }
  // Returns a SideWork for one capture. Work that is enqueued through it runs on a side stream, and
  // overlaps with work on the current stream. `second` selects a second side stream, for work
  // without matrix products. Returns null if the device has no side streams. Make the first call
  // outside of a capture, because it allocates memory that would be freed with the capture. The
  // backend must outlive the result.
  virtual std::unique_ptr<SideWork> side_work(bool second = false) { return nullptr; }
  virtual void synchronize() = 0;
  virtual MemoryUse memory() = 0;
  virtual void release_cached_memory() = 0;  // frees cached memory of the device
  // Frees pinned host memory that is cached but not in use.
  virtual void release_cached_host_memory() {}
};

// Returns a function for LoaderOptions::pin. The function copies a host tensor into pinned memory,
// so that its upload is fast. The function is empty on the CPU, where nothing is uploaded. The
// backend must outlive the function.
std::function<at::Tensor(at::Tensor)> pin_for(Backend& backend);

Backend& cpu_backend();
// Loads liblockstep-cuda.so from the folder of liblockstep.so, and returns its backend for device
// cuda:0 of this process. Call it before the first ATen call. Throws Error if the library is absent
// or cannot be loaded, or if CUDA finds no usable GPU. If the library is absent, the hint is to
// build with LOCKSTEP_CUDA=ON.
Backend& cuda_backend();

}  // namespace lockstep
