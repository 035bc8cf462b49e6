// Random augmentation of a whole micro-batch. Each row has its own random numbers
// (StepContext::uniform). So a sample is augmented in the same way on any number of devices.
#pragma once

#include <ATen/core/Tensor.h>

namespace lockstep {

// All functions take x [B, …] in any layout. They return a tensor in x's layout (channels-last
// stays so) and dtype. They do not synchronise the device, and are differentiable in x. They throw
// Error for shapes that do not fit.

// Flips row b along axes[i] if numbers[b][i] < 1/2. numbers: f32 [B, n], n at least the number of
// axes. axes: counted from 0, which is the batch and cannot be flipped. The same numbers flip an
// image and its labels in the same way.
at::Tensor flip_rows(const at::Tensor& x, at::IntArrayRef axes, const at::Tensor& numbers);

// Maps numbers in [0, 1) to numbers in [low, high).
at::Tensor between(const at::Tensor& numbers, double low, double high);

// Multiplies each row of x by its factor. factors: f32 [B]. x: floating.
at::Tensor scale_brightness(const at::Tensor& x, const at::Tensor& factors);

// Multiplies the distance of x from its row's mean by the row's factor. factors: f32 [B]. x:
// floating. The mean is taken in f32 over the whole row, including channels.
at::Tensor scale_contrast(const at::Tensor& x, const at::Tensor& factors);

}  // namespace lockstep
