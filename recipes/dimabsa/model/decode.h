// Turns the probabilities that the model returns into spans and pairs. The functions do not run the
// model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "recipes/dimabsa/options/encoded.h"

namespace lockstep::dimabsa {

struct DecodeOptions {
  // A token can begin or end a span if its probability is above this.
  double threshold = 0.5;
  double beta = 0.9;              // pairs that only one direction found need this probability
  std::size_t most = 32;          // largest number of spans per text, and of pairs per sentence
  std::int64_t longest_span = 1;  // in pieces; that of the training data
  // Whether an end prefers starts that come after the previous end. If false, a span may reach from
  // one phrase to the next. That happens if the first start is more probable than the second.
  bool apart = true;
};

struct FoundSpan {
  PieceSpan span;
  double probability = 0;
};

// Finds the spans of a text. start, end: for each token from TextTokens::answer on, the probability
// that a span begins or ends there. nulls: the number of tokens of "null". The other tokens are the
// pieces of the text.
//
// Only tokens above the threshold can begin or end a span. Each end is paired with the most
// probable start at or before it (see `apart`). Among equally probable starts, the nearest is
// taken. A span has at most longest_span pieces. The span NULL consists of all tokens of "null",
// and no other span has tokens of "null". The probability of a span is the geometric mean of the
// probabilities of its start and its end. If there are more than options.most spans, only the most
// probable are returned. Spans are in the order of the text.
std::vector<FoundSpan> find_spans(std::span<const double> start, std::span<const double> end,
                                  std::int64_t nulls, const DecodeOptions& options);

struct FoundPair {
  PieceSpan aspect, opinion;
  double probability = 0;
};

// Returns the pairs of one direction. answers[i]: the spans that the model found for first[i]. The
// probability of a pair is the geometric mean of the probabilities of its two spans. forward: true
// if `first` holds aspects, false if it holds opinions.
std::vector<FoundPair> pairs_of(const std::vector<FoundSpan>& first,
                                const std::vector<std::vector<FoundSpan>>& answers, bool forward);

// Joins the pairs of both directions. A pair that is in both gets the larger probability. A pair
// that is in only one of them is kept if its probability is at least beta. If there are more than
// options.most pairs, only the most probable are returned. Pairs are sorted by aspect, then by
// opinion.
std::vector<FoundPair> keep_pairs(const std::vector<FoundPair>& forward,
                                  const std::vector<FoundPair>& backward,
                                  const DecodeOptions& options);

}  // namespace lockstep::dimabsa
