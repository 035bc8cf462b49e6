// Usual column names of logs, and a column's values by row.
#pragma once

#include <string>
#include <vector>

#include "tools/report/logs/foreign_log.h"

namespace lockstep {

using ColumnNames = std::vector<std::string>;

// In the form of plain_column_name, in the order of the search. W&B's _step counts calls of its
// log().
const ColumnNames& step_columns();
const ColumnNames& epoch_columns();
const ColumnNames& clock_columns();  // these hold times of a clock
const ColumnNames& time_columns();   // these may also hold the duration of each line

std::string plain_column_name(const std::string& name);  // "Global Step": "global_step"
bool is_any_column(const ColumnNames& names, const std::string& name);
bool is_counter_column(const std::string& name);  // whether it is a step, an epoch or a time

// The column of the first of these names that has values; null if there is none.
const ForeignColumn* column_named(const ForeignTable& table, const ColumnNames& names);

// Returns a value for each row. A row without a value takes the previous row's. Rows before the
// first value take the first one. Empty if there is no column, or if no value's magnitude is below
// `most`.
std::vector<double> values_by_row(const ForeignColumn* column, std::size_t rows, double most);

}  // namespace lockstep
