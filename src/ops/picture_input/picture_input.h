// Turns u8 pictures into a network's input: changes them at random, normalises them, and converts
// them to the network's dtype.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace lockstep {

enum class PictureLayout {
  plain,   // [B, C, H, W], channels-last
  blocks,  // [B, 16, H / 2 + 1, W / 2 + 1], as in_blocks (block_convolution.h)
};

struct PictureSet {
  at::Tensor pictures;  // u8 [B, C, H, W], C from 1 to 4, in any layout
  // f32 [B, 3] in [0, 1), as from StepContext::uniform: one number each for the flip, brightness
  // and contrast of a picture. If `numbers` is undefined, no picture is changed at random.
  at::Tensor numbers;
};

// The changes, in the order in which they are made:
struct PictureInput {
  bool flip = false;      // flip left to right if the picture's first number is below 1/2
  double brightness = 0;  // multiply by a factor from 1 − brightness to 1 + brightness
  // Multiply the distance from the picture's mean by a factor from 1 − contrast to 1 + contrast.
  double contrast = 0;
  // Each channel becomes (x − mean) × factor. An empty vector stands for means of 0, or factors of
  // 1.
  std::vector<double> mean, factor;
  at::ScalarType dtype = at::kFloat;
  PictureLayout layout = PictureLayout::plain;
};

// Returns the changed pictures of all sets, one set after the other, on the device of the sets. All
// sets have the same C, H and W. Except for rounding, the changes are those of flip_rows,
// scale_brightness and scale_contrast (augment.h) in f32. The result has no gradient. Does not wait
// for the device.
//
// For f32, bf16 and f16, GPUs use our kernels: one per set, or two if contrast changes. Their
// results are bitwise reproducible. Throws Error for other shapes and dtypes. Also throws Error if
// random changes are on and `numbers` has another shape.
at::Tensor picture_input(const std::vector<PictureSet>& sets, const PictureInput& how);

// Computes picture_input with ATen's operators, on any device, in any floating dtype.
at::Tensor picture_input_reference(const std::vector<PictureSet>& sets, const PictureInput& how);

struct PictureArguments;
using PictureKernel = void (*)(const PictureArguments&);  // runs on the current stream
void register_cuda_picture_input(PictureKernel kernel);

}  // namespace lockstep
