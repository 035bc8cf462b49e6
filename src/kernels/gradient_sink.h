// Where a kernel adds up a parameter's gradient.
#pragma once

#include "kernels/gradient_buffer.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/zeros.h>

namespace lockstep {

// f32, of its shape, to add a parameter's gradient into: its buffer, or a fresh one, which is
// returned to autograd if it is needed at all.
struct Sink {
  at::Tensor f32;
  bool needed = false, is_returned = false;
  at::Tensor returned(const at::Tensor& parameter) const {
    return is_returned ? f32.to(parameter.scalar_type()) : at::Tensor();
  }
};

inline Sink fresh_sink(const at::Tensor& parameter, bool needed = true) {
  return {.f32 = at::zeros(parameter.sizes(), parameter.options().dtype(at::kFloat)),
          .needed = needed,
          .is_returned = needed};
}

// side: where the kernel runs, as side_work_for found.
inline Sink sink_of(const at::Tensor& parameter, bool needed, SideWork* side = nullptr) {
  if (!parameter.defined()) return {};
  if (needed)
    if (at::Tensor buffer = buffer_of_this_pass(parameter, side); buffer.defined())
      return {.f32 = buffer, .needed = true};
  return fresh_sink(parameter, needed);
}

}  // namespace lockstep
