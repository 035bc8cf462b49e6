// Computes Philox4x32-10 (Salmon et al., SC 2011) and the dropout rule that uses it, in kernels and
// plain C++. The random words are those of core/base/philox.h. This header needs no library.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define LOCKSTEP_HOST_DEVICE __host__ __device__
#else
#define LOCKSTEP_HOST_DEVICE
#endif

namespace lockstep {

struct PhiloxWords {
  std::uint32_t word[4];
};

LOCKSTEP_HOST_DEVICE inline void philox_multiply(std::uint32_t a, std::uint32_t b,
                                                 std::uint32_t& high, std::uint32_t& low) {
  const std::uint64_t product = static_cast<std::uint64_t>(a) * b;
  high = static_cast<std::uint32_t>(product >> 32);
  low = static_cast<std::uint32_t>(product);
}

LOCKSTEP_HOST_DEVICE inline PhiloxWords philox_words(PhiloxWords counter, std::uint64_t key) {
  std::uint32_t key_0 = static_cast<std::uint32_t>(key);
  std::uint32_t key_1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    std::uint32_t high_0, low_0, high_1, low_1;
    philox_multiply(0xD2511F53u, counter.word[0], high_0, low_0);
    philox_multiply(0xCD9E8D57u, counter.word[2], high_1, low_1);
    counter = {{high_1 ^ counter.word[1] ^ key_0, low_1, high_0 ^ counter.word[3] ^ key_1, low_0}};
    key_0 += 0x9E3779B9u;
    key_1 += 0xBB67AE85u;
  }
  return counter;
}

// The keys for a seed. Keys of dropout are odd and keys of uniform numbers are even, so the two
// never draw with the same key.
LOCKSTEP_HOST_DEVICE inline std::uint64_t dropout_key(std::int64_t seed) {
  return static_cast<std::uint64_t>(seed) * 2 + 1;
}
LOCKSTEP_HOST_DEVICE inline std::uint64_t uniform_key(std::int64_t seed) {
  return static_cast<std::uint64_t>(seed) * 2;
}

// Returns the random words of a row's elements 4 * quad to 4 * quad + 3. `place` is the index of
// the row in the global batch.
LOCKSTEP_HOST_DEVICE inline PhiloxWords row_words(std::int64_t quad, std::int64_t place,
                                                  std::int64_t step, std::int64_t layer,
                                                  std::uint64_t key) {
  return philox_words({{static_cast<std::uint32_t>(quad), static_cast<std::uint32_t>(place),
                        static_cast<std::uint32_t>(step), static_cast<std::uint32_t>(layer)}},
                      key);
}

// Returns row_words with the key of dropout.
LOCKSTEP_HOST_DEVICE inline PhiloxWords dropout_words(std::int64_t quad, std::int64_t place,
                                                      std::int64_t step, std::int64_t layer,
                                                      std::int64_t seed) {
  return row_words(quad, place, step, layer, dropout_key(seed));
}

// Returns a number in [0, 1): a multiple of 2^-24, which f32 represents exactly.
LOCKSTEP_HOST_DEVICE inline float uniform_of(std::uint32_t word) {
  return static_cast<float>(word >> 8) * 5.9604644775390625e-08f;
}

// The dropout probability p in the form that kernels use. An element is kept if `!drop_all` and its
// word is at least `threshold`.
struct DropoutRule {
  std::uint32_t threshold = 0;  // p * 2^32, rounded up
  bool drop_all = false;        // whether no element is kept, because the threshold would be 2^32
  double scale = 1;             // 1 / (1 - p); 0 if no element is kept
};

// p is in [0, 1].
inline DropoutRule dropout_rule(double p) {
  const double words = p * 4294967296.0;  // exact: a power of two
  std::uint64_t threshold = static_cast<std::uint64_t>(words);
  if (static_cast<double>(threshold) < words) ++threshold;
  if (threshold >= 4294967296u) return {.threshold = 0, .drop_all = true, .scale = 0};
  return {
      .threshold = static_cast<std::uint32_t>(threshold), .drop_all = false, .scale = 1 / (1 - p)};
}

}  // namespace lockstep
