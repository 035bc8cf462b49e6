// Computes a network's input from a picture, pixel by pixel, for kernels and plain C++. Also
// defines the arguments of the kernels.
#pragma once

#include "ops/boxes/box_inline.h"
#include "ops/shared/kernel_arguments.h"

#include <cstdint>

namespace lockstep {

constexpr int picture_most_channels = 4;
// For pictures in blocks: a block has 2 x 2 pixels of four channels.
constexpr int block_channels = 4 * picture_most_channels;

// The number of blocks along an axis. The first block begins one pixel before the picture, and the
// last ends after it.
LOCKSTEP_HOST_DEVICE constexpr std::int64_t blocks_along(std::int64_t pixels) {
  return (pixels + 1) / 2 + 1;
}

// Dense u8 pictures, contiguous or channels-last. Steps are in elements.
struct PictureShape {
  int channels = 0, height = 0, width = 0;
  int channel_step = 0, row_step = 0, column_step = 0;
};

// How numbers in [0, 1) change a picture. Then `mean` is subtracted from its channels, and the
// result is multiplied by `factor`.
struct PictureRule {
  bool flips = false, changes_brightness = false, changes_contrast = false;
  float brightness_low = 1, brightness_range = 0;
  float contrast_low = 1, contrast_range = 0;
  float mean[picture_most_channels] = {0, 0, 0, 0};
  float factor[picture_most_channels] = {1, 1, 1, 1};
};

// The change of one picture.
struct PictureChange {
  bool flipped;
  float brightness, contrast;
  float mean;  // mean of the picture after the change of brightness; contrast uses it
};

// numbers: three, or null if nothing changes. raw_mean: the mean of the unchanged picture.
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

// Reads memory that nothing writes at the same time. So the read-only cache may serve it.
LOCKSTEP_HOST_DEVICE inline float read_byte(const std::uint8_t* from) {
#ifdef __CUDA_ARCH__
  return static_cast<float>(__ldg(from));
#else
  return static_cast<float>(*from);
#endif
}

// The channels of pixel (y, x) of the changed picture. 0 outside of the picture and its channels.
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

// Half of a block: two neighbouring pixels of a row, eight values. The halves of a picture are
// numbered by lines of blocks. Within a block the upper half comes first.
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

// The largest number of bytes of a picture that the kernels support, and of partial sums per
// picture.
constexpr std::int64_t picture_most_bytes = std::int64_t{1} << 28;
constexpr int picture_most_sums = 32;

// Everything is on the device.
struct PictureArguments {
  const std::uint8_t* pictures = nullptr;  // [rows, ...], as `shape` says
  const float* numbers = nullptr;          // [rows, 3], or null: nothing changes
  // [rows, sums_per_picture]: sums of a picture's bytes. Null if contrast does not change.
  std::uint64_t* sums = nullptr;
  int sums_per_picture = 0;
  void* out = nullptr;  // channels-last, [rows, height, width, channels], or in blocks, which are
                        // aligned to 16 bytes
  KernelDtype dtype = KernelDtype::f32;
  PictureShape shape;
  PictureRule rule;
  std::int64_t rows = 0;
  bool in_blocks = false;
};

}  // namespace lockstep
