// Exports a run's log as tables of its steps and evaluations.
#include <cmath>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/base/text/text.h"
#include "runtime/run/events/json_lines.h"
#include "runtime/run/predictions/item_table.h"
#include "tools/report/exports/event_limits.h"
#include "tools/report/exports/export_file.h"
#include "tools/report/exports/line_numbers.h"
#include "tools/report/exports/run_exports.h"
#include "tools/report/exports/start_marks.h"

namespace lockstep {
namespace {

constexpr std::size_t most_csv_columns = 2000;

using NamedNumbers = std::vector<std::pair<std::string, double>>;

// The numbers of a line under names such as "loss", "logged.accuracy", "terms.0", "memory.0.peak".
NamedNumbers flat_numbers(const std::string& line) {
  NamedNumbers numbers;
  visit_numbers(line, [&](const LineNumber& one) {
    std::string name(one.key);
    if (one.place >= 0) name += cat(".", one.place);
    if (!one.inner.empty()) name += cat(".", one.inner);
    numbers.emplace_back(std::move(name), one.value);
  });
  return numbers;
}

// Columns in the order in which they appear. The given ones come first.
class CsvColumns {
 public:
  explicit CsvColumns(const std::vector<std::string>& first) {
    for (const std::string& name : first) place(name);
  }
  // The index of a column, or one past the last if there are too many columns.
  std::size_t place(const std::string& name) {
    const auto found = places_.find(name);
    if (found != places_.end()) return found->second;
    if (names_.size() >= most_csv_columns) {
      left_out_.insert(name);
      return names_.size();
    }
    places_.emplace(name, names_.size());
    names_.push_back(name);
    return names_.size() - 1;
  }
  const std::vector<std::string>& names() const { return names_; }
  std::size_t left_out() const { return left_out_.size(); }
  std::string head() const { return csv_line(std::vector<Cell>(names_.begin(), names_.end())); }
  std::string row(const NamedNumbers& numbers) const {
    std::vector<Cell> cells(names_.size());
    for (const auto& [name, value] : numbers)
      if (const auto found = places_.find(name); found != places_.end() && std::isfinite(value)) {
        const std::size_t at = found->second;
        if (value == std::floor(value) && std::fabs(value) <= 0x1p53)
          cells[at] = static_cast<std::int64_t>(value);
        else
          cells[at] = value;
      }
    return csv_line(cells);
  }

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::size_t> places_;
  std::unordered_set<std::string> left_out_;
};

// The numbers of an evaluation, with the plain names of its metrics.
NamedNumbers numbers_of_evaluation(const nlohmann::json& event) {
  NamedNumbers numbers;
  for (const char* key : {"step", "time", "seconds", "best"}) {
    const auto found = event.find(key);
    if (found == event.end()) continue;
    if (found->is_boolean()) numbers.emplace_back(key, found->get<bool>() ? 1 : 0);
    if (found->is_number()) numbers.emplace_back(key, found->get<double>());
  }
  if (const auto metrics = event.find("metrics"); metrics != event.end() && metrics->is_object())
    for (const auto& [name, value] : metrics->items())
      if (value.is_number()) numbers.emplace_back("metrics." + name, value.get<double>());
  return numbers;
}

double number_named(const NamedNumbers& numbers, std::string_view name) {
  for (const auto& [one, value] : numbers)
    if (one == name) return value;
  return NAN;
}

// Calls `visit` for the numbers of each step and evaluation that counts.
void for_each_row(const RunDir& run, const EventLimits& limits, StartMarks& starts,
                  const std::function<void(bool is_step, const NamedNumbers& numbers)>& visit) {
  for_each_effective_line(run.events_path(), limits, [&](const std::string& line) {
    if (is_step_line(line)) {
      const NamedNumbers numbers = flat_numbers(line);
      starts.step(number_named(numbers, "step"), number_named(numbers, "time"));
      visit(true, numbers);
      return;
    }
    const nlohmann::json event = parse_object(line);
    starts.event(event);
    const std::string kind = text_or(event, "kind", "");
    if (kind == "step") visit(true, flat_numbers(line));
    if (kind == "eval") visit(false, numbers_of_evaluation(event));
  });
}

void write_starts(const std::filesystem::path& path, const std::vector<StartMark>& starts) {
  ExportFile file(path);
  file.write(csv_line({"step", "time", "last_step", "last_time"}));
  for (const StartMark& start : starts)
    file.write(csv_line({start.step, start.time, start.last_step, start.last_time}));
  file.finish();
}

}  // namespace

WrittenExport export_csv(const RunDir& run, const std::filesystem::path& folder) {
  CsvColumns steps({"step", "epoch", "time", "loss", "lr"});
  CsvColumns evaluations({"step", "time", "seconds", "best"});
  const EventLimits limits(run.events_path());
  StartMarks ignored, starts;
  for_each_row(run, limits, ignored, [&](bool is_step, const NamedNumbers& numbers) {
    for (const auto& [name, value] : numbers) (is_step ? steps : evaluations).place(name);
  });
  ExportFile step_file(folder / "steps.csv"), evaluation_file(folder / "evaluations.csv");
  step_file.write(steps.head());
  evaluation_file.write(evaluations.head());
  WrittenExport written{.what = "steps.csv, evaluations.csv and starts.csv",
                        .left_out = steps.left_out() + evaluations.left_out()};
  for_each_row(run, limits, starts, [&](bool is_step, const NamedNumbers& numbers) {
    ++(is_step ? written.steps : written.evaluations);
    if (is_step)
      step_file.write(steps.row(numbers));
    else
      evaluation_file.write(evaluations.row(numbers));
  });
  step_file.finish();
  evaluation_file.finish();
  write_starts(folder / "starts.csv", starts.all());
  return written;
}

}  // namespace lockstep
