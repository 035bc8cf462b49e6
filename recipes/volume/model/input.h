// Converts stored voxels to the input of the network, on the device.
#pragma once

#include "training/recipe/recipe.h"

#include <ATen/core/Tensor.h>

namespace lockstep::volume {

struct ValueAugment {
  double brightness = 0, contrast = 0, gamma = 0, noise = 0;
};

// Normalises stored values. values: u8 or f32 [B, C, d, h, w]. normals: f32 [B, C, 4], with the
// normals_tensor (patches.h) of each row. Returns f32 [B, C, d, h, w].
at::Tensor normalised(const at::Tensor& values, const at::Tensor& normals);

// Augments each row of x by its own random draws (StepContext::uniform). Returns x unchanged if
// context.training is false. x: f32 [B, C, d, h, w]. The steps are listed below, in their order. A
// step is skipped if its option is 0.
//   gamma        an exponent in [1 - gamma, 1 + gamma] on values that are scaled to [0, 1]
//   brightness   a factor in [1 - brightness, 1 + brightness]
//   contrast     a factor in [1 - contrast, 1 + contrast] on the distance from the row's mean
//   noise        normal noise, whose standard deviation is drawn from [0, noise]
at::Tensor augmented(const at::Tensor& x, const ValueAugment& augment, const StepContext& context);

// Converts x to the dtype `type` and to the memory format channels-last.
at::Tensor network_input(const at::Tensor& x, at::ScalarType type);

}  // namespace lockstep::volume
