#include "report/foreign_csv.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "media/csv_table.h"
#include "report/foreign_log.h"

namespace lockstep {
namespace {

std::string plain_name(const std::string& name) {
  std::string plain;
  for (const char letter : name)
    plain += letter >= 'A' && letter <= 'Z'   ? static_cast<char>(letter - 'A' + 'a')
             : letter == ' ' || letter == '-' ? '_'
                                              : letter;
  return plain;
}

std::optional<std::size_t> column_named(const CsvTable& table,
                                        const std::vector<std::string>& names) {
  for (const std::string& name : names)
    for (std::size_t i = 0; i < table.columns.size(); ++i)
      if (plain_name(table.columns[i]) == name) return i;
  return std::nullopt;
}

CsvTable read_log(const std::filesystem::path& file) {
  const std::string text = read_file(file);
  const std::size_t end = text.rfind('\n');
  if (end == text.npos) return parse_csv(text, file.string());
  try {
    return parse_csv(text, file.string());
  } catch (const Error&) {  // a last line that is still being written
    return parse_csv(std::string_view(text).substr(0, end + 1), file.string());
  }
}

}  // namespace

Trial read_csv_trial(const std::filesystem::path& file) {
  const CsvTable table = read_log(file);
  const auto step =
                 column_named(table, {"step", "global_step", "steps", "iteration", "iter", "it"}),
             epoch = column_named(table, {"epoch", "epochs"}),
             time = column_named(table, {"time", "wall_time", "timestamp", "seconds", "elapsed",
                                         "elapsed_s", "time_s", "time_elapsed"});
  Trial trial{.name = file.stem().string(),
              .path = std::filesystem::absolute(file).lexically_normal().string(),
              .source = "CSV log"};
  const std::optional<std::size_t> counter = step ? step : epoch;
  double first_time = NAN;
  std::vector<ForeignSeries> all;
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    if (column == step || column == epoch || column == time) continue;
    ForeignSeries series{.name = table.columns[column], .points = {}};
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      const std::optional<double> value = to_number(table.rows[row][column]);
      if (!value) continue;
      const double at = time ? to_number(table.rows[row][*time]).value_or(NAN) : NAN;
      if (std::isnan(first_time)) first_time = at;
      const double count = counter ? to_number(table.rows[row][*counter]).value_or(NAN) : NAN;
      const bool counted = count >= 0 && count < 9e15;
      series.points.push_back(
          {counted ? static_cast<std::int64_t>(count) : static_cast<std::int64_t>(row + 1),
           at - first_time, *value});
    }
    if (!series.points.empty()) all.push_back(std::move(series));
  }
  if (all.empty())
    throw Error(cat(file.string(), " has no column of numbers beside its steps and times"),
                "a log needs a line of names, and a line for each step or epoch");
  add_foreign_log(all, step || !epoch ? "steps" : "epochs", trial);
  return trial;
}

}  // namespace lockstep
