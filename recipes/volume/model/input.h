// Turns stored voxels into the network's input, on the device.
#pragma once

#include "training/recipe/recipe.h"

#include <ATen/core/Tensor.h>

namespace lockstep::volume {

struct ValueAugment {
  double brightness = 0, contrast = 0, gamma = 0, noise = 0;
};

// values [B, C, d, h, w] u8 or f32; normals f32 [B, C, 4] (normals_tensor). Returns f32.
at::Tensor normalised(const at::Tensor& values, const at::Tensor& normals);

// x: f32 [B, C, d, h, w]. Each row is changed by its own draws (StepContext::uniform). Brightness
// is a factor. Contrast is a factor on the distance from the row's mean. Gamma is an exponent on
// the row's own range. Noise is normal with a deviation of up to `noise`.
at::Tensor augmented(const at::Tensor& x, const ValueAugment& augment, const StepContext& context);

// Converts to the computing type, channels-last.
at::Tensor network_input(const at::Tensor& x, at::ScalarType type);

}  // namespace lockstep::volume
