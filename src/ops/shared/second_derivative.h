// Second derivatives of operations whose own fast backward has no derivative.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <vector>

namespace lockstep {

// Whether the running backward pass will itself be differentiated (create_graph).
bool is_differentiated();

using Differentiable = std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>&)>;

// For a backward pass that is differentiated: returns the partial derivative with respect to each
// input. It is itself differentiable in inputs and gradients. It is undefined for an input that
// does not require grad. function: the operation in ATen's operators. gradients: those of its
// results; they may be undefined.
std::vector<at::Tensor> differentiable_gradients(const Differentiable& function,
                                                 const std::vector<at::Tensor>& inputs,
                                                 const std::vector<at::Tensor>& gradients);

using OneToOne = std::function<at::Tensor(const at::Tensor&)>;

// Returns fast(x). Its gradients come from ATen's graph of fast(x), and its second derivatives are
// those of plain(x). It is for functions that use ATen's operators without a second derivative.
// Both functions are kept until backward. They must give the same numbers except for rounding.
at::Tensor differentiable_twice(OneToOne fast, OneToOne plain, const at::Tensor& x);

// Throws Error if the running backward pass will be differentiated. operation: the subject of the
// message.
void refuse_second_derivative(const std::string& operation, const std::string& hint);

}  // namespace lockstep
