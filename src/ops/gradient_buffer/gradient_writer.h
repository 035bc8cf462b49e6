// All that an operation of ours needs for its parameters' gradients in a backward pass: their
// buffers, whether the side stream may make them, and what goes back to autograd.
#pragma once

#include "ops/gradient_buffer/gradient_buffer.h"

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>

namespace lockstep {

// Lives as long as the operation's backward function. Parameter k is the k-th of `wanted`.
// A product makes its weight's gradient on the side stream before that of its input, and otherwise
// behind it, so that whoever waits for the latter waits less:
//   GradientWriter writer({{.parameter = weight, .needed = needs_weight}}, bytes_of({x, up}));
//   if (writer.on_side_stream()) of_parameters();
//   … the gradient of x …
//   if (!writer.on_side_stream()) of_parameters();
// where of_parameters opens each, then calls `run`.
class GradientWriter {
 public:
  struct Wanted {
    const at::Tensor& parameter;  // undefined: there is none
    bool needed = false;          // by this pass
    GradientAbility can = {};
  };
  static constexpr std::size_t most_parameters = 6;
  static constexpr std::int64_t not_overlapped = std::numeric_limits<std::int64_t>::max();

  // Changes no buffer. read_bytes: of what the work reads. It may run on the side stream if that is
  // at most side_work_bytes, and each parameter that there is has a buffer and a needed gradient.
  explicit GradientWriter(std::initializer_list<Wanted> wanted,
                          std::int64_t read_bytes = not_overlapped);

  bool on_side_stream() const { return side_ != nullptr; }
  // Whether gradient k is needed and adds up in a buffer.
  bool has_buffer(std::size_t k) const { return parts_[k].buffer != nullptr; }
  // Parameters [begin, end) are written by one work: unless all of them would get their own dtype,
  // none does. Before they are opened.
  void round_all_or_none(std::size_t begin, std::size_t end);
  // Where gradient k goes; undefined without a buffer. Once per gradient: it counts.
  GradientTarget open(std::size_t k);
  // The same, always defined: without a buffer it is zeros, f32, to be added to, which `returned`
  // gives. The parameter must be defined.
  GradientTarget open_or_zeros(std::size_t k);
  // Gradient k for autograd, of the parameter's dtype. Undefined where it was added up, or where it
  // is not needed.
  at::Tensor returned(std::size_t k) const;
  // Enqueues `work` on the side stream, where it runs later, or calls it at once. read: what of the
  // current stream's memory it reads.
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
    at::Tensor zeros;  // stand in for a buffer
  };
  SideWork* common_side() const;

  std::array<Part, most_parameters> parts_;
  std::size_t count_ = 0;
  SideWork* side_ = nullptr;
};

}  // namespace lockstep
