// One interface for each kind of device. The CPU is built in. CUDA is in liblockstep-cuda.so, so
// that the same worker runs on machines without any GPU. docs/design/cuda.md lists what else
// another kind of GPU would need.
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

// A copy of host tensors to the device, in progress. Holds the sources until they have been read.
class Upload {
 public:
  virtual ~Upload() = default;
  // Returns the copies. Work enqueued on the current stream after this call sees them complete.
  virtual std::vector<at::Tensor> take() = 0;
};

// A copy of a device tensor to the host, in progress.
class Download {
 public:
  virtual ~Download() = default;
  virtual bool ready() = 0;
  virtual at::Tensor get() = 0;  // blocks until the copy is complete; returns a CPU tensor
};

// Captured work that runs as a whole.
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
  virtual std::string description() const = 0;  // "NVIDIA H200, sm_90, NCCL 2.28"

  // Sets the calling thread's current stream to the one on which all training work runs, until the
  // process ends. Parameters are created on this one side stream, and steps are warmed up and
  // captured on it.
  virtual void use_training_stream() = 0;
  // Makes a collective backend for the world's ranks, which meet in `store`: NCCL or Gloo.
  virtual c10::intrusive_ptr<c10d::Backend> make_group(const c10::intrusive_ptr<c10d::Store>& store,
                                                       const World& world,
                                                       std::chrono::milliseconds timeout) = 0;
  // An uninitialised host tensor that uploads fast (pinned on GPUs).
  virtual at::Tensor host_empty(at::IntArrayRef sizes, at::ScalarType dtype) = 0;
  // Copies keep the strides of dense tensors, for example of channels-last ones.
  virtual std::unique_ptr<Upload> upload(std::vector<at::Tensor> host) = 0;
  virtual std::unique_ptr<Download> download(const at::Tensor& tensor) = 0;
  // Writes the time at which the current stream reaches this call into slot, f64 [1] on the device,
  // in seconds of the device's own clock. NaN if the device has no such clock. Can be captured.
  virtual void stamp(const at::Tensor& slot) = 0;
  virtual bool has_graphs() const { return false; }
  // Captures the work that `work` enqueues on the current stream as a graph, instead of running it.
  // Memory that it reads or writes must stay at the same address as long as the graph exists. Null
  // if the device has no graphs. Throws what `work` throws, or std::exception if something in it
  // cannot be captured.
  virtual std::unique_ptr<Graph> capture(const std::function<void()>& work) { return nullptr; }
  // Returns a side stream for one capture. Its work overlaps with that of the current stream.
  // second: a further side stream, for work without matrix products. Null if the device has none.
  // The first call must come outside a capture, because memory allocated in a capture is freed with
  // it. The backend outlives the result.
  virtual std::unique_ptr<SideWork> side_work(bool second = false) { return nullptr; }
  virtual void synchronize() = 0;
  virtual MemoryUse memory() = 0;
  virtual void release_cached_memory() = 0;     // frees cached memory of the device
  virtual void release_cached_host_memory() {}  // frees what `host_empty` and `download` keep
};

// For LoaderOptions::pin: returns a function that copies a host tensor into memory that uploads
// fast. Empty on the CPU, where nothing is uploaded. The backend outlives the result.
std::function<at::Tensor(at::Tensor)> pin_for(Backend& backend);

Backend& cpu_backend();
// Loads liblockstep-cuda.so from the folder of liblockstep.so, and returns its backend for device
// cuda:0 of this process. Call it before the first ATen call. Throws Error if the library is absent
// (hint: build with LOCKSTEP_CUDA=ON), does not fit, or no GPU answers.
Backend& cuda_backend();

}  // namespace lockstep
