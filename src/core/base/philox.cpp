// Philox4x32-10 and random distributions based on it.
#include "core/base/philox.h"

#include "core/base/check.h"

#include <cmath>
#include <numbers>

namespace lockstep {
namespace {

constexpr std::uint32_t low(std::uint64_t word) { return static_cast<std::uint32_t>(word); }
constexpr std::uint32_t high(std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); }

constexpr std::uint64_t multiplier_0 = 0xD2511F53, multiplier_1 = 0xCD9E8D57;
constexpr std::uint32_t weyl_0 = 0x9E3779B9, weyl_1 = 0xBB67AE85;

void increment(std::array<std::uint32_t, 4>& counter) {
  for (std::uint32_t& word : counter)
    if (++word != 0) return;
}

}  // namespace

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::uint64_t key) {
  std::uint32_t key_0 = low(key), key_1 = high(key);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product_0 = multiplier_0 * counter[0];
    const std::uint64_t product_1 = multiplier_1 * counter[2];
    counter = {high(product_1) ^ counter[1] ^ key_0, low(product_1),
               high(product_0) ^ counter[3] ^ key_1, low(product_0)};
    key_0 += weyl_0;
    key_1 += weyl_1;
  }
  return counter;
}

std::uint64_t stream_key(std::uint64_t seed, RandomStream stream) {
  const auto block = philox({static_cast<std::uint32_t>(stream), 0, 0, 0}, seed);
  return block[0] | std::uint64_t{block[1]} << 32;
}

// For one key, Philox is a bijection of counters. So different pairs (a, b) start at different
// counters, which are spread at random over 2^128.
Random::Random(std::uint64_t seed, RandomStream stream, std::uint64_t a, std::uint64_t b)
    : key_(stream_key(seed, stream)), counter_(philox({low(a), high(a), low(b), high(b)}, key_)) {}

std::uint32_t Random::next_u32() {
  if (used_ == 4) {
    block_ = philox(counter_, key_);
    increment(counter_);
    used_ = 0;
  }
  return block_[used_++];
}

std::uint64_t Random::next_u64() {
  const std::uint64_t lower = next_u32();
  return lower | std::uint64_t{next_u32()} << 32;
}

double Random::uniform() { return static_cast<double>(next_u64() >> 11) * 0x1p-53; }

// Discards draws below 2^64 mod `limit`, so that all results are equally likely.
std::uint64_t Random::below(std::uint64_t limit) {
  LOCKSTEP_CHECK(limit > 0);
  const std::uint64_t surplus = (0 - limit) % limit;  // 2^64 mod limit
  while (true) {
    const std::uint64_t draw = next_u64();
    if (draw >= surplus) return draw % limit;
  }
}

double Random::normal() {
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

}  // namespace lockstep
