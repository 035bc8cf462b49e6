// Work on a side stream, such as the gradient of a weight. Later work of the current stream does
// not wait for it. On GPUs the two overlap, because kernels of few blocks leave multiprocessors
// idle.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace lockstep {

class SideWork {
 public:
  virtual ~SideWork() = default;
  // Enqueues `work`. It runs after all work that is already enqueued on the current stream, and
  // after earlier side work. Returns the number of this work. read: the tensors that it reads and
  // whose memory belongs to the current stream. They are kept until the current stream has waited
  // for this work. The work must not use other memory that may be freed before it ends. If too much
  // is kept, the current stream waits for the oldest side work.
  virtual std::int64_t run(const std::vector<at::Tensor>& read,
                           const std::function<void()>& work) = 0;
  // Work enqueued on the current stream from now on waits for that side work and all side work
  // before it.
  virtual void wait(std::int64_t number) = 0;
  virtual void wait_for_all() = 0;
};

// The largest number of bytes that side work may keep at once. An operation that reads more has
// enough blocks for all multiprocessors, and would gain nothing.
inline constexpr std::int64_t side_work_bytes = std::int64_t{128} << 20;
std::int64_t bytes_of(at::TensorList tensors);

}  // namespace lockstep
