// Counter-based random numbers: Philox4x32-10 (Salmon et al., SC 2011). Each number is a pure
// function of key and counter. So it does not depend on the rank, the thread or earlier calls.
#pragma once

#include <array>
#include <cstdint>

namespace lockstep {

// Returns four uniform 32-bit words for a 128-bit counter and a 64-bit key.
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::uint64_t key);

// The purpose of a random number. Each purpose has its own streams of numbers.
enum class RandomStream : std::uint32_t {
  order = 1,
  augment = 2,
  dropout = 3,
  init = 4,
  sample = 5,
  shift = 6,
  draw = 7,
  groups = 8,
  bootstrap = 9,
  split = 10,
  episode = 11
};

// Returns the key for the numbers with this seed and purpose.
std::uint64_t stream_key(std::uint64_t seed, RandomStream stream);

// A stream of random numbers for one (seed, stream, a, b), for example to augment one sample. It is
// cheap to construct.
class Random {
 public:
  Random(std::uint64_t seed, RandomStream stream, std::uint64_t a, std::uint64_t b);
  std::uint32_t next_u32();
  std::uint64_t next_u64();
  double uniform();                          // in [0, 1), with 53 random bits
  std::uint64_t below(std::uint64_t limit);  // uniform in [0, limit); limit > 0
  double normal();                           // standard normal, by Box-Muller

 private:
  std::uint64_t key_;
  std::array<std::uint32_t, 4> counter_;
  std::array<std::uint32_t, 4> block_{};
  int used_ = 4;
};

}  // namespace lockstep
