// How a stream of tokens is cut into samples of one context each: pure arithmetic.
//
// A stream of N tokens has N - 1 pairs: pair p asks for token p + 1 after token p. They are cut
// into ceil((N - 1) / T) samples of T pairs. The last may have fewer; its weight says how many. A
// shift s turns the stream of pairs like a wheel: sample i holds pairs (s + i T + j) mod (N - 1)
// for j < T. So the number of samples and the weight of each do not depend on the shift, and an
// epoch asks for every token but the first exactly once. At most one sample of an epoch runs over
// the end of the stream. It is made of two runs, and continues at the start of the stream as it
// would at a document's end.
#pragma once

#include <cstdint>

namespace lockstep::textgen {

// Samples of `context` pairs in a stream of `tokens`; 0 for fewer than two tokens.
std::int64_t sample_count(std::int64_t tokens, std::int64_t context);

// Neighbouring pairs: inputs are tokens [begin, begin + count), targets [begin + 1, begin + count +
// 1).
struct TokenSpan {
  std::int64_t begin = 0, count = 0;
};

// A sample: `first` and, if it runs over the end, `second`.
struct Block {
  TokenSpan first, second;
  std::int64_t targets() const { return first.count + second.count; }  // its weight
};

// index in [0, sample_count), shift in [0, context).
Block block_at(std::int64_t tokens, std::int64_t context, std::int64_t shift, std::int64_t index);

// The shift of an epoch's grid in [0, context): a pure function. Zero if `shifting` is false.
std::int64_t epoch_shift(std::uint64_t seed, std::int64_t epoch, std::int64_t context,
                         bool shifting);

}  // namespace lockstep::textgen
