#include "tools/report/columns/table_columns.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lockstep {

const ColumnNames& step_columns() {
  static const ColumnNames names{"step",
                                 "global_step",
                                 "trainer/global_step",
                                 "train/global_step",
                                 "steps",
                                 "iteration",
                                 "iterations",
                                 "iter",
                                 "iter_num",
                                 "it",
                                 "batch",
                                 "_step"};
  return names;
}
const ColumnNames& epoch_columns() {
  static const ColumnNames names{"epoch", "epochs", "train/epoch", "trainer/epoch"};
  return names;
}

const ColumnNames& clock_columns() {
  static const ColumnNames names{"wall_time",
                                 "timestamp",
                                 "_timestamp",
                                 "_runtime",
                                 "elapsed",
                                 "elapsed_s",
                                 "elapsed_time",
                                 "time_elapsed",
                                 "time_total_s",
                                 "datetime",
                                 "date",
                                 "date_time",
                                 "created_at",
                                 "relative_time_(process)",
                                 "relative_time_(wall)"};
  return names;
}
const ColumnNames& time_columns() {
  static const ColumnNames names{"time", "seconds", "time_s"};
  return names;
}

std::string plain_column_name(const std::string& name) {
  std::string plain;
  for (const char letter : name)
    plain += letter >= 'A' && letter <= 'Z'   ? static_cast<char>(letter - 'A' + 'a')
             : letter == ' ' || letter == '-' ? '_'
                                              : letter;
  return plain;
}

bool is_any_column(const ColumnNames& names, const std::string& name) {
  return std::find(names.begin(), names.end(), plain_column_name(name)) != names.end();
}

bool is_counter_column(const std::string& name) {
  return is_any_column(step_columns(), name) || is_any_column(epoch_columns(), name) ||
         is_any_column(clock_columns(), name) || is_any_column(time_columns(), name);
}

const ForeignColumn* column_named(const ForeignTable& table, const ColumnNames& names) {
  for (const std::string& name : names)
    for (const ForeignColumn& column : table.columns)
      if (!column.rows.empty() && plain_column_name(column.name) == name) return &column;
  return nullptr;
}

std::vector<double> values_by_row(const ForeignColumn* column, std::size_t rows, double most) {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> values(column == nullptr ? 0 : rows, unknown);
  if (column == nullptr) return values;
  double last = unknown;
  for (std::size_t i = 0, row = 0; row < rows; ++row) {
    if (i < column->rows.size() && column->rows[i] == row) {
      if (const double value = column->values[i]; std::abs(value) < most) last = value;
      ++i;
    }
    values[row] = last;
  }
  const auto first =
      std::find_if(values.begin(), values.end(), [](double one) { return !std::isnan(one); });
  if (first == values.end()) return {};
  std::fill(values.begin(), first, *first);
  return values;
}

}  // namespace lockstep
