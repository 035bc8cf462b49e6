// Tables of an evaluation: the errors in each sentence, and scores by group.
#pragma once

#include <string>
#include <vector>

#include "recipes/dimabsa/sentences/scores/breakdown.h"
#include "recipes/dimabsa/sentences/scores/score.h"
#include "runtime/run/predictions/item_table.h"

namespace lockstep::dimabsa {

// A tuple on one line, with only the parts that the task has: "soup · great · FOOD#QUALITY ·
// 7.50#6.25".
std::string describe(Task task, const Tuple& tuple);

// A row per sentence of `aligned`, in order. Columns: id, gold, predicted, matched (counts of
// tuples), credit, missed, spurious (tuples, "; " between them), va_distance (the mean over
// matches, empty if there are none), worst_va_distance, text.
ItemTable error_table(Task task, const Aligned& aligned);
// A row per group. Columns: group, gold, predicted, matched, cf1, cprecision, crecall, f1, rmse_va.
// Task 1: group, aspects, rmse_va, pearson_v, pearson_a.
ItemTable group_table(Task task, const std::vector<GroupScore>& groups);

}  // namespace lockstep::dimabsa
