// Scores for parts of the tuples: for each category, and for tuples with and without NULL.
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

// Scores of the tuples, gold and predicted, for which `holds` is true. `holds` must depend on the
// lower-cased aspect, opinion and category alone, so that matched tuples stay matched.
Scores score_where(Task task, const Aligned& aligned,
                   const std::function<bool(const Tuple&)>& holds);

// The groups "aspect NULL" and "opinion NULL" (in either, the other part may be NULL too), and
// "without NULL". Task 1 lacks the second group.
std::vector<GroupScore> by_null(Task task, const Aligned& aligned);
// A group for each category in gold or predictions, in alphabetical order and gold's spelling.
// Empty except in task 3.
std::vector<GroupScore> by_category(Task task, const Aligned& aligned);

}  // namespace lockstep::dimabsa
