// Which tensor of a step holds the first number that is not finite.
#pragma once

#include "training/gradients/gradient_buffers.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

// The first value that is not finite when a rank goes through its part of a step once more.
struct NotFinite {
  std::int64_t micro_batch = -1;  // of the rank's, from 0; -1: before the first
  std::string tensor;             // "the gradient of head.weight"; empty: all is finite
  bool in_weights = false;        // so no later step can be finite
  bool found() const { return !tensor.empty(); }
};

// Each waits for the device.
bool is_finite(const at::Tensor& values);
bool has_nan(const at::Tensor& values);
// The parameter whose weights, or whose gradient, is not finite; empty: none. Among frozen ones
// only NaN counts, because masks are infinite. Gradients are examined in the order in which
// backward makes them.
std::string weights_not_finite(const ParameterStorage& storage);
std::string gradient_not_finite(const GradientBuffers& gradients);

}  // namespace lockstep
