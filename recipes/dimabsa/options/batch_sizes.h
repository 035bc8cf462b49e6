// Sizes of batches. The worker makes batches of these sizes, and formulas of memory use them.
#pragma once

#include <algorithm>
#include <cstdint>

namespace lockstep::dimabsa {

// The next size to which batches are rounded up. There are at most `parts` sizes for each doubling.
inline std::int64_t rounded_up(std::int64_t size, std::int64_t parts, std::int64_t least) {
  if (size <= least) return least;
  std::int64_t power = least;
  while (2 * power < size) power *= 2;
  const std::int64_t step = std::max<std::int64_t>(1, power / parts);
  return (size + step - 1) / step * step;
}

// The length to which texts of a batch are padded, if the encoder pads them.
inline std::int64_t padded_length(std::int64_t longest) { return rounded_up(longest, 2, 32); }

// The number of texts in a batch of evaluation and prediction. longest: the most tokens of a text
// that the model takes. Attention without a kernel of its own pads texts and holds texts × length²
// scores per head. So that product is at most that of 128 texts of 512 tokens.
inline std::int64_t texts_at_once(std::int64_t longest) {
  constexpr std::int64_t most = 128, scores = most * 512 * 512;
  return std::clamp<std::int64_t>(scores / (longest * longest), 1, most);
}

}  // namespace lockstep::dimabsa
