// Finds the gradient buffer of a parameter by the identity of its tensor. Thread-safe.
#pragma once

#include "ops/gradient_buffer/gradient_buffer.h"

#include <ATen/core/Tensor.h>

#include <memory>
#include <set>
#include <vector>

namespace lockstep {

// parameter: a leaf that keeps its handle. During backward an operation adds its gradient to the
// buffer and returns none to autograd. This saves a tensor, a cast and an addition per parameter.
void set_gradient_buffer(const at::Tensor& parameter, std::shared_ptr<GradientBuffer> buffer);
// The same with a new buffer over `f32`. This buffer begins no steps, so all gradients are added to
// it.
void set_gradient_buffer(const at::Tensor& parameter, const at::Tensor& f32);
void forget_gradient_buffer(const at::Tensor& parameter);

// May also be called outside of a backward pass, because linear_cross_entropy computes its weight's
// gradient in forward. Null: there is no buffer, or it is not contiguous and any_strides is false.
std::shared_ptr<GradientBuffer> gradient_buffer_of(const at::Tensor& parameter,
                                                   bool any_strides = false);
// The same for an operation in backward. Also null if the pass returns the parameter's gradient to
// its caller (torch::autograd::grad) instead of accumulating it. Then return the gradient to
// autograd.
std::shared_ptr<GradientBuffer> gradient_buffer_of_this_pass(const at::Tensor& parameter,
                                                             bool any_strides = false);
// For an operation in forward that reads rows of the parameter: returns the parameter's deferred
// update. Null: the rows are up to date.
DeferredSparseUpdate* deferred_update_of(const at::Tensor& parameter);

// While it exists, a backward pass that begins inside the present one may fill the buffers of
// `parameters`, although it returns their gradients to its caller. It applies only to the thread
// that made it.
class InnerPass {
 public:
  explicit InnerPass(const std::vector<at::Tensor>& parameters);
  ~InnerPass();
  InnerPass(const InnerPass&) = delete;
  InnerPass& operator=(const InnerPass&) = delete;
  bool fills(const at::Tensor& parameter) const;

 private:
  std::set<const at::TensorImpl*> parameters_;
  int outer_;  // the pass around it
  const InnerPass* around_;
};

}  // namespace lockstep
