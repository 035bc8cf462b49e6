// What columns of a log are called, and their values by row.
#pragma once

#include <string>
#include <vector>

#include "report/foreign_log.h"

namespace lockstep {

using ColumnNames = std::vector<std::string>;

// As plain_column_name gives them, in the order in which they are looked for. W&B's _step counts
// calls of its log().
const ColumnNames& step_columns();
const ColumnNames& epoch_columns();
const ColumnNames& clock_columns();  // these hold times of a clock
const ColumnNames& time_columns();   // these may hold how long each line took, too

std::string plain_column_name(const std::string& name);  // "Global Step": "global_step"
bool is_any_column(const ColumnNames& names, const std::string& name);
bool is_counter_column(const std::string& name);  // a step, an epoch or a time

// The first of the names that a column with values has; null: there is none.
const ForeignColumn* column_named(const ForeignTable& table, const ColumnNames& names);

// A value for each row: what a row leaves out is that of the row before, and before the first one
// that one. Empty: there is no column, or no value whose magnitude is below `most`.
std::vector<double> values_by_row(const ForeignColumn* column, std::size_t rows, double most);

}  // namespace lockstep
