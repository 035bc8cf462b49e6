// The interface through which operations enqueue work on a side stream, such as the gradient of a
// weight. Later work on the current stream does not wait for this side work, so the two overlap on
// GPUs. This pays because kernels with few thread blocks leave multiprocessors idle.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace lockstep {

class SideWork {
 public:
  virtual ~SideWork() = default;
  // Calls work(), which enqueues kernels on the side stream. The kernels run after all work that is
  // already enqueued on the current stream, and after earlier side work. Returns a number that
  // identifies this side work in `wait`.
  //
  // read: the tensors that the kernels read, if their memory belongs to the current stream. These
  // tensors are kept until the current stream has waited for this side work. The kernels must not
  // use other memory that may be freed before they end. If the tensors of too much side work are
  // kept, the current stream waits for the oldest side work.
  virtual std::int64_t run(const std::vector<at::Tensor>& read,
                           const std::function<void()>& work) = 0;
  // Makes later work on the current stream wait for side work `number` and all side work before it.
  virtual void wait(std::int64_t number) = 0;
  virtual void wait_for_all() = 0;
};

// The largest number of bytes that should be kept for side work at once. An operation that reads
// more bytes has enough thread blocks for all multiprocessors, so an overlap would gain nothing.
inline constexpr std::int64_t side_work_bytes = std::int64_t{128} << 20;
std::int64_t bytes_of(at::TensorList tensors);

}  // namespace lockstep
