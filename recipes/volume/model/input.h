// Converts stored voxels to the network's input, on the device.
#pragma once

#include "training/recipe/recipe.h"

#include <ATen/core/Tensor.h>

namespace lockstep::volume {

struct ValueAugment {
  double brightness = 0, contrast = 0, gamma = 0, noise = 0;
};

// Normalises stored values. values: u8 or f32 [B, C, d, h, w]. normals: f32 [B, C, 4], one
// normals_tensor per row. Returns f32 [B, C, d, h, w].
at::Tensor normalised(const at::Tensor& values, const at::Tensor& normals);

// Augments each row of x by its own draws (StepContext::uniform). Returns x unchanged unless
// context.training. x: f32 [B, C, d, h, w]. Steps whose option is 0 are skipped. The steps are, in
// this order:
//   gamma        an exponent in [1 - gamma, 1 + gamma] on values that are scaled to [0, 1]
//   brightness   a factor in [1 - brightness, 1 + brightness]
//   contrast     a factor in [1 - contrast, 1 + contrast] on the distance from the row's mean
//   noise        normal noise, whose standard deviation is drawn from [0, noise]
at::Tensor augmented(const at::Tensor& x, const ValueAugment& augment, const StepContext& context);

// Converts x to `type` and to channels-last.
at::Tensor network_input(const at::Tensor& x, at::ScalarType type);

}  // namespace lockstep::volume
