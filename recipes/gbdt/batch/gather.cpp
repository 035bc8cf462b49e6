// Joins the files that the jobs of a batch wrote: tables, predictions, ledger lines and maps.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/json/json.h"
#include "core/base/text/text.h"
#include "core/media/charts/chart.h"
#include "core/media/csv_table.h"
#include "planning/words.h"
#include "recipes/gbdt/batch/cpu_check.h"
#include "recipes/gbdt/batch/predictions.h"
#include "recipes/gbdt/batch/records.h"
#include "recipes/gbdt/batch/tables.h"
#include "recipes/gbdt/options/gbdt_options.h"
#include "recipes/gbdt/train/artefacts.h"
#include "runtime/run/predictions/item_table.h"

namespace lockstep::gbdt {
namespace {

namespace fs = std::filesystem;

std::vector<Predictions> read_predictions(const BatchRecords& records) {
  std::vector<Predictions> all;
  for (const WindowRecord& window : records.windows) {
    const fs::path file = window.folder / "predictions.csv";
    if (window.status != "success" || !fs::exists(file)) continue;
    std::vector<std::string> lines = csv_lines(read_file(file, data_bytes));
    if (lines.empty()) continue;
    const CsvTable header = parse_csv(lines.at(0), file.string());
    lines.erase(lines.begin());
    all.push_back({&window, header.columns, std::move(lines)});
  }
  return all;
}

// Collects the ledger line of each window. Its path becomes the published folder, because the job
// wrote the files elsewhere.
std::string all_ledger_lines(const BatchRecords& records) {
  std::string text;
  for (const WindowRecord& window : records.windows) {
    const fs::path file = window.folder / "teacher_runs.json";
    if (!fs::exists(file)) continue;
    const std::string written = read_file(file);
    if (too_deep(written)) continue;
    auto line = nlohmann::ordered_json::parse(written, nullptr, false);
    if (!line.is_object()) continue;
    if (!window.gpus.empty()) line["gpu"] = window.gpus;
    line["artifacts_path"] = fs::absolute(window.folder).lexically_normal().string();
    text += line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  }
  return text;
}

// The main metric of the objective that a setting trains.
const MetricInfo& main_metric(const BatchRecords& records, const std::string& setting) {
  for (const WindowRecord& window : records.windows)
    if (window.metrics && setting_text(window) == setting)
      return *find_metric(objective_of(window).main_metric);
  return *find_metric("auc");
}

HeatMap map_of(const BatchRecords& records, const std::string& setting, const MetricInfo& metric) {
  std::map<std::pair<std::string, std::string>, double> values;
  std::set<std::string> symbols, starts;
  const auto column_of = [](const WindowRecord& window) {
    return window.start.empty() ? std::string("all rows") : window.start;
  };
  for (const WindowRecord& window : records.windows) {
    if (setting_text(window) != setting) continue;
    symbols.insert(window.symbol);
    starts.insert(column_of(window));
    if (window.metrics)
      values[{window.symbol, column_of(window)}] = window.metrics->value(metric.name).estimate;
  }
  HeatMap map{.rows = {symbols.begin(), symbols.end()},
              .columns = {starts.begin(), starts.end()},
              .low = metric.low,
              .middle = metric.middle,
              .high = metric.high};
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

constexpr std::size_t most_maps = 20;

// Removes charts that an earlier end of the batch wrote, because their settings may be gone.
void remove_old(const fs::path& folder) {
  std::vector<fs::path> old;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name == "confusion.csv" || name.starts_with("feature_importance.") ||
        (name.starts_with("heatmap") && name.ends_with(".svg")))
      old.push_back(entry.path());
  }
  for (const fs::path& file : old) fs::remove(file);
}

std::vector<std::string> write_maps(const fs::path& folder, const BatchRecords& records,
                                    const std::vector<SettingResult>& results) {
  std::vector<std::string> files;
  for (const SettingResult& one : results) {
    if (files.size() == most_maps) break;
    files.push_back(file_name(one.setting));
    const MetricInfo& metric = main_metric(records, one.setting);
    write_text(folder / files.back(),
               heat_chart({.title = cat(metric.title, " by symbol and window",
                                        one.setting.empty() ? "" : ", ", one.setting),
                           .x = {.label = "start of the window"},
                           .width = 900},
                          map_of(records, one.setting, metric)));
  }
  return files;
}

// The mean share of a feature in the gain and in the splits. windows: the number of windows that
// learnt from this feature and whose model has a split.
struct Importance {
  double gain = 0, splits = 0;
  std::int64_t windows = 0;
};
std::vector<std::pair<std::string, Importance>> mean_importances(const BatchRecords& records) {
  std::map<std::string, Importance> sums;
  for (const WindowRecord& window : records.windows) {
    const fs::path file = window.folder / "feature_importance.csv";
    if (window.status != "success" || !fs::exists(file)) continue;
    const CsvTable table = read_csv(file);
    const std::size_t name = table.column("feature"), splits = table.column("importance"),
                      gain = table.column("gain");
    Importance all;
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      all.gain += table.number(row, gain).value_or(0);
      all.splits += table.number(row, splits).value_or(0);
    }
    if (all.splits == 0) continue;
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      Importance& sum = sums[table.rows[row][name]];
      ++sum.windows;
      if (all.gain > 0) sum.gain += table.number(row, gain).value_or(0) / all.gain;
      sum.splits += table.number(row, splits).value_or(0) / all.splits;
    }
  }
  std::vector<std::pair<std::string, Importance>> means(sums.begin(), sums.end());
  for (auto& [name, mean] : means) {
    mean.gain /= static_cast<double>(mean.windows);
    mean.splits /= static_cast<double>(mean.windows);
  }
  std::stable_sort(means.begin(), means.end(),
                   [](const auto& a, const auto& b) { return a.second.gain > b.second.gain; });
  return means;
}

