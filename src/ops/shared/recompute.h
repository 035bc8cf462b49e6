// Lets backward compute activations again, so that they need not be kept.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

namespace lockstep {

// A function whose results depend only on its inputs and parameters. It has no state. It may use
// random numbers only if they are computed from a counter (ops/dropout/dropout.h).
using PureFunction = std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>& inputs)>;

// Returns function(inputs), and keeps only the inputs for backward. Backward calls the function
// again with the same inputs, and takes the gradients from that call. On the CPU the gradients are
// bitwise the same as without recomputation. If gradients are disabled, the function is only called
// once.
//
// parameters: all leaf tensors with requires_grad that the function uses. Their gradients are
// accumulated as usual, once per backward pass. All objects that the function refers to must exist
// until backward ends. Backward throws Error if the function uses a leaf that is not in
// `parameters`. Backward also throws Error if it will itself be differentiated.
std::vector<at::Tensor> recomputed(const PureFunction& function,
                                   const std::vector<at::Tensor>& inputs,
                                   const std::vector<at::Tensor>& parameters);

// Whether backward is now calling a function of `recomputed` again on this thread. A forward pass
// must then not repeat side effects, such as the update of running statistics.
bool is_computed_again();

}  // namespace lockstep
