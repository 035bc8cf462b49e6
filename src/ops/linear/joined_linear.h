// Computes three linear layers with the same input as one product, such as queries, keys and values
// of attention. The weights of the layers remain separate parameters.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <tuple>

namespace lockstep {

using ThreeTensors = std::array<at::Tensor, 3>;

// Returns the results of the three layers, [..., 3, out]. The result of layer i is at [..., i, :].
//   x         [..., in]
//   weights   [out, in] each
//   biases    [out] each
// All weights and biases have the same dtype. The result is differentiable, and second derivatives
// use ATen's operators.
//
// If the weights are adjacent in memory, they are not copied. If their gradient buffers
// (gradient_buffer.h) are adjacent too, one product adds the gradients to these buffers. Weights
// that are not adjacent are first copied to one tensor. Parameters are adjacent if they were
// registered in the order 2, 1, 0 and their sizes are multiples of the alignment.
at::Tensor joined_linear(const at::Tensor& x, const ThreeTensors& weights,
                         const ThreeTensors& biases);

// Computes joined_linear, and also returns x, as linear_layer_beside does.
std::tuple<at::Tensor, at::Tensor> joined_linear_beside(const at::Tensor& x,
                                                        const ThreeTensors& weights,
                                                        const ThreeTensors& biases);

}  // namespace lockstep
