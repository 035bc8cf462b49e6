// Three linear layers with the same input as one product, such as queries, keys and values of
// attention. Their weights remain separate parameters.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <tuple>

namespace lockstep {

using ThreeTensors = std::array<at::Tensor, 3>;

// x: [..., in]. weights: [out, in] each. biases: [out] each. Weights and biases have the same
// shapes and one dtype. Returns [..., 3, out], with the result of layer i at [..., i, :].
// Differentiable, and second derivatives use ATen's operators. If the weights are adjacent in
// memory, nothing is copied, and the product itself fills their gradient buffers. Parameters are
// adjacent if they were registered in the order 2, 1, 0 and fill multiples of the alignment.
// Otherwise the weights are first copied together.
at::Tensor joined_linear(const at::Tensor& x, const ThreeTensors& weights,
                         const ThreeTensors& biases);

// The same, and also returns x, as linear_layer_beside does.
std::tuple<at::Tensor, at::Tensor> joined_linear_beside(const at::Tensor& x,
                                                        const ThreeTensors& weights,
                                                        const ThreeTensors& biases);

}  // namespace lockstep
