// Non-maximum suppression. First the whole GPU computes a bit for each pair of boxes: whether they
// overlap. Then one block per set goes through the boxes in the order of scores, 64 at a time. One
// thread decides which of the 64 are kept. All threads then remove the later boxes that these
// overlap.
#include "ops/boxes/box_inline.h"
#include "ops/nms/nms_launch.h"

#include <climits>
#include <cmath>

namespace lockstep {
namespace {

constexpr int word_bits = 64, keep_threads = 1024;
using Word = unsigned long long;
static_assert(sizeof(Word) == sizeof(std::uint64_t));

// Converts a box's place in the sorted order to its index in the set.
__device__ std::int64_t index_of(const NmsArguments& launch, std::int64_t first, std::int64_t box) {
  return launch.order == nullptr ? box : launch.order[first + box];
}

// A block compares 64 boxes, one per thread, with 64 others. Each thread computes a word with one
// bit for each of the others.
__global__ void __launch_bounds__(word_bits) overlaps_kernel(NmsArguments launch) {
  const std::int64_t row_word = blockIdx.y, word = blockIdx.x, set = blockIdx.z;
  if (word < row_word) return;  // bits of earlier boxes are never read
  const std::int64_t n = launch.boxes_per_set, first = set * n;
  const auto* boxes = reinterpret_cast<const Corners*>(launch.boxes) + first;
  const int tid = static_cast<int>(threadIdx.x);
  __shared__ Corners others[word_bits];
  __shared__ std::int64_t groups[word_bits];
  const std::int64_t other = word * word_bits + tid;
  if (other < n) {
    const std::int64_t index = index_of(launch, first, other);
    others[tid] = boxes[index];
    groups[tid] = launch.group != nullptr ? launch.group[first + index] : 0;
  }
  __syncthreads();
  const std::int64_t row = row_word * word_bits + tid;
  if (row >= n) return;
  const std::int64_t index = index_of(launch, first, row);
  const Corners box = boxes[index];
  const std::int64_t group = launch.group != nullptr ? launch.group[first + index] : 0;
  const std::int64_t left = n - word * word_bits;
  const int end = left < word_bits ? static_cast<int>(left) : word_bits;
  Word bits = 0;
  for (int i = word == row_word ? tid + 1 : 0; i < end; ++i)
    if (groups[i] == group && overlap(box, others[i], launch.threshold)) bits |= Word{1} << i;
  launch.overlaps[(first + row) * launch.words + word] = bits;
}

// Returns the boxes to keep among `open`, which no box of an earlier word has removed. It keeps at
// most `room` of them. overlaps: for each box of the word, the later boxes that it overlaps.
__device__ Word kept_of_word(Word open, const Word* overlaps, std::int64_t room) {
  Word kept = 0;
  for (; open != 0 && room > 0; --room) {
    const int bit = __ffsll(static_cast<long long>(open)) - 1;
    kept |= Word{1} << bit;
    open &= ~(Word{1} << bit) & ~overlaps[bit];
  }
  return kept;
}

__global__ void __launch_bounds__(keep_threads) keep_kernel(NmsArguments launch) {
  __shared__ Word removed[nms_most_boxes / word_bits];
  __shared__ Word of_word[word_bits];
  __shared__ unsigned counting[2];  // boxes with a score above -infinity
  __shared__ Word kept_here;
  const int tid = static_cast<int>(threadIdx.x), lane = tid % 32;
  const std::int64_t n = launch.boxes_per_set, first = static_cast<std::int64_t>(blockIdx.x) * n;
  const std::uint64_t* overlaps = launch.overlaps + first * launch.words;
  std::int64_t* indices = launch.indices + blockIdx.x * launch.at_most;
  for (std::int64_t word = tid; word < launch.words; word += keep_threads) removed[word] = 0;
  std::int64_t count = 0;
  for (std::int64_t word = 0; word < launch.words && count < launch.at_most; ++word) {
    const std::int64_t begin = word * word_bits, box = begin + tid;
    if (tid < word_bits) {
      const bool counts = box < n && launch.sorted_scores[first + box] > -INFINITY;
      const unsigned votes = __ballot_sync(0xffffffffU, counts);
      if (lane == 0) counting[tid / 32] = votes;
      of_word[tid] = box < n ? overlaps[box * launch.words + word] : 0;
    }
    __syncthreads();
    if (tid == 0) {
      const Word open = (Word{counting[1]} << 32 | counting[0]) & ~removed[word];
      kept_here = kept_of_word(open, of_word, launch.at_most - count);
    }
    __syncthreads();
    const Word kept = kept_here;
    if (tid < word_bits && (kept >> tid & 1) != 0)
      indices[count + __popcll(kept & ((Word{1} << tid) - 1))] = index_of(launch, first, box);
    for (int bit = tid / 32; bit < word_bits; bit += keep_threads / 32) {
      if ((kept >> bit & 1) == 0) continue;
      for (std::int64_t later = word + 1 + lane; later < launch.words; later += 32)
        if (const Word bits = overlaps[(begin + bit) * launch.words + later]; bits != 0)
          atomicOr(&removed[later], bits);
    }
    count += __popcll(kept);
    __syncthreads();
  }
  for (std::int64_t i = count + tid; i < launch.at_most; i += keep_threads) indices[i] = -1;
  if (tid == 0) launch.count[blockIdx.x] = count;
}

}  // namespace

cudaError_t launch_nms_overlaps(const NmsArguments& arguments, cudaStream_t stream) {
  if (arguments.boxes_per_set > nms_most_boxes || arguments.sets > nms_most_sets)
    return cudaErrorInvalidValue;
  const auto words = static_cast<unsigned>(arguments.words);
  overlaps_kernel<<<dim3(words, words, static_cast<unsigned>(arguments.sets)), word_bits, 0,
                    stream>>>(arguments);
  return cudaGetLastError();
}

cudaError_t launch_nms_keep(const NmsArguments& arguments, cudaStream_t stream) {
  keep_kernel<<<static_cast<unsigned>(arguments.sets), keep_threads, 0, stream>>>(arguments);
  return cudaGetLastError();
}

}  // namespace lockstep
