// Lists the usual column names of logs, and reads a column's values by row.
#pragma once

#include <string>
#include <vector>

#include "tools/report/logs/foreign_log.h"

namespace lockstep {

using ColumnNames = std::vector<std::string>;

// These functions return names in the form of plain_column_name(), in the order in which they are
// searched. W&B's _step counts calls of its log().
const ColumnNames& step_columns();
const ColumnNames& epoch_columns();
const ColumnNames& clock_columns();  // columns that hold times of a clock
const ColumnNames& time_columns();   // columns that may also hold the duration of each line

std::string plain_column_name(const std::string& name);  // "Global Step" becomes "global_step"
bool is_any_column(const ColumnNames& names, const std::string& name);
bool is_counter_column(const std::string& name);  // whether it holds steps, epochs or times

// Returns the column of the first of these names that has values, or null if there is none.
const ForeignColumn* column_named(const ForeignTable& table, const ColumnNames& names);

// Returns a value for each row. A row without a value gets the value of the row before it. Rows
// before the first value get the first value. Values whose magnitude is `most` or more are ignored.
// Returns an empty list if `column` is null or has no value.
std::vector<double> values_by_row(const ForeignColumn* column, std::size_t rows, double most);

}  // namespace lockstep
