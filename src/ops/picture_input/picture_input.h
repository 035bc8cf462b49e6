// Pictures of files as a network reads them: changed at random, normalised, in its dtype.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace lockstep {

enum class PictureLayout {
  plain,   // [B, C, H, W], channels-last
  blocks,  // [B, 16, H / 2 + 1, W / 2 + 1], rounded up: block_convolution.h
};

struct PictureSet {
  at::Tensor pictures;  // u8 [B, C, H, W], C from 1 to 4, contiguous or channels-last; any else is
                        // copied
  // f32 [B, 3] in [0, 1), for flip, brightness and contrast of each picture, as
  // StepContext::uniform draws them. Undefined: nothing is changed.
  at::Tensor numbers;
};

// In this order:
struct PictureInput {
  bool flip = false;      // left to right where the picture's first number is below 1/2
  double brightness = 0;  // times a factor between 1 − brightness and 1 + brightness
  double contrast = 0;    // the distance from the picture's mean times a factor, likewise
  // Per channel, (x − mean) × factor. Empty: 0 and 1.
  std::vector<double> mean, factor;
  at::ScalarType dtype = at::kFloat;
  PictureLayout layout = PictureLayout::plain;
};

// The pictures of all sets, one set behind the other, on their device: as flip_rows,
// scale_brightness and scale_contrast (augment.h) change them in f32, but for rounding. All sets
// have the same C, H and W. On GPUs two kernels for each set, for f32, bf16 and f16; the same bits
// each time. Waits for no device; no gradient. Throws Error for other shapes and types, and where
// something is to be changed by numbers of another shape.
at::Tensor picture_input(const std::vector<PictureSet>& sets, const PictureInput& how);

// The same in ATen's operators, on any device, in any floating dtype.
at::Tensor picture_input_reference(const std::vector<PictureSet>& sets, const PictureInput& how);

struct PictureArguments;
using PictureKernel = void (*)(const PictureArguments&);  // on the current stream
void register_cuda_picture_input(PictureKernel kernel);

}  // namespace lockstep
