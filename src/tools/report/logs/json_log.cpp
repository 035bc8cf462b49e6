#include "tools/report/logs/json_log.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/json/json.h"
#include "core/base/text/text.h"
#include "core/base/whole_number.h"
#include "tools/report/logs/file_kinds.h"
#include "tools/report/logs/json_rows.h"
#include "tools/report/trackers/tracked_facts.h"

namespace lockstep {
namespace {

using nlohmann::json;

[[noreturn]] void throw_no_log(const std::filesystem::path& file, const std::string& why) {
  throw Error(cat(printable(file.string()), " is no log: ", why),
              "JSON that is read: a list of objects, or an object a line, as W&B's history; a "
              "table of pandas' to_json; Transformers' trainer_state.json");
}

void add_list(const json& list, JsonRows& rows) {
  for (const json& row : list)
    if (row.is_object()) rows.add(row);
}

// {"loss": {"0": 3.1, "1": 2.9}, …}: columns of values by row name. Row names are mostly numbers.
void add_columns(const json& columns, JsonRows& rows) {
  std::map<std::string, json> by_row;
  for (const auto& [name, values] : columns.items())
    for (const auto& [row, value] : values.items()) by_row[row][name] = value;
  std::vector<std::pair<std::int64_t, const json*>> order;
  for (const auto& [row, members] : by_row)
    order.emplace_back(whole_number(row).value_or(INT64_MAX), &members);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [number, members] : order) rows.add(*members);
}

// {"columns": ["step", "loss"], "data": [[1, 3.1], …]}
void add_split(const json& columns, const json& data, JsonRows& rows) {
  for (const json& cells : data) {
    json row = json::object();
    for (std::size_t i = 0; cells.is_array() && i < std::min(cells.size(), columns.size()); ++i)
      if (columns[i].is_string()) row[columns[i].get_ref<const std::string&>()] = cells[i];
    rows.add(row);
  }
}

bool is_list(const json& object, const char* key) {
  return object.contains(key) && object[key].is_array();
}

// Whether the value is a column with values by row number. Grouped settings look different.
bool is_column(const json& value) {
  if (!value.is_object() || value.empty()) return false;
  for (const auto& [row, cell] : value.items())
    if (!whole_number(row)) return false;
  return true;
}

bool holds_columns(const json& object) {
  return !object.empty() && std::all_of(object.begin(), object.end(), is_column);
}

// Times of parts and FLOPs are not a quality of the model, so they are removed from the rows.
void add_log_history(const json& state, JsonRows& rows, Trial& trial) {
  trial.source = "Transformers log";
  for (json row : state["log_history"]) {
    if (!row.is_object()) continue;
    std::vector<std::string> speeds;
    for (const auto& [name, value] : row.items())
      if (name.ends_with("_runtime") || name.ends_with("_per_second") || name == "total_flos")
        speeds.push_back(name);
    for (const std::string& name : speeds) row.erase(name);
    rows.add(row);
  }
  for (const char* name : {"train_batch_size", "num_train_epochs"})
    if (state.contains(name)) add_parameter(name, state[name], trial);
}

// Adds the rows of a single JSON value, which is not a log in lines. Returns false if its form is
// unknown.
bool add_whole(const json& whole, JsonRows& rows, Trial& trial) {
  if (whole.is_array())
    add_list(whole, rows);
  else if (!whole.is_object())
    return false;
  else if (is_list(whole, "log_history"))
    add_log_history(whole, rows, trial);
  else if (is_list(whole, "columns") && is_list(whole, "data"))
    add_split(whole["columns"], whole["data"], rows);
  else if (holds_columns(whole))
    add_columns(whole, rows);
  else
    return false;
  return true;
}

// Adds the lines of a log. Returns the number of the first line that is not an object, or 0. A last
// line without a newline is ignored, because it may be incomplete.
std::int64_t add_lines(std::string_view text, JsonRows& rows) {
  for (std::int64_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    if (trim(line).empty()) continue;
    const json row = parse_python_json(line);
    if (row.is_object())
      rows.add(row);
    else if (end != text.npos || rows.rows() == 0)
      return number;
  }
  return 0;
}

std::string_view without_mark(std::string_view text) {
  constexpr std::string_view mark = "\xef\xbb\xbf";
  return text.starts_with(mark) ? text.substr(mark.size()) : text;
}

// Whether the text has at least two objects, each on a separate line.
bool is_lines(std::string_view text) {
  const std::size_t end = text.find('\n');
  if (!text.starts_with('{') || end == text.npos) return false;
  if (trim(text.substr(end)).empty()) return false;
  return parse_python_json(text.substr(0, end)).is_object();
}

}  // namespace

bool is_json_log_name(const std::string& name) {
  return name.ends_with(".json") || name.ends_with(".jsonl") || name.ends_with(".ndjson");
}

Trial read_json_log(const std::filesystem::path& file) {
  const std::string bytes = read_file(file, list_bytes);
  const std::string_view text = without_mark(bytes);
  Trial trial{.name = file.stem().string(),
              .path = std::filesystem::absolute(file).lexically_normal().string(),
              .source = "JSON log"};
  const auto other = no_log_as_text(text.substr(0, 4096), file);
  if (other && other->kind != "JSON" && other->kind != "empty")
    throw_no_log(file, cat("it is ", other->kind));
  JsonRows rows(file.string());
  const std::string ending = file.extension().string();
  if (is_lines(text) || ending == ".jsonl" || ending == ".ndjson") {
    if (const std::int64_t line = add_lines(text, rows); line > 0)
      throw_no_log(file, cat("line ", line, " is no JSON object"));
  } else {
    const json whole = parse_python_json(text);
    if (whole.is_discarded()) throw_no_log(file, "it is no JSON");
    if (!add_whole(whole, rows, trial)) throw_no_log(file, "it holds no rows of numbers");
  }
  if (rows.rows() == 0) throw_no_log(file, "it holds no rows of numbers");
  add_foreign_table(std::move(rows).take(), trial);
  return trial;
}

}  // namespace lockstep
