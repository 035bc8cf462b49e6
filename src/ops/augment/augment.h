// Random augmentation of a whole micro-batch. Each row has numbers of its own
// (StepContext::uniform), so a sample is changed alike on any number of devices.
#pragma once

#include <ATen/core/Tensor.h>

namespace lockstep {

// All take x [B, …] of any layout, return a tensor in x's layout (channels-last stays so) and
// dtype, do not synchronise the device and can be differentiated in x. Throw Error for shapes that
// do not fit.

// Row b turned around along axes[i] where numbers[b][i] < 1/2. numbers: f32 [B, n], n at least the
// number of axes; axes count from 0, the batch's, which cannot be turned. The same numbers turn an
// image and its labels alike.
at::Tensor flip_rows(const at::Tensor& x, at::IntArrayRef axes, const at::Tensor& numbers);

// Numbers in [0, 1) to numbers in [low, high).
at::Tensor between(const at::Tensor& numbers, double low, double high);

// x times its row's factor. factors: f32 [B]; x floating.
at::Tensor scale_brightness(const at::Tensor& x, const at::Tensor& factors);

// The distance of x from its row's mean times the row's factor. factors: f32 [B]; x floating. The
// mean is taken in f32 over all of the row, channels too.
at::Tensor scale_contrast(const at::Tensor& x, const at::Tensor& factors);

}  // namespace lockstep
