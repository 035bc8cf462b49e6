// Computes which tokens of a corpus belong to which sample. The tokens form one stream, with all
// documents after each other.
//
// A stream of N tokens has N - 1 pairs. In pair p, token p is the input and token p + 1 the target.
// The stream is cut into ceil((N - 1) / T) samples of T pairs, with T = context. The last sample
// may have fewer pairs. The weight of a sample is the number of its pairs.
//
// A shift s rotates the stream of pairs. Sample i then has the pairs (s + i T + j) mod (N - 1) for
// j < T. The number of samples and the weight of each do not depend on the shift. In an epoch,
// every token except the first is a target exactly once. At most one sample crosses the end of the
// stream. It consists of two runs of pairs: the last ones of the stream, then the first ones. The
// second run follows the first one in the sample, as one document follows another in the stream.
#pragma once

#include <cstdint>

namespace lockstep::textgen {

// Returns the number of samples in a stream of `tokens` tokens. It is 0 for fewer than two tokens.
std::int64_t sample_count(std::int64_t tokens, std::int64_t context);

// Consecutive pairs. Their inputs are tokens [begin, begin + count). Their targets are tokens
// [begin + 1, begin + count + 1).
struct TokenSpan {
  std::int64_t begin = 0, count = 0;
};

// The pairs of a sample. `second` is empty unless the sample crosses the end of the stream.
struct Block {
  TokenSpan first, second;
  std::int64_t targets() const { return first.count + second.count; }  // the sample's weight
};

// Returns the pairs of sample `index`. tokens: the number of tokens of the stream. index: in
// [0, sample_count). shift: in [0, context).
Block block_at(std::int64_t tokens, std::int64_t context, std::int64_t shift, std::int64_t index);

// Returns the shift for an epoch, in [0, context). The result depends on the arguments alone, and
// is 0 if `shifting` is false.
std::int64_t epoch_shift(std::uint64_t seed, std::int64_t epoch, std::int64_t context,
                         bool shifting);

}  // namespace lockstep::textgen
