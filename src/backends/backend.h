// A kind of device behind one interface. The CPU is built in; CUDA lives in liblockstep-cuda.so, so
// that the same worker runs on machines without any GPU. docs/design/cuda.md lists what else
// another kind of GPU would touch.
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

// Recorded work that runs as a whole.
class Graph {
 public:
  virtual ~Graph() = default;
  virtual void replay() = 0;  // on the current stream
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
  // A collective backend over the world's ranks, which meet in `store`: NCCL or Gloo.
  virtual c10::intrusive_ptr<c10d::Backend> make_group(const c10::intrusive_ptr<c10d::Store>& store,
                                                       const World& world,
                                                       std::chrono::milliseconds timeout) = 0;
  // An uninitialised host tensor that uploads fast (pinned on GPUs).
  virtual at::Tensor host_empty(at::IntArrayRef sizes, at::ScalarType dtype) = 0;
  // Copies have the strides of dense tensors, channels-last ones for example.
  virtual std::unique_ptr<Upload> upload(std::vector<at::Tensor> host) = 0;
  virtual std::unique_ptr<Download> download(const at::Tensor& tensor) = 0;
  // Writes this moment of the current stream's work into slot, f64 [1] on the device, in seconds of
  // a clock of the device's own; NaN where it cannot tell. Can be captured.
  virtual void stamp(const at::Tensor& slot) = 0;
  virtual bool has_graphs() const { return false; }
  // Captures what `work` enqueues on the current stream as a graph, instead of running it. Memory
  // that it reads or writes must stay where it is for as long as the graph lives. Null if the
  // device has no graphs. Throws what `work` throws, or std::exception if something in it cannot be
  // captured.
  virtual std::unique_ptr<Graph> capture(const std::function<void()>& work) { return nullptr; }
  // A side stream for one capture, whose work overlaps with the current stream's. second: a further
  // one, for work without matrix products. Null if the device has none. The first call must come
  // outside a capture, because memory of a capture is returned with it. The backend outlives it.
  virtual std::unique_ptr<SideWork> side_work(bool second = false) { return nullptr; }
  virtual void synchronize() = 0;
  virtual MemoryUse memory() = 0;
  virtual void release_cached_memory() = 0;     // of the device
  virtual void release_cached_host_memory() {}  // that `host_empty` and `download` keep for later
};

// For LoaderOptions::pin: copies a host tensor into memory that uploads fast. Empty on the CPU,
// where nothing is uploaded. The backend outlives it.
std::function<at::Tensor(at::Tensor)> pin_for(Backend& backend);

Backend& cpu_backend();
// Loads liblockstep-cuda.so beside liblockstep.so, before the first ATen call, and returns its
// backend for device cuda:0 of this process. Throws Error if the library is absent (hint: build
// with LOCKSTEP_CUDA=ON), does not fit, or no GPU answers.
Backend& cuda_backend();

}  // namespace lockstep
