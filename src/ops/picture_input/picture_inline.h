// Computes a network's input from a picture, pixel by pixel, for kernels and plain C++. Also
// declares the arguments of the kernels.
#pragma once

#include "ops/boxes/box_inline.h"
#include "ops/shared/kernel_arguments.h"

#include <cstdint>

namespace lockstep {

constexpr int picture_most_channels = 4;
// The number of channels of a block of 2 x 2 pixels, if pictures are stored in blocks
// (block_convolution.h).
constexpr int block_channels = 4 * picture_most_channels;

// The number of blocks along an axis. The first block begins one pixel before the picture, and the
// last block ends after it.
LOCKSTEP_HOST_DEVICE constexpr std::int64_t blocks_along(std::int64_t pixels) {
  return (pixels + 1) / 2 + 1;
}

// The layout of dense u8 pictures, contiguous or channels-last. Steps are distances in elements.
struct PictureShape {
  int channels = 0, height = 0, width = 0;
  int channel_step = 0, row_step = 0, column_step = 0;
};

// The rule by which a picture's three random numbers in [0, 1) change its flip, brightness and
// contrast. Then each channel becomes (x − mean) × factor.
struct PictureRule {
  bool flips = false, changes_brightness = false, changes_contrast = false;
  float brightness_low = 1, brightness_range = 0;
  float contrast_low = 1, contrast_range = 0;
  float mean[picture_most_channels] = {0, 0, 0, 0};
  float factor[picture_most_channels] = {1, 1, 1, 1};
};

// The changes that apply to one picture.
struct PictureChange {
  bool flipped;
  float brightness, contrast;
  float mean;  // mean of the picture after the change of brightness
};

// Computes the changes of a picture. `numbers` points to three numbers, or is null if nothing
// changes. `raw_mean` is the mean of the unchanged picture.
LOCKSTEP_HOST_DEVICE inline PictureChange picture_change(const PictureRule& rule,
                                                         const float* numbers, float raw_mean) {
  PictureChange change{false, 1, 1, 0};
  if (numbers == nullptr) return change;
  change.flipped = rule.flips && numbers[0] < 0.5F;
  if (rule.changes_brightness)
    change.brightness = rounded_product(numbers[1], rule.brightness_range) + rule.brightness_low;
  if (rule.changes_contrast)
    change.contrast = rounded_product(numbers[2], rule.contrast_range) + rule.contrast_low;
  change.mean = rounded_product(raw_mean, change.brightness);
  return change;
}

// Reads a byte, on GPUs through the read-only cache. Nothing may write the memory at the same time.
LOCKSTEP_HOST_DEVICE inline float read_byte(const std::uint8_t* from) {
#ifdef __CUDA_ARCH__
  return static_cast<float>(__ldg(from));
#else
  return static_cast<float>(*from);
#endif
}

// Computes the channels of pixel (y, x) of the changed picture. The values are 0 outside of the
// picture, and for channels that the picture does not have.
LOCKSTEP_HOST_DEVICE inline void picture_pixel(const std::uint8_t* picture,
                                               const PictureShape& shape, const PictureRule& rule,
                                               const PictureChange& change, int y, int x,
                                               float* to) {
  const bool inside = y >= 0 && y < shape.height && x >= 0 && x < shape.width;
  const int column = change.flipped ? shape.width - 1 - x : x;
  const int first = inside ? y * shape.row_step + column * shape.column_step : 0;
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int c = 0; c < picture_most_channels; ++c) {
    to[c] = 0;
    if (!inside || c >= shape.channels) continue;
    const int at = first + c * shape.channel_step;
    float value = rounded_product(read_byte(picture + at), change.brightness);
    if (rule.changes_contrast)
      value = rounded_product(value - change.mean, change.contrast) + change.mean;
    to[c] = rounded_product(value - rule.mean[c], rule.factor[c]);
  }
}

// Computes half of a block: two neighbouring pixels of a line, which are eight values. `number`
// counts the halves line by line of blocks. Within a line of blocks, the upper half of a block
// comes directly before its lower half.
LOCKSTEP_HOST_DEVICE inline void picture_half_block(const std::uint8_t* picture,
                                                    const PictureShape& shape,
                                                    const PictureRule& rule,
                                                    const PictureChange& change, int number,
                                                    float* to) {
  const int halves = 2 * static_cast<int>(blocks_along(shape.width));
  const int y = 2 * (number / halves) - 1 + number % 2, x = 2 * (number % halves / 2) - 1;
  picture_pixel(picture, shape, rule, change, y, x, to);
  picture_pixel(picture, shape, rule, change, y, x + 1, to + picture_most_channels);
}

// The largest supported number of bytes of a picture, and the largest number of partial sums per
// picture.
constexpr std::int64_t picture_most_bytes = std::int64_t{1} << 28;
constexpr int picture_most_sums = 32;

// The arguments of the kernels. All pointers are to device memory.
struct PictureArguments {
  const std::uint8_t* pictures = nullptr;  // [rows, ...] in the layout of `shape`
  const float* numbers = nullptr;          // [rows, 3]; null if nothing changes
  // [rows, sums_per_picture]: partial sums of each picture's bytes. The pointer is null if the
  // contrast does not change.
  std::uint64_t* sums = nullptr;
  int sums_per_picture = 0;
  void* out = nullptr;  // [rows, height, width, channels]; or blocks, aligned to 16 bytes
  KernelDtype dtype = KernelDtype::f32;
  PictureShape shape;
  PictureRule rule;
  std::int64_t rows = 0;
  bool in_blocks = false;
};

}  // namespace lockstep
