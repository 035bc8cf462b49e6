// Computes the scores of the shared task. Tasks 2 and 3 have the continuous F1 of tuples. Task 1
// has RMSE and correlation of valence and arousal. Also computes the plain F1 of tuples.
//
// Each sentence is scored separately. Tuples are compared by their keys (tuple_key.h). A gold tuple
// is matched if exactly one predicted tuple has its key. A match gets the credit 1 - distance /
// sqrt(128), or 0 if the predicted VA is outside [1, 9]. If several predicted tuples have the key
// of a gold tuple, it is missed, and all of them are spurious. In task 1, the last of these
// predicted tuples matches instead. A predicted tuple may match several gold tuples with its key.
// If a gold sentence has no prediction, all its tuples are missed. If a predicted sentence is not
// in gold, all its tuples are spurious.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "recipes/dimabsa/sentences/sentence.h"

namespace lockstep::dimabsa {

// Sums over sentences. The sums of several sets of sentences can be added up.
struct TupleSums {
  std::int64_t gold = 0, predicted = 0, matched = 0;
  double credit = 0;
  // Numbers of distinct keys in each sentence: in gold, in the predictions, and in both. The plain
  // F1 of tuples, without VA, is computed from these.
  std::int64_t gold_keys = 0, predicted_keys = 0, shared_keys = 0;

  // Return credit / predicted, credit / gold, and the harmonic mean of these. Each is 0 if there
  // are no tuples.
  double c_precision() const;
  double c_recall() const;
  double c_f1() const;
  double precision() const;
  double recall() const;
  double f1() const;  // 0 if no key is in both

  TupleSums& operator+=(const TupleSums& other);
};

// Sums over pairs of gold and predicted VA.
struct VaSums {
  std::int64_t count = 0;
  double squared = 0;  // sum of the squared differences of valence and of arousal
  // Sums over gold values (x) and predicted values (y), after subtracting 5 from each.
  struct Products {
    double x = 0, y = 0, xx = 0, yy = 0, xy = 0;
  } valence, arousal;

  void add(const ValenceArousal& gold, const ValenceArousal& predicted);
  // Returns sqrt(squared / count), divided by sqrt(128) if `normalized`. Returns NaN if there are
  // no pairs.
  double rmse(bool normalized = false) const;
  // Returns the RMSE that would result if every prediction were `prediction`. A model that has
  // learned nothing reaches this value.
  double rmse_of_constant(const ValenceArousal& prediction) const;
  // Return Pearson's correlation. The result is NaN if there are fewer than two pairs, or if gold
  // or prediction is constant.
  double pearson_valence() const;
  double pearson_arousal() const;

  VaSums& operator+=(const VaSums& other);
};

// A gold tuple and the predicted tuple that matches it. Both members are indexes of tuples in the
// sentence.
struct Match {
  std::size_t gold = 0, predicted = 0;
  double credit = 0, distance = 0;
};

struct SentenceScore {
  TupleSums tuples;
  VaSums va;  // of the matches
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

// Gold and predicted sentences, with the same ID at the same index. The gold sentences come first,
// in their order. A gold sentence without a prediction gets a prediction without tuples. The
// predicted sentences that are not in gold follow, each with a gold sentence without tuples.
struct Aligned {
  std::vector<Sentence> gold, predicted;
  // IDs without a prediction, and IDs that are not in gold
  std::vector<std::string> missing, unknown;
};
Aligned align(const std::vector<Sentence>& gold, const std::vector<Sentence>& predicted);

// Scores sentences by ID, as the official scorer does. In task 1, throws Error if a gold aspect has
// no prediction.
Scores score(Task task, const std::vector<Sentence>& gold, const std::vector<Sentence>& predicted);

}  // namespace lockstep::dimabsa
