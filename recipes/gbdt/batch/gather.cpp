// What the jobs of a batch wrote, as one: tables, predictions, ledger lines, maps.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "media/chart.h"
#include "recipes/gbdt/batch/records.h"
#include "recipes/gbdt/batch/tables.h"
#include "recipes/gbdt/options/gbdt_options.h"
#include "recipes/gbdt/train/artefacts.h"

namespace lockstep::gbdt {
namespace {

namespace fs = std::filesystem;

// The rows of all windows, each with its setting where there are several.
std::string all_predictions(const BatchRecords& records) {
  std::string text = "timestamp,symbol,window,label,probability";
  for (const std::string& key : records.keys) text += "," + key;
  text += "\n";
  for (const WindowRecord& window : records.windows) {
    const fs::path file = window.folder / "predictions.csv";
    if (window.status != "success" || !fs::exists(file)) continue;
    std::vector<Cell> cells;
    for (const auto& [key, value] : window.setting) cells.emplace_back(value);
    const std::string more = cells.empty() ? "\n" : "," + csv_line(cells);
    const std::vector<std::string> lines = split(read_file(file), '\n');
    for (std::size_t i = 1; i < lines.size(); ++i)
      if (!lines[i].empty()) text += lines[i] + more;
  }
  return text;
}

// Each window's own line; its files lie where they were published, no longer where it wrote them.
std::string all_ledger_lines(const BatchRecords& records) {
  std::string text;
  for (const WindowRecord& window : records.windows) {
    const fs::path file = window.folder / "teacher_runs.json";
    if (!fs::exists(file)) continue;
    auto line = nlohmann::ordered_json::parse(read_file(file), nullptr, false);
    if (!line.is_object()) continue;
    line["artifacts_path"] = fs::absolute(window.folder).lexically_normal().string();
    text += line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  }
  return text;
}

HeatMap map_of(const BatchRecords& records, const std::string& setting) {
  std::map<std::pair<std::string, std::string>, double> values;
  std::set<std::string> symbols, starts;
  for (const WindowRecord& window : records.windows) {
    if (setting_text(window) != setting) continue;
    symbols.insert(window.symbol);
    starts.insert(window.start);
    if (window.metrics) values[{window.symbol, window.start}] = window.metrics->auc.estimate;
  }
  HeatMap map{.rows = {symbols.begin(), symbols.end()}, .columns = {starts.begin(), starts.end()}};
  for (const std::string& symbol : map.rows)
    for (const std::string& start : map.columns) {
      const auto found = values.find({symbol, start});
      map.values.push_back(found == values.end() ? std::numeric_limits<double>::quiet_NaN()
                                                 : found->second);
    }
  return map;
}

std::string file_name(const std::string& setting) {
  std::string name = setting.empty() ? "heatmap" : "heatmap-" + setting;
  std::replace_if(
      name.begin(), name.end(),
      [](char c) { return std::string_view("/ \t\"'").find(c) != std::string_view::npos; }, '_');
  constexpr std::size_t longest = 200;
  return name.substr(0, longest) + ".svg";
}

std::vector<std::string> write_maps(const fs::path& folder, const BatchRecords& records,
                                    const std::vector<SettingResult>& results) {
  constexpr std::size_t most = 20;
  std::vector<std::string> files;
  for (const SettingResult& one : results) {
    if (files.size() == most) break;
    files.push_back(file_name(one.setting));
    write_text(folder / files.back(),
               heat_chart({.title = cat("AUC by symbol and window", one.setting.empty() ? "" : ", ",
                                        one.setting),
                           .x = {.label = "start of the window"},
                           .width = 900},
                          map_of(records, one.setting)));
  }
  return files;
}

std::string gather(const DirectBatchEnd& end) {
  const BatchRecords records = read_records(end);
  const std::vector<SettingResult> results = setting_results(records);
  const fs::path& folder = end.folder;
  write_text(folder / "windows.csv", to_csv(window_table(records)));
  write_text(folder / "settings.csv", to_csv(setting_table(results)));
  write_text(folder / "predictions.csv", all_predictions(records));
  write_text(folder / "teacher_runs.json", all_ledger_lines(records));
  const std::vector<std::string> maps = write_maps(folder, records, results);
  return cat(batch_text(records, results), "intervals: 95 %, by bootstrap over windows\n",
             expected_text(records), "in ", folder.string(),
             ": windows.csv, settings.csv, predictions.csv, teacher_runs.json, ", join(maps, ", "),
             "\n");
}

[[maybe_unused]] const bool gather_linked = [] {
  trainer.gather = gather;
  return true;
}();

}  // namespace
}  // namespace lockstep::gbdt
