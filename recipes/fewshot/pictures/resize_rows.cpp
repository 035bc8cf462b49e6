#include "recipes/fewshot/pictures/resize_rows.h"

#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace lockstep::fewshot {
namespace {

constexpr std::int32_t half = 1 << (weight_bits - 1);

std::uint8_t rounded(std::int32_t sum) {
  return static_cast<std::uint8_t>(std::clamp(sum >> weight_bits, 0, 255));
}

// Computes pixel `at` of the resized row.
void resize_pixel(const std::uint8_t* from, const Taps& taps, std::size_t at, std::uint8_t* to) {
  const std::int32_t* const weights = taps.weights_of(at);
  const std::uint8_t* pixel = from + 3 * static_cast<std::ptrdiff_t>(taps.first[at]);
  std::int32_t red = half, green = half, blue = half;
  for (int i = 0; i < taps.count[at]; ++i, pixel += 3) {
    red += weights[i] * pixel[0];
    green += weights[i] * pixel[1];
    blue += weights[i] * pixel[2];
  }
  to[0] = rounded(red);
  to[1] = rounded(green);
  to[2] = rounded(blue);
}

void resize_plain(const PixelRows& rows, const Taps& taps, std::uint8_t* to) {
  const std::size_t stride = 3 * static_cast<std::size_t>(rows.width);
  for (std::size_t row = 0; row < rows.count; ++row)
    for (std::size_t at = 0; at < taps.first.size(); ++at, to += 3)
      resize_pixel(rows.data + row * stride, taps, at, to);
}

void mix_plain(const PixelRows& rows, const std::int32_t* weights, std::uint8_t* to) {
  const std::size_t stride = 3 * static_cast<std::size_t>(rows.width);
  for (std::size_t k = 0; k < stride; ++k) {
    std::int32_t sum = half;
    for (std::size_t i = 0; i < rows.count; ++i) sum += weights[i] * rows.data[i * stride + k];
    to[k] = rounded(sum);
  }
}

#if defined(__x86_64__)

std::int32_t four_bytes(const std::uint8_t* from) {
  std::int32_t bytes = 0;
  std::memcpy(&bytes, from, 4);
  return bytes;
}

// Resizes two rows at once, each in one half of the register. Pixels are loaded with the byte after
// them, which is dropped. Results that need a row's last pixel are computed one by one, because no
// byte may follow it.
[[gnu::target("avx2")]] void resize_two_rows(const std::uint8_t* from, int width, const Taps& taps,
                                             std::uint8_t* to) {
  const std::size_t stride = 3 * static_cast<std::size_t>(width);
  const std::size_t to_stride = 3 * taps.first.size();
  for (std::size_t at = 0; at < taps.first.size(); ++at, to += 3) {
    if (taps.first[at] + taps.count[at] >= width) {
      resize_pixel(from, taps, at, to);
      resize_pixel(from + stride, taps, at, to + to_stride);
      continue;
    }
    const std::int32_t* const weights = taps.weights_of(at);
    const std::uint8_t* pixel = from + 3 * static_cast<std::ptrdiff_t>(taps.first[at]);
    __m256i sum = _mm256_set1_epi32(half);
    for (int i = 0; i < taps.count[at]; ++i, pixel += 3) {
      const __m128i bytes =
          _mm_insert_epi32(_mm_cvtsi32_si128(four_bytes(pixel)), four_bytes(pixel + stride), 1);
      sum = _mm256_add_epi32(
          sum, _mm256_mullo_epi32(_mm256_cvtepu8_epi32(bytes), _mm256_set1_epi32(weights[i])));
    }
    const __m256i whole = _mm256_srai_epi32(sum, weight_bits);
    const __m256i packed = _mm256_packus_epi16(_mm256_packs_epi32(whole, whole), whole);
    const std::int32_t upper = _mm256_extract_epi32(packed, 0),
                       lower = _mm256_extract_epi32(packed, 4);
    std::memcpy(to, &upper, 3);
    std::memcpy(to + to_stride, &lower, 3);
  }
}

void resize_avx2(const PixelRows& rows, const Taps& taps, std::uint8_t* to) {
  const std::size_t stride = 3 * static_cast<std::size_t>(rows.width),
                    to_stride = 3 * taps.first.size();
  for (std::size_t row = 0; row + 1 < rows.count; row += 2)
    resize_two_rows(rows.data + row * stride, rows.width, taps, to + row * to_stride);
  if (rows.count % 2 == 1) {
    const std::size_t last = rows.count - 1;
    resize_plain({.data = rows.data + last * stride, .width = rows.width, .count = 1}, taps,
                 to + last * to_stride);
  }
}

[[gnu::target("avx2")]] void mix_avx2(const PixelRows& rows, const std::int32_t* weights,
                                      std::uint8_t* to) {
  const std::size_t stride = 3 * static_cast<std::size_t>(rows.width);
  std::size_t k = 0;
  for (; k + 8 <= stride; k += 8) {
    __m256i sum = _mm256_set1_epi32(half);
    for (std::size_t i = 0; i < rows.count; ++i) {
      const __m128i bytes =
          _mm_loadl_epi64(reinterpret_cast<const __m128i*>(rows.data + i * stride + k));
      sum = _mm256_add_epi32(
          sum, _mm256_mullo_epi32(_mm256_cvtepu8_epi32(bytes), _mm256_set1_epi32(weights[i])));
    }
    const __m256i whole = _mm256_srai_epi32(sum, weight_bits);
    const __m128i words =
        _mm_packs_epi32(_mm256_castsi256_si128(whole), _mm256_extracti128_si256(whole, 1));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to + k), _mm_packus_epi16(words, words));
  }
  for (; k < stride; ++k) {
    std::int32_t sum = half;
    for (std::size_t i = 0; i < rows.count; ++i) sum += weights[i] * rows.data[i * stride + k];
    to[k] = rounded(sum);
  }
}

bool has_avx2() { return __builtin_cpu_supports("avx2"); }

#else

constexpr auto* resize_avx2 = &resize_plain;
constexpr auto* mix_avx2 = &mix_plain;
bool has_avx2() { return false; }

#endif

}  // namespace

void resize_rows(const PixelRows& rows, const Taps& taps, std::uint8_t* to) {
  static const bool wide = has_avx2();
  wide ? resize_avx2(rows, taps, to) : resize_plain(rows, taps, to);
}

void mix_rows(const PixelRows& rows, const std::int32_t* weights, std::uint8_t* to) {
  static const bool wide = has_avx2();
  wide ? mix_avx2(rows, weights, to) : mix_plain(rows, weights, to);
}

}  // namespace lockstep::fewshot
