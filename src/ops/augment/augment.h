// Augments a micro-batch at random. Each row has its own random numbers (StepContext::uniform), so
// a sample is augmented in the same way on any number of devices.
#pragma once

#include <ATen/core/Tensor.h>

namespace lockstep {

// In all functions, x is [B, …] in any layout. The result has the dtype of x, and stays
// channels-last if x is. The functions do not synchronise the device, and are differentiable in x.
// They throw Error if the shapes of the arguments do not fit together.

// Flips row b along axes[i] if numbers[b][i] < 1/2.
//   axes      counted from 0; axis 0 is the batch and cannot be flipped
//   numbers   f32 [B, n], where n is at least the number of axes
// The same numbers flip an image and its labels in the same way.
at::Tensor flip_rows(const at::Tensor& x, at::IntArrayRef axes, const at::Tensor& numbers);

// Maps numbers in [0, 1) to numbers in [low, high).
at::Tensor between(const at::Tensor& numbers, double low, double high);

// Multiplies each row of x by its factor. x is floating, and factors are f32 [B].
at::Tensor scale_brightness(const at::Tensor& x, const at::Tensor& factors);

// Multiplies the distance of x from its row's mean by the row's factor. x is floating, and factors
// are f32 [B]. The mean is over the whole row including its channels, and is computed in f32 (f64
// for f64).
at::Tensor scale_contrast(const at::Tensor& x, const at::Tensor& factors);

}  // namespace lockstep
