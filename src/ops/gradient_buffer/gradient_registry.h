// The gradient buffer of each parameter, found by the identity of its tensor. Thread-safe.
#pragma once

#include "ops/gradient_buffer/gradient_buffer.h"

#include <ATen/core/Tensor.h>

#include <memory>
#include <set>
#include <vector>

namespace lockstep {

// parameter: a leaf that keeps its handle. An operation adds its gradient to the buffer during
// backward and returns none to autograd, which saves a tensor, a cast and an addition per
// parameter.
void set_gradient_buffer(const at::Tensor& parameter, std::shared_ptr<GradientBuffer> buffer);
// The same, a buffer of its own that begins no steps, so that all gradients are added to it.
void set_gradient_buffer(const at::Tensor& parameter, const at::Tensor& f32);
void forget_gradient_buffer(const at::Tensor& parameter);

// Outside of a backward pass too: linear_cross_entropy makes its weight's gradient in forward.
// Null: there is none, or it is not contiguous, unless with any_strides.
std::shared_ptr<GradientBuffer> gradient_buffer_of(const at::Tensor& parameter,
                                                   bool any_strides = false);
// For an operation in backward. Null also where the pass returns the parameter's gradient to its
// caller (torch::autograd::grad) and adds nothing up. Then autograd shall have the gradient.
std::shared_ptr<GradientBuffer> gradient_buffer_of_this_pass(const at::Tensor& parameter,
                                                             bool any_strides = false);
// For an operation in forward that reads rows of the parameter: a deferred update of it. Null: the
// rows are up to date.
DeferredSparseUpdate* deferred_update_of(const at::Tensor& parameter);

// While it lives, a backward pass that begins inside the present one may fill the buffers of
// `parameters`, although it returns their gradients to its caller. For its thread.
class InnerPass {
 public:
  explicit InnerPass(const std::vector<at::Tensor>& parameters);
  ~InnerPass();
  InnerPass(const InnerPass&) = delete;
  InnerPass& operator=(const InnerPass&) = delete;
  bool fills(const at::Tensor& parameter) const;

 private:
  std::set<const at::TensorImpl*> parameters_;
  int outer_;  // the pass that it lies in
  const InnerPass* around_;
};

}  // namespace lockstep