// Returns the names of the written files. None are written if no window has a split.
std::vector<std::string> write_importances(const fs::path& folder, const BatchRecords& records) {
  constexpr std::size_t most_bars = 30;
  constexpr int frame_px = 200, bar_px = 85;  // enough for the names
  const auto means = mean_importances(records);
  if (means.empty()) return {};
  ItemTable table{.columns = {"feature", "gain_share", "split_share", "windows"}, .rows = {}};
  std::vector<std::string> names;
  BarSeries gains{.name = "gain", .values = {}}, splits{.name = "splits", .values = {}};
  for (const auto& [name, mean] : means) {
    table.rows.push_back({name, mean.gain, mean.splits, mean.windows});
    if (names.size() == most_bars) continue;
    names.push_back(name);
    gains.values.push_back(mean.gain);
    splits.values.push_back(mean.splits);
  }
  write_text(folder / "feature_importance.csv", to_csv(table));
  write_text(folder / "feature_importance.svg",
             bar_chart({.title = cat("share of each feature, mean of the windows that have it",
                                     names.size() < means.size() ? ", the first 30" : ""),
                        .y = {.label = "share"},
                        .width = frame_px + bar_px * static_cast<int>(names.size())},
                       names, {gains, splits}));
  return {"feature_importance.csv", "feature_importance.svg"};
}

std::string validated_text(const BatchRecords& records) {
  const std::size_t count = records.only_validated;
  if (count == 0) return "";
  return cat(count, count == 1 ? " window was" : " windows were",
             " only validated, without rows to test on: not in these metrics\n");
}

// Lists windows whose training was ended by another metric than the requested one, grouped by both
// metrics.
std::string other_metric_text(const BatchRecords& records) {
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> windows;
  for (const WindowRecord& window : records.windows) {
    if (window.status != "success") continue;
    const auto& model = window.metadata.at("model");
    if (const std::string asked = model.value("metric_asked", ""); !asked.empty())
      windows[{asked, model.value("metric", "")}].push_back(window.label);
  }
  std::string text;
  for (auto& [metrics, labels] : windows) {
    constexpr std::size_t most_named = 5;
    const std::size_t count = labels.size();
    labels.resize(std::min(count, most_named));
    text += cat(metrics.first, " cannot tell models apart on the validation rows of ",
                count_of(static_cast<std::int64_t>(count), "window"), ": ",
                metrics.second.empty() ? "nothing" : metrics.second, " ended training there (",
                join(labels, ", "), count > most_named ? ", …)\n" : ")\n");
  }
  return text;
}

std::string gather(const DirectBatchEnd& end) {
  const BatchRecords records = read_records(end);
  const std::vector<SettingResult> results = setting_results(records, end.activity);
  const fs::path& folder = end.folder;
  write_text(folder / "windows.csv", to_csv(window_table(records)));
  write_text(folder / "settings.csv", to_csv(setting_table(results)));
  write_text(folder / "predictions.csv", all_predictions(records, read_predictions(records)));
  write_text(folder / "teacher_runs.json", all_ledger_lines(records));
  remove_old(folder);
  std::vector<std::string> more = write_maps(folder, records, results);
  const std::vector<std::string> importances = write_importances(folder, records);
  more.insert(more.begin(), importances.begin(), importances.end());
  if (results.size() > most_maps)
    more.push_back(cat("no map of ", results.size() - most_maps, " more settings"));
  if (const ItemTable confusion = confusion_table(results); !confusion.empty()) {
    write_text(folder / "confusion.csv", to_csv(confusion));
    more.insert(more.begin(), "confusion.csv");
  }
  return cat(batch_text(records, results), made_text(records), validated_text(records),
             other_metric_text(records), same_models_text(records),
             "by rows: a window counts by its rows; comparisons and reports of the batch have the "
             "mean of windows\n"
             "intervals: 95 %, by bootstrap over windows, of one window over its rows\n",
             compare_with_cpu(records), expected_text(records), "in ", folder.string(),
             ": windows.csv, settings.csv, predictions.csv, teacher_runs.json, ", join(more, ", "),
             "\n");
}

[[maybe_unused]] const bool gather_linked = [] {
  trainer.gather = gather;
  return true;
}();

}  // namespace
}  // namespace lockstep::gbdt
