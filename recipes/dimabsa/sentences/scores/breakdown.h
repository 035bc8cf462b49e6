// Computes scores for groups of tuples: for each category, and for tuples with and without the
// phrase "NULL" (null_phrase). It stands for an aspect or opinion that the text does not name.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "recipes/dimabsa/sentences/scores/score.h"

namespace lockstep::dimabsa {

struct GroupScore {
  std::string name;
  Scores scores;
};

// Returns the scores of the gold and predicted tuples for which `holds` is true. holds() must
// depend only on the lower-cased aspect, opinion and category. A gold tuple and a predicted tuple
// that match are then in the same group.
Scores score_where(Task task, const Aligned& aligned,
                   const std::function<bool(const Tuple&)>& holds);

// Returns the groups "aspect NULL", "opinion NULL" and "without NULL". A tuple whose aspect and
// opinion are NULL is in the first group and in the second. Task 1 has no group "opinion NULL".
std::vector<GroupScore> by_null(Task task, const Aligned& aligned);
// Returns a group for each category in gold or predictions, in alphabetical order. A group has the
// spelling of the category in gold, or in the predictions if gold lacks it. In tasks 1 and 2, the
// list is empty.
std::vector<GroupScore> by_category(Task task, const Aligned& aligned);

}  // namespace lockstep::dimabsa
