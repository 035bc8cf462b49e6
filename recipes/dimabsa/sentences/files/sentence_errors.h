// Makes tables of an evaluation: the errors in each sentence, and the scores of groups of tuples.
#pragma once

#include <string>
#include <vector>

#include "recipes/dimabsa/sentences/scores/breakdown.h"
#include "recipes/dimabsa/sentences/scores/score.h"
#include "runtime/run/predictions/item_table.h"

namespace lockstep::dimabsa {

// Returns a tuple as one line, with the parts that tuples of the task have. An example is "soup ·
// great · FOOD#QUALITY · 7.50#6.25".
std::string describe(Task task, const Tuple& tuple);

// Returns a table with a row for each sentence of `aligned`, in order. The columns are:
//   id
//   gold, predicted, matched   numbers of tuples
//   credit                     as in scores/score.h
//   missed, spurious           the missed and the spurious tuples, with "; " between them
//   va_distance                mean VA distance of the matches; empty without matches
//   worst_va_distance          largest VA distance of the matches; empty without matches
//   text
ItemTable error_table(Task task, const Aligned& aligned);
// Returns a table with a row for each group. In tasks 2 and 3, the columns are group, gold,
// predicted, matched, cf1, cprecision, crecall, f1 and rmse_va. In task 1, they are group, aspects,
// rmse_va, pearson_v and pearson_a.
ItemTable group_table(Task task, const std::vector<GroupScore>& groups);

}  // namespace lockstep::dimabsa
