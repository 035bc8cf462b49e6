// Finds which tensor of a step first has a value that is not finite.
#pragma once

#include "training/gradients/gradient_buffers.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

// The first tensor with a value that is not finite. A rank finds this tensor by computing its part
// of the step again.
struct NotFinite {
  // Number of this rank's micro-batch, from 0; -1 if the value is in the weights, or if all values
  // are finite.
  std::int64_t micro_batch = -1;
  std::string tensor;       // such as "the gradient of head.weight"; empty if all values are finite
  bool in_weights = false;  // the weights are not finite, so no later step can be finite
  bool found() const { return !tensor.empty(); }
};

// All functions below wait for the device.
bool is_finite(const at::Tensor& values);
bool has_nan(const at::Tensor& values);
// The two functions below return the name of a parameter whose weights or gradient are not finite,
// or "" if there is no such parameter. In frozen parameters only NaN counts, because masks may have
// infinite values. Gradients are examined from the last parameter to the first, because backward
// usually makes them in this order.
std::string weights_not_finite(const ParameterStorage& storage);
std::string gradient_not_finite(const GradientBuffers& gradients);

}  // namespace lockstep
