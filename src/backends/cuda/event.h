// Wraps a CUDA event, which is destroyed with its owner.
#pragma once

#include <cuda_runtime_api.h>

namespace lockstep {

// Neither copyable nor movable. The functions throw c10::Error if CUDA reports a failure. The
// failure may come from any earlier work on the device.
class Event {
 public:
  // Creates an event without timing.
  Event();
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void record(cudaStream_t stream);
  void make_wait(cudaStream_t stream) const;  // later work on `stream` waits; the host does not
  bool reached() const;
  void synchronize() const;  // blocks the host

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace lockstep
