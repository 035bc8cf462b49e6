// Scores of parts of the tuples: each category, and those with and without NULL.
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

// "aspect NULL", "opinion NULL" (in either case the other may be too), "without NULL". In task 1
// without the second.
std::vector<GroupScore> by_null(Task task, const Aligned& aligned);
// Each category that gold or a prediction has, in alphabetical order, as gold writes it. Task 3
// alone; else none.
std::vector<GroupScore> by_category(Task task, const Aligned& aligned);

}  // namespace lockstep::dimabsa
