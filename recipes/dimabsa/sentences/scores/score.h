// The shared task's scorer: continuous F1 of tuples (tasks 2 and 3), RMSE and correlation of
// valence and arousal (task 1), and the plain F1 of tuples.
//
// Each sentence is scored separately. A tuple's key is its aspect, its opinion and, in task 3, its
// category, all lower-cased. A gold tuple is matched if exactly one predicted tuple has its key. It
// gets the credit 1 - distance / sqrt(128), or 0 if the predicted VA leaves [1, 9]. If several
// predicted tuples have its key, it is missed, and they count as spurious. A predicted tuple may
// match several gold tuples of its key. If a gold sentence was not predicted, all its tuples are
// missed. If gold lacks a predicted sentence, all tuples of that sentence are spurious.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "recipes/dimabsa/sentences/sentence.h"

namespace lockstep::dimabsa {

// Sums over sentences, which can be added up in any grouping.
struct TupleSums {
  std::int64_t gold = 0, predicted = 0, matched = 0;
  double credit = 0;
  // The distinct keys per sentence: in gold, in the predictions, in both. They give the plain F1 of
  // tuples, without VA.
  std::int64_t gold_keys = 0, predicted_keys = 0, shared_keys = 0;

  // credit / predicted, credit / gold, and their harmonic mean; 0 if there are no tuples.
  double c_precision() const;
  double c_recall() const;
  double c_f1() const;
  double precision() const;
  double recall() const;
  double f1() const;  // 0 if nothing is shared

  TupleSums& operator+=(const TupleSums& other);
};

// Sums over pairs of gold and predicted VA.
struct VaSums {
  std::int64_t count = 0;
  double squared = 0;  // sum of the squared differences of valence and of arousal
  // Sums over gold (x) and prediction (y), after subtracting 5 from both.
  struct Products {
    double x = 0, y = 0, xx = 0, yy = 0, xy = 0;
  } valence, arousal;

  void add(const ValenceArousal& gold, const ValenceArousal& predicted);
  // sqrt(sum of squared distances / count); divided by sqrt(128) if `normalized`. NaN without
  // pairs.
  double rmse(bool normalized = false) const;
  // The same if every prediction were this one, as from a model that has learned nothing.
  double rmse_of_constant(const ValenceArousal& prediction) const;
  // Pearson's correlation. NaN with fewer than two pairs, or if one side is constant.
  double pearson_valence() const;
  double pearson_arousal() const;

  VaSums& operator+=(const VaSums& other);
};

// A gold tuple and the predicted tuple that matches it, by their places in the sentence.
struct Match {
  std::size_t gold = 0, predicted = 0;
  double credit = 0, distance = 0;
};

struct SentenceScore {
  TupleSums tuples;
  VaSums va;  // of the matches; in task 1 of all aspects
  std::vector<Match> matches;
};

// Gold tuples must have a VA; a predicted tuple without one gets no credit. In task 1 the last
// prediction for an aspect counts.
SentenceScore score_sentence(Task task, const std::vector<Tuple>& gold,
                             const std::vector<Tuple>& predicted);

struct Scores {
  std::int64_t sentences = 0;
  TupleSums tuples;
  VaSums va;
};

// Compares sentence i of gold with sentence i of the predictions, whatever their IDs. The lists
// must have the same length.
Scores score_in_order(Task task, std::span<const Sentence> gold,
                      std::span<const Sentence> predicted);

// Both lists with the same ID at each place. Gold's sentences come first, in their order. Then come
// predicted sentences that gold lacks, each with an empty gold sentence. A gold sentence without a
// prediction gets one without tuples.
struct Aligned {
  std::vector<Sentence> gold, predicted;
  std::vector<std::string> missing, unknown;  // IDs
};
Aligned align(const std::vector<Sentence>& gold, const std::vector<Sentence>& predicted);

// Scores sentences by ID, as the official scorer does. Throws Error in task 1 if an aspect of gold
// has no prediction.
Scores score(Task task, const std::vector<Sentence>& gold, const std::vector<Sentence>& predicted);

}  // namespace lockstep::dimabsa
