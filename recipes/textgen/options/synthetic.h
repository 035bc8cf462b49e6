// Generates random tokens, to measure speed without a corpus.
#pragma once

#include <cstdint>

namespace lockstep::textgen {

// The numbers of tokens for training and for validation with data.path=synthetic.
inline constexpr std::int64_t synthetic_train_tokens = std::int64_t{1} << 30;
inline constexpr std::int64_t synthetic_valid_tokens = std::int64_t{1} << 16;

// Returns the token at `position` of a random stream. The result depends on the arguments alone,
// and is uniform over [0, vocab). The bits are mixed as in the last steps of the generator
// splitmix64. vocab must be below 2^32.
inline std::int64_t synthetic_token(std::uint64_t seed, std::int64_t position, std::int64_t vocab) {
  std::uint64_t x = seed * 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(position) + 1;
  x *= 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  x ^= x >> 31;
  return static_cast<std::int64_t>(((x >> 32) * static_cast<std::uint64_t>(vocab)) >> 32);
}

}  // namespace lockstep::textgen
