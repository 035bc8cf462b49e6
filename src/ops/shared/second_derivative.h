// Second derivatives of operations whose own backward is made for speed and has none.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <vector>

namespace lockstep {

// Whether the backward pass that runs is to be differentiated itself (create_graph).
bool is_differentiated();

using Differentiable = std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>&)>;

// For a backward pass that is differentiated: the partial derivative by each input, itself
// differentiable in inputs and gradients; undefined for an input that requires no grad.
// function: the operation in ATen's operators. gradients: of its results; may be undefined.
std::vector<at::Tensor> differentiable_gradients(const Differentiable& function,
                                                 const std::vector<at::Tensor>& inputs,
                                                 const std::vector<at::Tensor>& gradients);

using OneToOne = std::function<at::Tensor(const at::Tensor&)>;

// fast(x), whose gradients are those of ATen's graph of it, and whose second derivatives are those
// of plain(x). It is for functions that use ATen's operators without a second derivative. Both
// functions are kept until backward; they give the same numbers but for rounding.
at::Tensor differentiable_twice(OneToOne fast, OneToOne plain, const at::Tensor& x);

// Throws Error where the backward pass that runs is to be differentiated. operation: its subject.
void refuse_second_derivative(const std::string& operation, const std::string& hint);

}  // namespace lockstep
