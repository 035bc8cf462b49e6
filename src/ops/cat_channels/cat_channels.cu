// Joins the channels of two channels-last tensors, or splits them again. Bytes are copied
// unchanged, in words as wide as both tensors allow. A block handles consecutive words of the
// joined tensor.
#include "ops/cat_channels/cat_channels_launch.h"

#include <climits>
#include <cstdint>

namespace lockstep {
namespace {

constexpr int cat_threads = 256, words_each = 4;

template <class Word, bool join>
__global__ void __launch_bounds__(cat_threads) cat_channels_kernel(CatChannels launch) {
  const auto of_a = static_cast<int>(launch.a_bytes / sizeof(Word)),
             of_b = static_cast<int>(launch.b_bytes / sizeof(Word));
  const int of_both = of_a + of_b;
  const std::int64_t words = launch.rows * of_both;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * (cat_threads * words_each);
  const std::int64_t row = first / of_both;  // the same for the whole block
  const auto column = static_cast<unsigned>(first % of_both);
  auto* const a = static_cast<Word*>(launch.a);
  auto* const b = static_cast<Word*>(launch.b);
  auto* const both = static_cast<Word*>(launch.both);
  Word value[words_each];
  Word* narrow[words_each];
#pragma unroll
  for (int i = 0; i < words_each; ++i) {
    const unsigned behind = threadIdx.x + static_cast<unsigned>(i * cat_threads);
    const std::int64_t wide = first + behind;
    narrow[i] = nullptr;
    if (wide >= words) continue;
    const unsigned at = column + behind, width = static_cast<unsigned>(of_both);
    const std::int64_t at_row = row + at / width;
    const auto at_column = static_cast<int>(at % width);
    if (at_column < of_a)
      narrow[i] = a == nullptr ? nullptr : a + at_row * of_a + at_column;
    else
      narrow[i] = b == nullptr ? nullptr : b + at_row * of_b + (at_column - of_a);
    if (narrow[i] != nullptr) value[i] = join ? *narrow[i] : both[wide];
  }
#pragma unroll
  for (int i = 0; i < words_each; ++i) {
    if (narrow[i] == nullptr) continue;
    *(join ? both + first + threadIdx.x + i * cat_threads : narrow[i]) = value[i];
  }
}

template <class Word, bool join>
cudaError_t launch_words(const CatChannels& launch, cudaStream_t stream) {
  constexpr std::int64_t a_block = cat_threads * words_each;
  const std::int64_t words =
      launch.rows * ((launch.a_bytes + launch.b_bytes) / static_cast<std::int64_t>(sizeof(Word)));
  const std::int64_t blocks = (words + a_block - 1) / a_block;
  if (blocks > INT_MAX) return cudaErrorInvalidConfiguration;
  if (blocks == 0) return cudaSuccess;
  cat_channels_kernel<Word, join>
      <<<static_cast<unsigned>(blocks), cat_threads, 0, stream>>>(launch);
  return cudaGetLastError();
}

template <bool join>
cudaError_t launch_cat(const CatChannels& launch, cudaStream_t stream) {
  if (launch.a_bytes + launch.b_bytes > cat_channels_most_bytes) return cudaErrorInvalidValue;
  const std::int64_t bits = launch.a_bytes | launch.b_bytes;
  if (bits % 16 == 0) return launch_words<uint4, join>(launch, stream);
  if (bits % 8 == 0) return launch_words<uint2, join>(launch, stream);
  if (bits % 4 == 0) return launch_words<std::uint32_t, join>(launch, stream);
  if (bits % 2 == 0) return launch_words<std::uint16_t, join>(launch, stream);
  return cudaErrorInvalidValue;
}

}  // namespace

cudaError_t launch_join_channels(const CatChannels& launch, cudaStream_t stream) {
  return launch_cat<true>(launch, stream);
}

cudaError_t launch_part_channels(const CatChannels& launch, cudaStream_t stream) {
  return launch_cat<false>(launch, stream);
}

}  // namespace lockstep
