// Activations that backward computes again instead of keeping them.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

namespace lockstep {

// Gives the same for the same inputs: no state, and no random numbers but those of a counter
// (ops/dropout/dropout.h).
using PureFunction = std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>& inputs)>;

// Returns function(inputs) and keeps nothing but the inputs. Backward calls the function once more
// with the same values, and takes the gradients from there: on the CPU, bit for bit those of a
// plain call. parameters: every leaf that requires grad and that the function uses. Their gradients
// appear where they always do, once a backward pass. Everything that the function refers to must
// live until then. Backward throws Error if a parameter is missing. Without gradients it is a plain
// call.
std::vector<at::Tensor> recomputed(const PureFunction& function,
                                   const std::vector<at::Tensor>& inputs,
                                   const std::vector<at::Tensor>& parameters);

// Whether backward is computing such a function again: what a forward pass does besides its result
// (running statistics) it must not do twice.
bool is_computed_again();

}  // namespace lockstep
