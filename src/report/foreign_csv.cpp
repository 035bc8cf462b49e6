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
  const std::string text = read_file(file, list_bytes);
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
  const auto number = [&](std::size_t row, const std::optional<std::size_t>& column) {
    return column ? to_number(table.rows[row][*column]).value_or(NAN) : NAN;
  };
  double first_time = NAN;
  for (std::size_t row = 0; row < table.rows.size(); ++row)
    first_time = std::fmin(first_time, number(row, time));
  std::vector<ForeignSeries> all;
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    if (column == step || column == epoch || column == time) continue;
    ForeignSeries series{.name = table.columns[column], .points = {}};
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      const std::optional<double> value = to_number(table.rows[row][column]);
      if (!value) continue;
      const double count = number(row, counter);
      const bool counted = count >= 0 && count < 9e15;
      const auto place = static_cast<std::int64_t>(counted ? count : static_cast<double>(row + 1));
      // What went on from an earlier step took back what was after it. An epoch may have many
      // lines.
      const bool goes_on = !step && row > 0 && count == number(row - 1, counter);
      while (counted && !series.points.empty() && series.points.back().step >= place &&
             !(goes_on && series.points.back().step == place))
        series.points.pop_back();
      series.points.push_back({place, number(row, time) - first_time, *value});
    }
    if (!series.points.empty()) all.push_back(std::move(series));
  }
  if (all.empty())
    throw Error(cat(file.string(), " has no column of numbers beside its steps and times"),
                "a log needs a line of names, and a line for each step or epoch");
  add_foreign_log(all, step ? "steps" : epoch ? "epochs" : "", trial);
  return trial;
}

}  // namespace lockstep
