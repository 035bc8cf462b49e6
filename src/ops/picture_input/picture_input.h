// Prepares pictures from files as a network's input: changed at random, normalised, in the
// network's dtype.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace lockstep {

enum class PictureLayout {
  plain,   // [B, C, H, W], channels-last
  blocks,  // [B, 16, H / 2 + 1, W / 2 + 1], rounded up: block_convolution.h
};

struct PictureSet {
  at::Tensor pictures;  // u8 [B, C, H, W], C from 1 to 4, contiguous or channels-last; other
                        // layouts are copied
  // f32 [B, 3] in [0, 1), for flip, brightness and contrast of each picture, as
  // StepContext::uniform draws them. Undefined: nothing is changed.
  at::Tensor numbers;
};

// The changes, in this order:
struct PictureInput {
  bool flip = false;      // left to right, if the picture's first number is below 1/2
  double brightness = 0;  // times a factor between 1 − brightness and 1 + brightness
  double contrast = 0;    // distance from the picture's mean times a factor between 1 − contrast
                          // and 1 + contrast
  // Per channel, (x − mean) × factor. Empty: 0 and 1.
  std::vector<double> mean, factor;
  at::ScalarType dtype = at::kFloat;
  PictureLayout layout = PictureLayout::plain;
};

// Returns the pictures of all sets, one set after the other, on their device. Except for rounding,
// the changes are those of flip_rows, scale_brightness and scale_contrast (augment.h) in f32. All
// sets have the same C, H and W. On GPUs each set takes two kernels, for f32, bf16 and f16. Results
// are bitwise reproducible. Does not wait for the device. No gradient. Throws Error for other
// shapes and types, and if changes are asked for and `numbers` has another shape.
at::Tensor picture_input(const std::vector<PictureSet>& sets, const PictureInput& how);

// The same in ATen's operators, on any device, in any floating dtype.
at::Tensor picture_input_reference(const std::vector<PictureSet>& sets, const PictureInput& how);

struct PictureArguments;
using PictureKernel = void (*)(const PictureArguments&);  // runs on the current stream
void register_cuda_picture_input(PictureKernel kernel);

}  // namespace lockstep
