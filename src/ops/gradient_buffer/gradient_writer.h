// Helps our operations with their parameters' gradients in a backward pass. It knows the gradient
// buffers, whether the gradients may be computed on the side stream, and which gradients go to
// autograd.
#pragma once

#include "ops/gradient_buffer/gradient_buffer.h"

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>

namespace lockstep {

// Exists as long as the operation's backward function runs. Parameter k is the k-th of `wanted`.
// With a side stream, a product enqueues its weight's gradient before that of its input. Without
// one, it computes the input's gradient first, because other work waits for it:
//   GradientWriter writer({{.parameter = weight, .needed = needs_weight}}, bytes_of({x, up}));
//   if (writer.on_side_stream()) of_parameters();
//   … the gradient of x …
//   if (!writer.on_side_stream()) of_parameters();
// where of_parameters opens each, then calls `run`.
class GradientWriter {
 public:
  struct Wanted {
    const at::Tensor& parameter;  // undefined: no such parameter
    bool needed = false;          // this pass needs its gradient
    GradientAbility can = {};
  };
  static constexpr std::size_t most_parameters = 6;
  static constexpr std::int64_t not_overlapped = std::numeric_limits<std::int64_t>::max();

  // Changes no buffer. read_bytes: the number of bytes that the work reads. The work may run on the
  // side stream if this is at most side_work_bytes, and if each defined parameter has a buffer and
  // needs its gradient.
  explicit GradientWriter(std::initializer_list<Wanted> wanted,
                          std::int64_t read_bytes = not_overlapped);

  bool on_side_stream() const { return side_ != nullptr; }
  // Whether gradient k is needed and goes to a buffer.
  bool has_buffer(std::size_t k) const { return parts_[k].buffer != nullptr; }
  // Call it before parameters [begin, end) are opened, if one work writes all of them. If not all
  // of them would get their own dtype, none does.
  void round_all_or_none(std::size_t begin, std::size_t end);
  // Returns where gradient k goes; undefined without a buffer. Call it once per gradient, because
  // calls are counted.
  GradientTarget open(std::size_t k);
  // The same, but always defined. Without a buffer it gives f32 zeros to add to, and `returned`
  // returns them. The parameter must be defined.
  GradientTarget open_or_zeros(std::size_t k);
  // Gradient k for autograd, in the parameter's dtype. Undefined if a buffer took it or if it is
  // not needed.
  at::Tensor returned(std::size_t k) const;
  // Enqueues `work` on the side stream, where it runs later, or calls it immediately. read: the
  // tensors that it reads and whose memory belongs to the current stream.
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
