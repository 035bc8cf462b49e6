// Computes scores for groups of tuples: for each category, and for tuples with and without NULL.
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
// depend only on the lower-cased aspect, opinion and category. Then, two tuples that match are in
// the same group.
Scores score_where(Task task, const Aligned& aligned,
                   const std::function<bool(const Tuple&)>& holds);

// Returns the groups "aspect NULL", "opinion NULL" and "without NULL". A tuple with two NULL
// phrases is in both of the first two groups. There is no group "opinion NULL" in task 1.
std::vector<GroupScore> by_null(Task task, const Aligned& aligned);
// Returns a group for each category in gold or predictions, in alphabetical order. Names have the
// spelling of gold, if gold has the category. The list is empty except in task 3.
std::vector<GroupScore> by_category(Task task, const Aligned& aligned);

}  // namespace lockstep::dimabsa
