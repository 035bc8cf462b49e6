// Gives second derivatives to operations whose fast backward pass has no derivative.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <vector>

namespace lockstep {

// Whether the running backward pass will itself be differentiated, because it was called with
// create_graph.
bool is_differentiated();

using Differentiable = std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>&)>;

// For a backward pass that will be differentiated: returns the gradient of each input of
// `function`. These gradients are themselves differentiable, in `inputs` and in `gradients`. A
// gradient is undefined if its input does not require grad.
//   function    the operation, computed with ATen's operators
//   gradients   the gradients of the results of `function`; some may be undefined
std::vector<at::Tensor> differentiable_gradients(const Differentiable& function,
                                                 const std::vector<at::Tensor>& inputs,
                                                 const std::vector<at::Tensor>& gradients);

using OneToOne = std::function<at::Tensor(const at::Tensor&)>;

// Returns fast(x). First derivatives come from ATen's graph of fast(x), and second derivatives from
// plain(x). Use this if fast(x) calls ATen operators that have no second derivative. Both functions
// are kept until backward. The results of the two functions may differ only by rounding.
at::Tensor differentiable_twice(OneToOne fast, OneToOne plain, const at::Tensor& x);

// Throws Error if the running backward pass will be differentiated. The message says that
// `operation` has no second derivative.
void refuse_second_derivative(const std::string& operation, const std::string& hint);

}  // namespace lockstep
