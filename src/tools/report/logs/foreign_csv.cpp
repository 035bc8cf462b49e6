#include "tools/report/logs/foreign_csv.h"

#include <cmath>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "tools/report/logs/csv_numbers.h"
#include "tools/report/logs/foreign_log.h"
#include "tools/report/logs/own_exports.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

constexpr const char* own_steps = "steps.csv";
constexpr const char* own_evaluations = "evaluations.csv";
constexpr const char* own_starts = "starts.csv";

CsvNumbers read_numbers(const fs::path& file) {
  return read_csv_numbers(read_file(file, list_bytes), printable(file.string()));
}

std::vector<std::string> table_names(const ForeignTable& table) {
  std::vector<std::string> names;
  for (const ForeignColumn& column : table.columns) names.push_back(column.name);
  return names;
}

// Reports columns that have texts instead of numbers. Columns of times are always reported. Other
// columns are reported only if no usable column exists.
void tell_refused(CsvNumbers& numbers, Trial& trial) {
  for (const std::string& why : numbers.notes) trial.cautions.push_back(why);
  for (const std::string& why : numbers.refused)
    if (why.ends_with("time that can be read")) trial.cautions.push_back(why);
  if (!numbers.refused.empty()) numbers.table.refused = numbers.refused.front();
}

// Reads the evaluations of an export, a second table in the same folder.
std::optional<ForeignTable> evaluations_beside(const fs::path& file) {
  std::error_code ignored;
  const fs::path other = file.parent_path() / own_evaluations;
  if (file.filename() != own_steps || !fs::is_regular_file(other, ignored)) return std::nullopt;
  CsvNumbers numbers = read_numbers(other);
  if (!is_own_evaluations(table_names(numbers.table))) return std::nullopt;
  return std::move(numbers.table);
}

// The starts in the table that an export writes. Nothing for other tables.
std::optional<std::vector<StartMark>> starts_of(const ForeignTable& table) {
  if (table_names(table) != std::vector<std::string>{"step", "time", "last_step", "last_time"} ||
      table.rows > most_start_marks)
    return std::nullopt;
  std::vector<StartMark> starts;
  for (std::uint32_t row = 0; row < table.rows; ++row) {
    const auto cell = [&](std::size_t column) {
      const ForeignColumn& cells = table.columns[column];
      return cells.rows.size() == table.rows ? cells.values[row] : NAN;
    };
    if (!(std::abs(cell(0)) < 9e15) || !(std::abs(cell(2)) < 9e15) || std::isnan(cell(1)))
      return std::nullopt;
    starts.push_back(
        {static_cast<std::int64_t>(cell(0)), cell(1), static_cast<std::int64_t>(cell(2)), cell(3)});
  }
  return starts;
}

// The starts of the run, from a file in the same folder. Empty if an older version exported the
// run.
std::vector<StartMark> starts_beside(const fs::path& file, Trial& trial) {
  constexpr std::uintmax_t most_bytes = 100 * most_start_marks;
  std::error_code ignored;
  const fs::path other = file.parent_path() / own_starts;
  if (file.filename() != own_steps || !fs::is_regular_file(other, ignored)) return {};
  std::optional<std::vector<StartMark>> starts;
  if (fs::file_size(other, ignored) <= most_bytes) starts = starts_of(read_numbers(other).table);
  if (!starts)
    trial.cautions.push_back(cat(own_starts,
                                 " beside it is none that an export writes, with at most ",
                                 most_start_marks, " starts: it is left out"));
  return std::move(starts).value_or(std::vector<StartMark>());
}

}  // namespace

bool has_own_tables(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_regular_file(folder / own_steps, ignored) &&
         fs::is_regular_file(folder / own_evaluations, ignored);
}

Trial read_csv_trial(const fs::path& path) {
  std::error_code ignored;
  const fs::path file = fs::is_directory(path, ignored) ? path / own_steps : path;
  Trial trial{.name = file.stem().string(),
              .path = fs::absolute(file).lexically_normal().string(),
              .source = "CSV log"};
  CsvNumbers numbers = read_numbers(file);
  if (numbers.table.rows == 0)
    throw Error(cat(numbers.table.name, " has a line of names alone: looked for a CSV log"),
                "below it stands a line of numbers for each step or epoch");
  tell_refused(numbers, trial);
  const bool own = is_own_steps(table_names(numbers.table));
  ForeignLog log = log_of_table(std::move(numbers.table), trial);
  std::optional<ForeignTable> evaluations = own ? evaluations_beside(file) : std::nullopt;
  if (evaluations && evaluations->rows > 0)
    for (ForeignSeries& series : log_of_table(std::move(*evaluations), trial).series)
      log.series.push_back(std::move(series));
  if (own) log.own_starts = starts_beside(file, trial);
  add_foreign_log(std::move(log), trial);
  if (own && !evaluations) {
    std::erase_if(trial.quantities, [](const Quantity& one) { return one.name == "train_s"; });
    trial.cautions.push_back(
        "evaluations.csv does not lie beside it: evaluations and their time are not known");
  }
  return trial;
}

}  // namespace lockstep
