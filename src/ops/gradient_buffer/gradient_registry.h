// Finds the gradient buffer of a parameter by the identity of its tensor. Thread-safe.
#pragma once

#include "ops/gradient_buffer/gradient_buffer.h"

#include <ATen/core/Tensor.h>

#include <memory>
#include <set>
#include <vector>

namespace lockstep {

// Gives the parameter a gradient buffer. The parameter is a leaf tensor, which must remain the same
// at::TensorImpl. In backward, our operations add the parameter's gradient to the buffer, and
// return no gradient to autograd. This saves a tensor, a cast and an addition per parameter.
void set_gradient_buffer(const at::Tensor& parameter, std::shared_ptr<GradientBuffer> buffer);
// Gives the parameter a new gradient buffer over the memory `f32`. GradientBuffer::begin_step is
// never called for this buffer, so all gradients are added to `f32`.
void set_gradient_buffer(const at::Tensor& parameter, const at::Tensor& f32);
void forget_gradient_buffer(const at::Tensor& parameter);

// Returns the parameter's gradient buffer, or null if it has none. Also returns null if the buffer
// is not contiguous and any_strides is false. The function may also be called outside of a backward
// pass, because linear_cross_entropy computes its weight's gradient in forward.
std::shared_ptr<GradientBuffer> gradient_buffer_of(const at::Tensor& parameter,
                                                   bool any_strides = false);
// Returns gradient_buffer_of for an operation in backward. Also returns null if the backward pass
// returns the parameter's gradient to its caller (torch::autograd::grad). The operation must then
// return the gradient to autograd.
std::shared_ptr<GradientBuffer> gradient_buffer_of_this_pass(const at::Tensor& parameter,
                                                             bool any_strides = false);
// For an operation in forward that reads rows of the parameter: returns the parameter's deferred
// update. If the result is null, the rows are up to date.
DeferredSparseUpdate* deferred_update_of(const at::Tensor& parameter);

// While an InnerPass exists, a backward pass inside the running one may fill the gradient buffers
// of `parameters`. It may do so although it is a torch::autograd::grad with respect to these
// parameters. This applies only to the thread that made the InnerPass.
class InnerPass {
 public:
  explicit InnerPass(const std::vector<at::Tensor>& parameters);
  ~InnerPass();
  InnerPass(const InnerPass&) = delete;
  InnerPass& operator=(const InnerPass&) = delete;
  bool fills(const at::Tensor& parameter) const;

 private:
  std::set<const at::TensorImpl*> parameters_;
  int outer_;  // id of the outer pass, from torch::autograd::get_current_graph_task_id
  const InnerPass* around_;
};

}  // namespace lockstep
