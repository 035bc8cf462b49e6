// Summarises runs and lists them.
#include "runtime/run/folder/run_summary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/cells.h"
#include "core/base/text/text.h"
#include "runtime/run/events/json_lines.h"
#include "runtime/run/folder/run_history.h"
#include "runtime/run/progress/progress_text.h"
#include "runtime/run/progress/time_left.h"

namespace lockstep {
namespace {

nlohmann::json record_or_null(const RunDir& run, std::string& problem) {
  try {
    return run.record();
  } catch (const Error& error) {
    problem = error.what();
    return nullptr;
  }
}

// Why a file cannot be read. Empty if it can be read or does not exist.
std::string fault_of_file(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return "";
  try {
    read_file(file);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

// The devices of the newest start if it recorded them, or else of the first start.
nlohmann::json devices_of(const nlohmann::json& record) {
  if (!record.is_object()) return nullptr;
  if (record.contains("starts") && record["starts"].is_array() && !record["starts"].empty()) {
    const nlohmann::json& last = record["starts"].back();
    if (last.is_object() && last.contains("devices") && last["devices"].is_array() &&
        !last["devices"].empty())
      return last["devices"];
  }
  return record.value("devices", nlohmann::json());
}

std::int64_t total_steps_of(const nlohmann::json& record, const nlohmann::json& start) {
  const std::int64_t planned = record.is_object() && record.contains("plan")
                                   ? integer_or(record["plan"], "total_steps", 0)
                                   : 0;
  return integer_or(start, "total_steps", planned);
}

// Replaces values that JSON cannot hold: NaN, and file names that are not UTF-8.
nlohmann::json clean(const nlohmann::json& value) {
  return nlohmann::json::parse(to_line(value), nullptr, false);
}

void take_rates(RunSummary& summary, const RunHistory& history) {
  const bool are_of_start = number_or(history.ended, "units_per_s", 0) > 0;
  const nlohmann::json& event = are_of_start ? history.ended : history.last_step;
  if (are_of_start) summary.rates_from = integer_or(history.start, "step", 0);
  const auto number = [&](const char* key) {
    const double value = number_or(event, key, NAN);
    return std::isnan(value) ? std::nullopt : std::optional(value);
  };
  summary.units_per_s = number("units_per_s");
  summary.mfu = number("mfu");
  summary.unit = text_or(history.start, "unit", "samples");
  if (!summary.mfu) summary.mfu_unknown = text_or(history.start, "mfu_unknown", "");
}

nlohmann::json or_null(const std::optional<double>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json();
}

struct Column {
  const char* head;
  int weight;  // the column with the lowest weight is left out first
  bool right;
  std::string (*text)(const RunSummary&);
};

std::string step_text(const RunSummary& run) {
  return run.total_steps > 0 ? cat(run.step, "/", run.total_steps) : cat(run.step);
}
std::string loss_text(const RunSummary& run) { return run.loss ? format_loss(*run.loss) : "-"; }
std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

void take_result(RunSummary& summary, const nlohmann::json& record) {
  const std::string name = text_or(record, "main_result", "");
  if (name.empty() || !record.contains("results")) return;
  const double value = number_or(record["results"], name.c_str(), NAN);
  if (std::isnan(value)) return;
  summary.result = name;
  summary.result_value = value;
}

std::string result_text(const RunSummary& run) {
  return run.result.empty() ? "-" : cat(run.result, " ", general(run.result_value, 4));
}

const std::array<Column, 9> columns = {{
    {"NAME", 7, false, [](const RunSummary& run) { return run.name; }},
    {"RECIPE", 2, false, [](const RunSummary& run) { return or_dash(run.recipe); }},
    {"STATE", 6, false, [](const RunSummary& run) { return std::string(to_string(run.state)); }},
    {"STEP", 5, true, step_text},
    {"LOSS", 4, true, loss_text},
    {"RESULT", 5, false, result_text},
    {"DEVICES", 1, false, [](const RunSummary& run) { return or_dash(run.devices); }},
    {"TAGS", 0, false, [](const RunSummary& run) { return or_dash(join(run.labels.tags, ",")); }},
    {"AGE", 3, true,
     [](const RunSummary& run) { return run.started > 0 ? format_span(run.age_s) : "-"; }},
}};

using Cells = std::vector<std::string>;  // the heading, then one cell per run

int width_of(const Cells& cells) {
  int width = 0;
  for (const std::string& cell : cells) width = std::max(width, cells_of(cell));
  return width;
}

std::string row_text(const std::vector<const Column*>& shown, const std::vector<Cells>& cells,
                     std::size_t row) {
  std::string line;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const std::string& cell = cells[i][row];
    line += cat(i ? "  " : "",
                (shown[i]->right ? pad_cells_left : pad_cells)(cell, width_of(cells[i])));
  }
  return line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
}

}  // namespace

std::string devices_text(const nlohmann::json& devices) {
  if (!devices.is_array()) return "";
  std::vector<std::pair<std::string, int>> counts;
  for (const nlohmann::json& device : devices) {
    const std::string kind = text_or(device, "kind", "?");
    const std::string name =
        device.is_string() ? device.get<std::string>() : text_or(device, "name", kind);
    const auto known = std::find_if(counts.begin(), counts.end(),
                                    [&](const auto& count) { return count.first == name; });
    if (known == counts.end())
      counts.emplace_back(name, 1);
    else
      ++known->second;
  }
  std::vector<std::string> parts;
  for (const auto& [name, count] : counts) parts.push_back(cat(count, " x ", name));
  return join(parts, ", ");
}

RunSummary summarize(const RunDir& run, Clock& clock) {
  RunSummary summary;
  const nlohmann::json record = record_or_null(run, summary.problem);
  if (summary.problem.empty()) summary.problem = fault_of_file(run.path() / "state.json");
  const RunHistory history = read_history(run.events_path());
  summary.name = run.name();
  summary.path = run.path().string();
  summary.recipe = text_or(record, "recipe", "?");
  summary.state = run.state();
  summary.why = run.state_reason();
  summary.step = history.step;
  summary.total_steps = total_steps_of(record, history.start);
  if (history.last_step.is_object() && history.last_step.contains("loss"))
    summary.loss = number_or(history.last_step, "loss", NAN);
  take_rates(summary, history);
  if (const nlohmann::json best = history.best(); best.is_object()) {
    summary.best_step = integer_or(best, "step", 0);
    if (best.contains("metrics")) summary.best = best["metrics"];
  }
  take_result(summary, record);
  summary.devices = devices_text(devices_of(record));
  summary.labels = read_labels(run.path(), record);
  summary.started = number_or(record, "started", 0);
  if (summary.started > 0) summary.age_s = std::max(0.0, clock.wall_s() - summary.started);
  return summary;
}

nlohmann::json summary_json(const RunSummary& summary) {
  return clean({{"name", summary.name},
                {"path", summary.path},
                {"recipe", summary.recipe},
                {"state", to_string(summary.state)},
                {"why", summary.why},
                {"step", summary.step},
                {"total_steps", summary.total_steps},
                {"loss", or_null(summary.loss)},
                {"unit", summary.unit},
                {"units_per_s", or_null(summary.units_per_s)},
                {"mfu", or_null(summary.mfu)},
                {"mfu_unknown", summary.mfu_unknown},
                {"best_step", summary.best_step},
                {"best", summary.best},
                {"result", summary.result},
                {"result_value",
                 summary.result.empty() ? nlohmann::json() : nlohmann::json(summary.result_value)},
                {"devices", summary.devices},
                {"tags", summary.labels.tags},
                {"note", summary.labels.note},
                {"started", summary.started},
                {"age_s", summary.age_s}});
}

std::string runs_table(const std::vector<RunSummary>& runs, int width) {
  if (runs.empty()) return "";
  std::vector<const Column*> shown;
  std::vector<Cells> cells;
  int needed = -2;
  const bool tagged = std::any_of(runs.begin(), runs.end(),
                                  [](const RunSummary& run) { return !run.labels.tags.empty(); });
  const bool with_results = std::any_of(runs.begin(), runs.end(),
                                        [](const RunSummary& run) { return !run.result.empty(); });
  for (const Column& column : columns) {
    if (!tagged && std::string_view(column.head) == "TAGS") continue;
    if (!with_results && std::string_view(column.head) == "RESULT") continue;
    Cells texts = {column.head};
    for (const RunSummary& run : runs) texts.push_back(printable(column.text(run)));
    needed += width_of(texts) + 2;
    shown.push_back(&column);
    cells.push_back(std::move(texts));
  }
  while (width > 0 && needed > width && shown.size() > 1) {
    const auto least = std::min_element(shown.begin(), shown.end(),
                                        [](auto* a, auto* b) { return a->weight < b->weight; });
    const auto index = least - shown.begin();
    needed -= width_of(cells[static_cast<std::size_t>(index)]) + 2;
    shown.erase(least);
    cells.erase(cells.begin() + index);
  }
  std::string text;
  for (std::size_t row = 0; row <= runs.size(); ++row) text += row_text(shown, cells, row);
  return text;
}

}  // namespace lockstep
