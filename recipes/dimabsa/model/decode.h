// Turns the probabilities that the model returns into spans, and spans into pairs of an aspect and
// an opinion. The functions do not run the model.
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
  // The model searches for pairs in two directions: from aspects to opinions, and from opinions to
  // aspects. A pair that only one direction finds must have at least this probability.
  double beta = 0.9;
  std::size_t most = 32;          // largest number of spans per text, and of pairs per sentence
  std::int64_t longest_span = 1;  // pieces of the longest span in the training data
  // Each end of a span is paired with a start before it. If true, starts after the previous end are
  // preferred to earlier ones. If false, a span may reach from one phrase to the next. That happens
  // if the start of the first phrase is more probable than the start of the second phrase.
  bool apart = true;
};

struct FoundSpan {
  PieceSpan span;
  double probability = 0;
};

// Finds the spans of a text. start, end: for each token, the probability that a span begins or ends
// there. The first tokens are those of the word "null", which stands before the text
// (model/texts.h). nulls: the number of these tokens. The other tokens are the pieces of the text.
//
// Only tokens above the threshold can begin or end a span. Each end is paired with the most
// probable start at or before it (see `apart`). Among equally probable starts, the nearest is
// taken. A span has at most longest_span pieces. The span NULL means that the text does not name
// the phrase. It consists of all tokens of "null". No other span contains any of them. The
// probability of a span is the geometric mean of the probabilities of its start and its end. If
// there are more than options.most spans, only the most probable are returned. Spans are in the
// order of the text.
std::vector<FoundSpan> find_spans(std::span<const double> start, std::span<const double> end,
                                  std::int64_t nulls, const DecodeOptions& options);

struct FoundPair {
  PieceSpan aspect, opinion;
  double probability = 0;
};

// Returns the pairs of one direction. first: aspects if `forward` is true, else opinions.
// answers[i]: the spans that the model found for first[i]. The probability of a pair is the
// geometric mean of the probabilities of its two spans.
std::vector<FoundPair> pairs_of(const std::vector<FoundSpan>& first,
                                const std::vector<std::vector<FoundSpan>>& answers, bool forward);

// Joins the pairs of both directions. A pair that both directions found gets the larger of its two
// probabilities. A pair that only one direction found is kept if its probability is at least
// options.beta. If there are more than options.most pairs, only the most probable are returned.
// Pairs are sorted by aspect, then by opinion.
std::vector<FoundPair> keep_pairs(const std::vector<FoundPair>& forward,
                                  const std::vector<FoundPair>& backward,
                                  const DecodeOptions& options);

}  // namespace lockstep::dimabsa
