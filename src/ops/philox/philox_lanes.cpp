// Philox for many counters at once. It uses AVX2 if the CPU has it, and otherwise computes one
// counter after another.
#include "ops/philox/philox_lanes.h"

#include "ops/philox/philox_inline.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace lockstep {
namespace {

void draw_plain(std::int64_t first_quad, std::int64_t place, std::int64_t step, std::int64_t layer,
                std::uint64_t key, std::uint32_t* words) {
  for (std::int64_t lane = 0; lane < philox_lanes; ++lane) {
    const PhiloxWords drawn = row_words(first_quad + lane, place, step, layer, key);
    for (int i = 0; i < 4; ++i) words[4 * lane + i] = drawn.word[i];
  }
}

#if defined(__x86_64__)

// Four counters. Word i of each is in the lower half of a 64-bit lane; the upper half is ignored.
struct FourCounters {
  __m256i word[4];
};

[[gnu::target("avx2")]] void round_avx2(FourCounters& four, __m256i key_0, __m256i key_1) {
  const __m256i product_0 = _mm256_mul_epu32(four.word[0], _mm256_set1_epi64x(0xD2511F53));
  const __m256i product_1 = _mm256_mul_epu32(four.word[2], _mm256_set1_epi64x(0xCD9E8D57));
  const __m256i high_0 = _mm256_srli_epi64(product_0, 32);
  const __m256i high_1 = _mm256_srli_epi64(product_1, 32);
  four.word[0] = _mm256_xor_si256(_mm256_xor_si256(high_1, four.word[1]), key_0);
  four.word[1] = product_1;
  four.word[2] = _mm256_xor_si256(_mm256_xor_si256(high_0, four.word[3]), key_1);
  four.word[3] = product_0;
}

// words: receives the 16 words of the four counters, one counter after another.
[[gnu::target("avx2")]] void store_avx2(const FourCounters& four, std::uint32_t* words) {
  const __m256i low = _mm256_set1_epi64x(0xFFFFFFFF);
  const __m256i pair_01 =
      _mm256_or_si256(_mm256_and_si256(four.word[0], low), _mm256_slli_epi64(four.word[1], 32));
  const __m256i pair_23 =
      _mm256_or_si256(_mm256_and_si256(four.word[2], low), _mm256_slli_epi64(four.word[3], 32));
  const __m256i even = _mm256_unpacklo_epi64(pair_01, pair_23);  // counters 0 and 2
  const __m256i odd = _mm256_unpackhi_epi64(pair_01, pair_23);   // counters 1 and 3
  auto* to = reinterpret_cast<__m256i*>(words);
  _mm256_storeu_si256(to, _mm256_permute2x128_si256(even, odd, 0x20));
  _mm256_storeu_si256(to + 1, _mm256_permute2x128_si256(even, odd, 0x31));
}

[[gnu::target("avx2")]] void draw_avx2(std::int64_t first_quad, std::int64_t place,
                                       std::int64_t step, std::int64_t layer, std::uint64_t key,
                                       std::uint32_t* words) {
  constexpr std::int64_t groups = 4;  // groups of four counters, which keep the multipliers busy
  static_assert(philox_lanes % (4 * groups) == 0);
  for (std::int64_t lane = 0; lane < philox_lanes; lane += 4 * groups) {
    FourCounters four[groups];
    for (std::int64_t g = 0; g < groups; ++g)
      four[g] = {{_mm256_add_epi64(_mm256_set1_epi64x(first_quad + lane + 4 * g),
                                   _mm256_setr_epi64x(0, 1, 2, 3)),
                  _mm256_set1_epi64x(place), _mm256_set1_epi64x(step), _mm256_set1_epi64x(layer)}};
    std::uint32_t key_0 = static_cast<std::uint32_t>(key);
    std::uint32_t key_1 = static_cast<std::uint32_t>(key >> 32);
    for (int round = 0; round < 10; ++round) {
      for (std::int64_t g = 0; g < groups; ++g)
        round_avx2(four[g], _mm256_set1_epi64x(key_0), _mm256_set1_epi64x(key_1));
      key_0 += 0x9E3779B9u;
      key_1 += 0xBB67AE85u;
    }
    for (std::int64_t g = 0; g < groups; ++g) store_avx2(four[g], words + 4 * (lane + 4 * g));
  }
}

bool has_avx2() { return __builtin_cpu_supports("avx2"); }

#else

constexpr auto* draw_avx2 = &draw_plain;
bool has_avx2() { return false; }

#endif

}  // namespace

void draw_row_words(std::int64_t first_quad, std::int64_t place, std::int64_t step,
                    std::int64_t layer, std::uint64_t key,
                    std::uint32_t (&words)[4 * philox_lanes]) {
  static const bool avx2 = has_avx2();
  (avx2 ? draw_avx2 : draw_plain)(first_quad, place, step, layer, key, words);
}

}  // namespace lockstep
