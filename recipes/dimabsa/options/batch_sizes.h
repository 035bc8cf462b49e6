// Computes the sizes of batches. The worker and the estimates of memory use them.
#pragma once

#include <algorithm>
#include <cstdint>

namespace lockstep::dimabsa {

// Rounds a size up, so that few different sizes occur. least: the smallest result. Above least ×
// 2^k and up to its double, there are at most `parts` different results.
inline std::int64_t rounded_up(std::int64_t size, std::int64_t parts, std::int64_t least) {
  if (size <= least) return least;
  std::int64_t power = least;
  while (2 * power < size) power *= 2;
  const std::int64_t step = std::max<std::int64_t>(1, power / parts);
  return (size + step - 1) / step * step;
}

// Returns the length to which texts of a batch are padded, in tokens, if the encoder needs padding.
// longest: the tokens of the longest text.
inline std::int64_t padded_length(std::int64_t longest) { return rounded_up(longest, 2, 32); }

// Returns the number of texts in a batch of evaluation and prediction. longest: the largest number
// of tokens in a text that the model accepts. Attention without a fused kernel pads texts, and
// holds texts × length² scores per head. The number of texts is chosen so that a batch has no more
// scores than 128 texts of 512 tokens have.
inline std::int64_t texts_at_once(std::int64_t longest) {
  constexpr std::int64_t most = 128, scores = most * 512 * 512;
  return std::clamp<std::int64_t>(scores / (longest * longest), 1, most);
}

}  // namespace lockstep::dimabsa
