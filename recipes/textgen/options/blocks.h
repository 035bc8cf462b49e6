// Cuts a stream of tokens into samples of one context each. Arithmetic only.
//
// A stream of N tokens has N - 1 pairs; in pair p, the input is token p and the target token p + 1.
// They are cut into ceil((N - 1) / T) samples of T pairs. The last sample may have fewer; its
// weight tells how many. A shift s rotates the stream of pairs: sample i holds pairs (s + i T + j)
// mod (N - 1) for j < T. So the number of samples and the weight of each do not depend on the
// shift, and in an epoch every token except the first is a target exactly once. At most one sample
// of an epoch crosses the end of the stream. It consists of two runs, and continues at the start of
// the stream as it would after a document's end.
#pragma once

#include <cstdint>

namespace lockstep::textgen {

// The number of samples of `context` pairs in a stream of `tokens`; 0 for fewer than two tokens.
std::int64_t sample_count(std::int64_t tokens, std::int64_t context);

// Consecutive pairs: inputs are tokens [begin, begin + count), targets are tokens [begin + 1, begin
// + count + 1).
struct TokenSpan {
  std::int64_t begin = 0, count = 0;
};

// A sample: `first` and, if it crosses the end of the stream, `second`.
struct Block {
  TokenSpan first, second;
  std::int64_t targets() const { return first.count + second.count; }  // its weight
};

// index in [0, sample_count), shift in [0, context).
Block block_at(std::int64_t tokens, std::int64_t context, std::int64_t shift, std::int64_t index);

// The shift of an epoch in [0, context): a pure function. Zero if `shifting` is false.
std::int64_t epoch_shift(std::uint64_t seed, std::int64_t epoch, std::int64_t context,
                         bool shifting);

}  // namespace lockstep::textgen
