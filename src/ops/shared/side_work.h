// Work on a side stream, which later work of the current stream does not wait for, as the gradient
// of a weight. On GPUs it overlaps with that, on processors that kernels of few blocks leave idle.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace lockstep {

class SideWork {
 public:
  virtual ~SideWork() = default;
  // Enqueues `work`, which comes behind all that the current stream was given before, and behind
  // the side work before it. Returns its number. read: what of the current stream's memory it
  // reads, which is kept until that stream waited for it; it touches nothing else that may be given
  // back before. Where too much is kept, the current stream waits for the oldest.
  virtual std::int64_t run(const std::vector<at::Tensor>& read,
                           const std::function<void()>& work) = 0;
  // Work that the current stream gets from now on waits for that side work and all before it.
  virtual void wait(std::int64_t number) = 0;
  virtual void wait_for_all() = 0;
};

// Most bytes that side work may keep at once. An operation that reads more has blocks enough for
// all processors, and gains nothing.
inline constexpr std::int64_t side_work_bytes = std::int64_t{128} << 20;
std::int64_t bytes_of(at::TensorList tensors);

}  // namespace lockstep
