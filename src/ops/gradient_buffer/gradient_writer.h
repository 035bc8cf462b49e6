// Decides where the parameters' gradients of one of our operations go in a backward pass: to
// gradient buffers or to autograd. The GradientWriter also decides whether the side stream computes
// the gradients.
#pragma once

#include "ops/gradient_buffer/gradient_buffer.h"

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>

namespace lockstep {

// A writer exists while the operation's backward function runs. Parameter k is element k of the
// constructor's `wanted`. If a side stream is used, the operation enqueues the gradients of its
// parameters first. Otherwise the operation computes the gradient of its input first, because other
// work waits for that gradient:
//   GradientWriter writer({{.parameter = weight, .needed = needs_weight}}, bytes_of({x, up}));
//   if (writer.on_side_stream()) of_parameters();
//   … the gradient of x …
//   if (!writer.on_side_stream()) of_parameters();
// The function of_parameters calls `open` for each parameter, then `run`.
class GradientWriter {
 public:
  struct Wanted {
    const at::Tensor& parameter;  // undefined if the operation has no such parameter
    bool needed = false;          // whether the backward pass needs the gradient
    GradientAbility can = {};
  };
  static constexpr std::size_t most_parameters = 6;
  static constexpr std::int64_t not_overlapped = std::numeric_limits<std::int64_t>::max();

  // Does not change any buffer. The work that computes the gradients reads `read_bytes` bytes. It
  // runs on the side stream if all of these conditions hold:
  //   - read_bytes is at most side_work_bytes;
  //   - the backward pass needs the gradient of each defined parameter;
  //   - each defined parameter has a gradient buffer with a side stream.
  explicit GradientWriter(std::initializer_list<Wanted> wanted,
                          std::int64_t read_bytes = not_overlapped);

  bool on_side_stream() const { return side_ != nullptr; }
  // Whether gradient k is needed and goes to a buffer.
  bool has_buffer(std::size_t k) const { return parts_[k].buffer != nullptr; }
  // Call this before `open` if one matrix product writes the gradients [begin, end). Either all or
  // none of these gradients are then written in their parameter's own dtype.
  void round_all_or_none(std::size_t begin, std::size_t end);
  // Returns where to write gradient k. The target is undefined if there is no buffer. Call it once
  // per gradient, because the buffer counts the calls.
  GradientTarget open(std::size_t k);
  // Returns where to write gradient k, as `open` does, but the target is always defined. If there
  // is no buffer, the target is new f32 memory that holds zeros, and `returned` returns its
  // contents. Parameter k must be defined.
  GradientTarget open_or_zeros(std::size_t k);
  // Returns gradient k for autograd, in the parameter's dtype. The result is undefined if the
  // gradient is not needed, or if it went to a buffer. Otherwise open_or_zeros(k) must have been
  // called before.
  at::Tensor returned(std::size_t k) const;
  // If on_side_stream() is true, enqueues `work` on the side stream. Otherwise calls `work` on the
  // current stream. `read` has the tensors that the work reads, if their memory belongs to the
  // current stream.
  template <class Work>
  void run(std::initializer_list<at::Tensor> read, const Work& work) const {
    if (side_ != nullptr)
      side_->run(read, work);
    else
      work();
  }

 private:
  struct Part {
    at::Tensor parameter;
    bool needed = false;
    GradientAbility can;
    std::shared_ptr<GradientBuffer> buffer;
    at::Tensor zeros;  // used in place of a buffer
  };
  SideWork* common_side() const;

  std::array<Part, most_parameters> parts_;
  std::size_t count_ = 0;
  SideWork* side_ = nullptr;
};

}  // namespace lockstep
