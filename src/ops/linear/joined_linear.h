// Three linear layers of one input as one product: queries, keys and values of attention, whose
// weights keep names of their own.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <tuple>

namespace lockstep {

using ThreeTensors = std::array<at::Tensor, 3>;

// x [..., in], weights [out, in] and biases [out], of one shape and dtype: [..., 3, out], the
// result of layer i at [..., i, :]. Differentiable, twice by way of ATen. Where the weights lie one
// behind the other in memory, as parameters do that were registered in the order 2, 1, 0 and fill
// multiples of its alignment, nothing is copied, and their gradient buffers are filled by the
// product itself. Otherwise they are brought together first.
at::Tensor joined_linear(const at::Tensor& x, const ThreeTensors& weights,
                         const ThreeTensors& biases);

// The same, and x again, as linear_layer_beside does.
std::tuple<at::Tensor, at::Tensor> joined_linear_beside(const at::Tensor& x,
                                                        const ThreeTensors& weights,
                                                        const ThreeTensors& biases);

}  // namespace lockstep
