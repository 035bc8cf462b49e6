// The two passes of a resize: resize_rows works along rows of RGB pixels, and mix_rows across them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace lockstep::fewshot {

// Weights are fixed-point numbers with this many bits of fraction. A weight times a value of 8
// bits, with its sign, must fit into 32 bits.
inline constexpr int weight_bits = 22;

// For each of the `to` new pixels of a row or column: the old pixels from which it is computed, and
// their weights. `most` is the largest number of old pixels.
struct Taps {
  std::vector<int> first, count;      // [to]
  std::vector<std::int32_t> weights;  // [to, most], in fixed point
  int most = 0;

  const std::int32_t* weights_of(std::size_t at) const {
    return weights.data() + at * static_cast<std::size_t>(most);
  }
};

// Rows of pixels that are contiguous in memory.
struct PixelRows {
  const std::uint8_t* data = nullptr;
  int width = 0;  // pixels
  std::size_t count = 0;
};

// Resizes each row. to: `rows.count` rows with as many pixels as `taps` has. resize_rows and
// mix_rows give the same result on every processor, and are several times as fast with AVX2. Any
// number of threads may call them.
void resize_rows(const PixelRows& rows, const Taps& taps, std::uint8_t* to);
// Computes one row `to`, the weighted sum of `rows`. weights: [rows.count].
void mix_rows(const PixelRows& rows, const std::int32_t* weights, std::uint8_t* to);

}  // namespace lockstep::fewshot
