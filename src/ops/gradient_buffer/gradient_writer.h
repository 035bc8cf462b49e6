// Decides for one of our operations where its parameters' gradients go in a backward pass: to
// gradient buffers or to autograd. The writer also decides whether the side stream computes the
// gradients.
#pragma once

#include "ops/gradient_buffer/gradient_buffer.h"

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>

namespace lockstep {

// A writer exists while the operation's backward function runs. Parameter k is element k of
// `wanted`. With a side stream, an operation first enqueues the gradients of its parameters.
// Without a side stream, it computes the gradient of its input first, because other work waits for
// that gradient:
//   GradientWriter writer({{.parameter = weight, .needed = needs_weight}}, bytes_of({x, up}));
//   if (writer.on_side_stream()) of_parameters();
//   … the gradient of x …
//   if (!writer.on_side_stream()) of_parameters();
// The function of_parameters calls `open` for each parameter, then `run`.
class GradientWriter {
 public:
  struct Wanted {
    const at::Tensor& parameter;  // undefined if the operation has no such parameter
    bool needed = false;          // whether this pass needs the gradient
    GradientAbility can = {};
  };
  static constexpr std::size_t most_parameters = 6;
  static constexpr std::int64_t not_overlapped = std::numeric_limits<std::int64_t>::max();

  // Does not change any buffer. The work reads `read_bytes` bytes. It may run on the side stream if
  // all of this holds:
  //   - read_bytes is at most side_work_bytes;
  //   - each defined parameter needs its gradient, and has a buffer with a side stream.
  explicit GradientWriter(std::initializer_list<Wanted> wanted,
                          std::int64_t read_bytes = not_overlapped);

  bool on_side_stream() const { return side_ != nullptr; }
  // Whether gradient k is needed and goes to a buffer.
  bool has_buffer(std::size_t k) const { return parts_[k].buffer != nullptr; }
  // Call this before `open` if one product writes the gradients [begin, end). If one of them cannot
  // be written in the parameter's own dtype, none of them is.
  void round_all_or_none(std::size_t begin, std::size_t end);
  // Returns where to write gradient k. The target is undefined if there is no buffer. Call it once
  // per gradient, because the buffer counts the calls.
  GradientTarget open(std::size_t k);
  // Returns the same, but the target is always defined. If there is no buffer, the target is new
  // f32 memory that holds zeros, and `returned` returns its contents. The parameter must be
  // defined.
  GradientTarget open_or_zeros(std::size_t k);
  // The gradient k for autograd, in the parameter's dtype. The gradient is undefined if it is not
  // needed, or if it went to a buffer. open_or_zeros must have been called before.
  at::Tensor returned(std::size_t k) const;
  // With a side stream, enqueues `work` there. Otherwise calls `work` on the current stream. `read`
  // has the tensors that the work reads, if their memory belongs to the current stream.
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
