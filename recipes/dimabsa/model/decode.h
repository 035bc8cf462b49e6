// From probabilities to tuples: plain arithmetic, without a network.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "recipes/dimabsa/options/encoded.h"

namespace lockstep::dimabsa {

struct DecodeOptions {
  double threshold = 0.5;         // a token may begin or end a span above it
  double beta = 0.9;              // of a pair that is found in one direction
  std::size_t most = 32;          // spans of a text, pairs of a sentence
  std::int64_t longest_span = 1;  // pieces; of the spans that were trained on
  // An end takes a start behind the previous end, if there is one. Otherwise spans would reach from
  // one phrase to the next if the first start is the more probable one.
  bool apart = true;
};

struct FoundSpan {
  PieceSpan span;
  double probability = 0;
};

// start, end: for each token from "null" on, the probability that a span begins or ends there.
// nulls: the number of tokens that are "null"; the rest are the text's pieces. Candidates are
// tokens above the threshold. Each end is paired with the most probable start at or before it (see
// `apart`), and with the nearest of equal ones. The start lies on the same side of the border
// between "null" and the text, and the span has at most longest_span pieces. A span's probability
// is the root of the product of both; NULL is all of "null". In the order of the text; at most
// `most`, the most probable ones.
std::vector<FoundSpan> find_spans(std::span<const double> start, std::span<const double> end,
                                  std::int64_t nulls, const DecodeOptions& options);

struct FoundPair {
  PieceSpan aspect, opinion;
  double probability = 0;
};

// One direction: first[i] was asked for, and answers[i] came. The root of the product of both
// probabilities. forward: the first are aspects.
std::vector<FoundPair> pairs_of(const std::vector<FoundSpan>& first,
                                const std::vector<std::vector<FoundSpan>>& answers, bool forward);

// Pairs that both directions found, with the larger probability, and those of one direction with at
// least beta. In the order of aspect and opinion; at most `most`, the most probable ones.
std::vector<FoundPair> keep_pairs(const std::vector<FoundPair>& forward,
                                  const std::vector<FoundPair>& backward,
                                  const DecodeOptions& options);

}  // namespace lockstep::dimabsa
