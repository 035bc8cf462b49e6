// Finds the tensor of a step that holds the first number that is not finite.
#pragma once

#include "training/gradients/gradient_buffers.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

// The first value that is not finite, found when a rank computes its part of a step once more.
struct NotFinite {
  std::int64_t micro_batch = -1;  // number of this rank's micro-batch, from 0; -1: before the first
  std::string tensor;             // "the gradient of head.weight"; empty: all is finite
  bool in_weights = false;        // the weights hold it, so no later step can be finite
  bool found() const { return !tensor.empty(); }
};

// All functions below wait for the device.
bool is_finite(const at::Tensor& values);
bool has_nan(const at::Tensor& values);
// Each returns the name of a parameter whose weights, or whose gradient, are not finite; empty:
// there is none. In frozen parameters only NaN counts, because masks contain infinite values.
// Gradients are examined in the order in which backward makes them.
std::string weights_not_finite(const ParameterStorage& storage);
std::string gradient_not_finite(const GradientBuffers& gradients);

}  // namespace lockstep
