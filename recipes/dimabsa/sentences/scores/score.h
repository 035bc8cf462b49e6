// Computes the scores of the shared task from gold and predicted tuples. Valence and arousal are
// called VA. Tasks 2 and 3 have the continuous F1 of tuples, which gives partial credit for near
// VA. Task 1 has RMSE and correlation of VA. Also computes the plain F1 of tuples, which ignores
// VA.
//
// Each sentence is scored separately. Tuples are compared by their keys (tuple_key.h). A gold tuple
// is matched if exactly one predicted tuple has its key. A match gets the credit 1 - distance /
// sqrt(128), or 0 if the predicted VA is outside [1, 9]. If several predicted tuples have the key
// of a gold tuple, the gold tuple is missed. All these predicted tuples are spurious. But in task
// 1, the last of these predicted tuples matches. A predicted tuple may match several gold tuples
// with its key. If a gold sentence has no prediction, all its tuples are missed. If a predicted
// sentence is not in gold, all its tuples are spurious.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "recipes/dimabsa/sentences/sentence.h"

namespace lockstep::dimabsa {

// Sums over the tuples of sentences. The sums of several sets of sentences can be added.
struct TupleSums {
  std::int64_t gold = 0, predicted = 0, matched = 0;
  double credit = 0;
  // Numbers of distinct keys, counted for each sentence: in gold, in the predictions, and in both.
  // The plain F1 of tuples is computed from these numbers.
  std::int64_t gold_keys = 0, predicted_keys = 0, shared_keys = 0;

  // Return credit / predicted, credit / gold, and the harmonic mean of these two. Each is 0 if its
  // denominator is 0.
  double c_precision() const;
  double c_recall() const;
  double c_f1() const;
  double precision() const;
  double recall() const;
  double f1() const;  // 0 if shared_keys is 0

  TupleSums& operator+=(const TupleSums& other);
};

// Sums over pairs of a gold VA and a predicted VA.
struct VaSums {
  std::int64_t count = 0;
  double squared = 0;  // sum of the squared differences of valence and of arousal
  // Sums over gold values (x) and predicted values (y), after subtracting 5 from each.
  struct Products {
    double x = 0, y = 0, xx = 0, yy = 0, xy = 0;
  } valence, arousal;

  void add(const ValenceArousal& gold, const ValenceArousal& predicted);
  // Returns sqrt(squared / count). If `normalized` is true, divides it by sqrt(128). Returns NaN if
  // there are no pairs.
  double rmse(bool normalized = false) const;
  // Returns the RMSE that would result if every predicted VA were `prediction`. With the mean VA of
  // the training data, this is the RMSE of a model that has learned nothing else.
  double rmse_of_constant(const ValenceArousal& prediction) const;
  // Return Pearson's correlation. The result is NaN if there are fewer than two pairs, or if all
  // gold or all predicted values are equal.
  double pearson_valence() const;
  double pearson_arousal() const;

  VaSums& operator+=(const VaSums& other);
};

// A gold tuple and the predicted tuple that matches it. gold, predicted: the indexes of these
// tuples in the lists of the sentence. distance: the Euclidean distance of their VA.
struct Match {
  std::size_t gold = 0, predicted = 0;
  double credit = 0, distance = 0;
};

struct SentenceScore {
  TupleSums tuples;
  VaSums va;  // sums over the matches
  std::vector<Match> matches;
};

// Gold tuples must have a VA. A match whose predicted tuple has no VA gets no credit.
SentenceScore score_sentence(Task task, const std::vector<Tuple>& gold,
                             const std::vector<Tuple>& predicted);

struct Scores {
  std::int64_t sentences = 0;
  TupleSums tuples;
  VaSums va;
};

// Compares sentence i of gold with sentence i of the predictions, without regard to IDs. The lists
// must have the same length.
Scores score_in_order(Task task, std::span<const Sentence> gold,
                      std::span<const Sentence> predicted);

// Gold and predicted sentences, with the same ID at the same index. The sentences of the gold file
// come first, in their order. A gold sentence without a prediction gets a prediction without
// tuples. After them come the predicted sentences that are not in gold. Each of these gets a gold
// sentence without tuples.
struct Aligned {
  std::vector<Sentence> gold, predicted;
  // missing: IDs of gold without a prediction. unknown: predicted IDs that are not in gold.
  std::vector<std::string> missing, unknown;
};
Aligned align(const std::vector<Sentence>& gold, const std::vector<Sentence>& predicted);

// Scores sentences that are matched by ID, as the official scorer does. In task 1, throws Error if
// a gold aspect has no prediction.
Scores score(Task task, const std::vector<Sentence>& gold, const std::vector<Sentence>& predicted);

}  // namespace lockstep::dimabsa
