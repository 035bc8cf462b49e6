// Lets backward compute activations again instead of keeping them.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

namespace lockstep {

// A function that returns the same for the same inputs. It has no state, and uses no random numbers
// except those of a counter (ops/dropout/dropout.h).
using PureFunction = std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>& inputs)>;

// Returns function(inputs) and keeps only the inputs. Backward calls the function once more with
// the same values, and takes the gradients from this call. On the CPU they are bitwise those of a
// plain call. parameters: all leaves that require grad and that the function uses. Their gradients
// appear where they always do, once per backward pass. Everything that the function refers to must
// exist until then. Backward throws Error if a parameter is missing. Without gradients it is a
// plain call.
std::vector<at::Tensor> recomputed(const PureFunction& function,
                                   const std::vector<at::Tensor>& inputs,
                                   const std::vector<at::Tensor>& parameters);

// Whether backward is computing such a function again. A forward pass must not repeat its side
// effects then, such as the update of running statistics.
bool is_computed_again();

}  // namespace lockstep
