// From probabilities to tuples: plain arithmetic, without a network.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "recipes/dimabsa/options/encoded.h"

namespace lockstep::dimabsa {

struct DecodeOptions {
  // a token may begin or end a span if its probability is above this
  double threshold = 0.5;
  double beta = 0.9;              // least probability of a pair that only one direction found
  std::size_t most = 32;          // at most this many spans of a text, and pairs of a sentence
  std::int64_t longest_span = 1;  // in pieces: the longest span of the training data
  // An end is paired with a start behind the previous end, if there is such a start. Otherwise a
  // span would reach from one phrase to the next if the first start is the more probable one.
  bool apart = true;
};

struct FoundSpan {
  PieceSpan span;
  double probability = 0;
};

// start, end: for each token from "null" on, the probability that a span begins or ends there.
// nulls: the number of tokens that are "null"; the rest are the text's pieces. Candidates are
// tokens above the threshold. Each end is paired with the most probable start at or before it (see
// `apart`). Among equally probable starts, the nearest is taken. Both lie on the same side of the
// border between "null" and the text, and the span has at most longest_span pieces. A span's
// probability is the root of the product of the two. NULL is a span of all tokens of "null".
// Returns the `most` most probable spans, in the order of the text.
std::vector<FoundSpan> find_spans(std::span<const double> start, std::span<const double> end,
                                  std::int64_t nulls, const DecodeOptions& options);

struct FoundPair {
  PieceSpan aspect, opinion;
  double probability = 0;
};

// Pairs of one direction: the model was asked about first[i], and found answers[i]. A pair's
// probability is the root of the product of the two. forward: whether `first` holds aspects.
std::vector<FoundPair> pairs_of(const std::vector<FoundSpan>& first,
                                const std::vector<std::vector<FoundSpan>>& answers, bool forward);

// Keeps pairs that both directions found, with the larger probability, and pairs of one direction
// with at least beta. Returns the `most` most probable pairs, in the order of aspect and opinion.
std::vector<FoundPair> keep_pairs(const std::vector<FoundPair>& forward,
                                  const std::vector<FoundPair>& backward,
                                  const DecodeOptions& options);

}  // namespace lockstep::dimabsa
