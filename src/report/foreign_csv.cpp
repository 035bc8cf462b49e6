#include "report/foreign_csv.h"

#include <optional>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "report/csv_numbers.h"
#include "report/foreign_log.h"
#include "report/own_exports.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

constexpr const char* own_steps = "steps.csv";
constexpr const char* own_evaluations = "evaluations.csv";

CsvNumbers read_numbers(const fs::path& file) {
  return read_csv_numbers(read_file(file, list_bytes), printable(file.string()));
}

std::vector<std::string> table_names(const ForeignTable& table) {
  std::vector<std::string> names;
  for (const ForeignColumn& column : table.columns) names.push_back(column.name);
  return names;
}

// What columns hold in place of numbers: of times it matters always, of others where nothing else
// is there.
void tell_refused(CsvNumbers& numbers, Trial& trial) {
  for (const std::string& why : numbers.notes) trial.cautions.push_back(why);
  for (const std::string& why : numbers.refused)
    if (why.ends_with("time that can be read")) trial.cautions.push_back(why);
  if (!numbers.refused.empty()) numbers.table.refused = numbers.refused.front();
}

// The other half of an export, which lies beside it.
std::optional<ForeignTable> evaluations_beside(const fs::path& file) {
  std::error_code ignored;
  const fs::path other = file.parent_path() / own_evaluations;
  if (file.filename() != own_steps || !fs::is_regular_file(other, ignored)) return std::nullopt;
  CsvNumbers numbers = read_numbers(other);
  if (!is_own_evaluations(table_names(numbers.table))) return std::nullopt;
  return std::move(numbers.table);
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
  add_foreign_log(std::move(log), trial);
  if (own && !evaluations) {
    std::erase_if(trial.quantities, [](const Quantity& one) { return one.name == "train_s"; });
    trial.cautions.push_back(
        "evaluations.csv does not lie beside it: evaluations and their time are not known");
  }
  return trial;
}

}  // namespace lockstep
