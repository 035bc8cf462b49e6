#include "recipes/gbdt/batch/tables.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/cells.h"
#include "base/text.h"

namespace lockstep::gbdt {
namespace {

using nlohmann::json;
using Lines = std::vector<std::vector<std::string>>;

Cell cell(const json& object, const json::json_pointer& where) {
  if (!object.contains(where) || !object.at(where).is_number()) return {};
  const json& value = object.at(where);
  if (value.is_number_integer()) return value.get<std::int64_t>();
  return value.get<double>();
}

Cell cell(double value) {
  if (std::isnan(value)) return {};
  return value;
}

struct Metric {
  const char* name;
  Interval BinaryMetrics::*field;
  bool has_interval;
};
constexpr Metric metric_columns[] = {{"base_rate", &BinaryMetrics::base_rate, false},
                                     {"auc", &BinaryMetrics::auc, true},
                                     {"log_loss", &BinaryMetrics::log_loss, true},
                                     {"accuracy", &BinaryMetrics::accuracy, true},
                                     {"precision", &BinaryMetrics::precision, false},
                                     {"recall", &BinaryMetrics::recall, false},
                                     {"f1", &BinaryMetrics::f1, true}};

void add_metric_names(std::vector<std::string>& columns) {
  for (const Metric& metric : metric_columns) {
    columns.emplace_back(metric.name);
    if (!metric.has_interval) continue;
    columns.push_back(cat(metric.name, "_low"));
    columns.push_back(cat(metric.name, "_high"));
  }
}

void add_metrics(std::vector<Cell>& row, const BinaryMetrics* metrics) {
  for (const Metric& metric : metric_columns) {
    const Interval value = metrics == nullptr ? Interval{NAN, NAN, NAN} : metrics->*metric.field;
    row.push_back(cell(value.estimate));
    if (!metric.has_interval) continue;
    row.push_back(cell(value.low));
    row.push_back(cell(value.high));
  }
}

double seconds_of(const WindowRecord& window, const char* phase) {
  return window.metadata.value("phases", json::object()).value(phase, 0.0);
}

std::string number(double value) { return std::isnan(value) ? "-" : fixed(value, 3); }

std::string with_interval(const Interval& value) {
  if (std::isnan(value.low)) return number(value.estimate);
  return cat(number(value.estimate), " (", number(value.low), " to ", number(value.high), ")");
}

// Columns below each other; the first one to the left.
std::string aligned(const Lines& lines) {
  std::vector<int> widths;
  for (const auto& line : lines)
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (widths.size() <= i) widths.push_back(0);
      widths[i] = std::max(widths[i], cells_of(line[i]));
    }
  std::string text;
  for (const auto& line : lines) {
    std::string row = pad_cells(line[0], widths[0]);
    for (std::size_t i = 1; i < line.size(); ++i) row += "  " + pad_cells_left(line[i], widths[i]);
    text += row + "\n";
  }
  return text;
}

std::string name_of(const WindowRecord& window) {
  const std::string setting = setting_text(window);
  return cat(window.label, setting.empty() ? "" : " ", setting);
}

std::string window_lines(const BatchRecords& records) {
  Lines lines = {{"window", "rows", "trees", "tested", "base rate", "AUC", "accuracy", "log-loss"}};
  for (const WindowRecord& window : records.windows) {
    if (!window.metrics) continue;
    const BinaryMetrics& m = *window.metrics;
    lines.push_back({name_of(window), cat(window.metadata["sample_counts"].value("train", 0)),
                     cat(window.metadata["model"].value("trees", 0)), cat(m.counts.rows()),
                     number(m.base_rate.estimate), number(m.auc.estimate),
                     number(m.accuracy.estimate), number(m.log_loss.estimate)});
  }
  return aligned(lines);
}

std::string symbol_lines(const BatchRecords& records) {
  std::map<std::string, std::vector<BinaryMetrics>> by_symbol;
  std::map<std::string, std::size_t> all;
  for (const WindowRecord& window : records.windows) {
    ++all[window.symbol];
    if (window.metrics) by_symbol[window.symbol].push_back(*window.metrics);
  }
  Lines lines = {{"symbol", "windows", "done", "base rate", "AUC", "accuracy"}};
  for (const auto& [symbol, count] : all) {
    const BinaryMetrics m = over_windows(by_symbol[symbol]);
    lines.push_back({symbol, cat(count), cat(by_symbol[symbol].size()),
                     number(m.base_rate.estimate), with_interval(m.auc),
                     with_interval(m.accuracy)});
  }
  return aligned(lines);
}

std::string setting_lines(const std::vector<SettingResult>& results) {
  Lines lines = {{results.size() > 1 ? "setting" : "all", "done", "skipped", "failed", "AUC",
                  "log-loss", "accuracy", "base rate", "s per window"}};
  for (const SettingResult& one : results)
    lines.push_back(
        {one.setting.empty() ? "windows" : one.setting, cat(one.success), cat(one.skipped),
         cat(one.failed), with_interval(one.metrics.auc), with_interval(one.metrics.log_loss),
         with_interval(one.metrics.accuracy), number(one.metrics.base_rate.estimate),
         one.success == 0 ? "-" : fixed(one.seconds / static_cast<double>(one.success), 4)});
  return aligned(lines);
}

}  // namespace

ItemTable window_table(const BatchRecords& records) {
  ItemTable table;
  table.columns = {"symbol", "start", "end"};
  table.columns.insert(table.columns.end(), records.keys.begin(), records.keys.end());
  for (const char* name :
       {"status", "train_rows", "valid_rows", "test_rows", "trees", "most_leaves"})
    table.columns.emplace_back(name);
  add_metric_names(table.columns);
  for (const char* name :
       {"features_s", "training_s", "prediction_s", "evaluation_s", "seconds", "why"})
    table.columns.emplace_back(name);
  for (const WindowRecord& window : records.windows) {
    const json& data = window.metadata;
    std::vector<Cell> row = {window.symbol, window.start, window.end};
    for (const std::string& key : records.keys) {
      const auto found = window.setting.find(key);
      row.emplace_back(found == window.setting.end() ? Cell{} : Cell{found->second});
    }
    row.emplace_back(window.status);
    for (const char* where : {"/sample_counts/train", "/sample_counts/valid", "/sample_counts/test",
                              "/model/trees", "/model/most_leaves"})
      row.push_back(cell(data, json::json_pointer(where)));
    add_metrics(row, window.metrics ? &*window.metrics : nullptr);
    for (const char* where : {"/phases/features", "/phases/training", "/phases/prediction",
                              "/phases/evaluation", "/seconds"})
      row.push_back(cell(data, json::json_pointer(where)));
    row.emplace_back(window.why);
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::vector<SettingResult> setting_results(const BatchRecords& records) {
  std::map<std::string, SettingResult> results;
  std::map<std::string, std::vector<BinaryMetrics>> metrics;
  for (const WindowRecord& window : records.windows) {
    const std::string setting = setting_text(window);
    SettingResult& result = results[setting];
    result.setting = setting;
    if (window.status == "skipped") ++result.skipped;
    if (window.status == "failed") ++result.failed;
    if (!window.metrics) continue;
    ++result.success;
    metrics[setting].push_back(*window.metrics);
    result.seconds += window.metadata.value("seconds", 0.0);
    result.features_s += seconds_of(window, "features");
    result.training_s += seconds_of(window, "training");
  }
  std::vector<SettingResult> all;
  for (auto& [setting, result] : results) {
    result.metrics = over_windows(metrics[setting]);
    all.push_back(std::move(result));
  }
  return all;
}

ItemTable setting_table(const std::vector<SettingResult>& results) {
  ItemTable table{.columns = {"setting", "success", "skipped", "failed"}};
  add_metric_names(table.columns);
  for (const char* name : {"seconds", "features_s", "training_s"}) table.columns.emplace_back(name);
  for (const SettingResult& one : results) {
    std::vector<Cell> row = {one.setting, static_cast<std::int64_t>(one.success),
                             static_cast<std::int64_t>(one.skipped),
                             static_cast<std::int64_t>(one.failed)};
    add_metrics(row, &one.metrics);
    for (const double seconds : {one.seconds, one.features_s, one.training_s})
      row.push_back(cell(seconds));
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string batch_text(const BatchRecords& records, const std::vector<SettingResult>& results,
                       std::size_t most_windows) {
  const bool each = records.windows.size() <= most_windows;
  return cat(each ? window_lines(records) : symbol_lines(records), "\n", setting_lines(results));
}

std::string expected_text(const BatchRecords& records, std::size_t most_named) {
  struct Count {
    std::size_t all = 0, success = 0;
  };
  std::map<std::string, Count> symbols;
  std::string missing;
  std::size_t named = 0, success = 0;
  for (const WindowRecord& window : records.windows) {
    Count& count = symbols[window.symbol];
    ++count.all;
    const bool is_there = window.status == "success";
    count.success += is_there;
    success += is_there;
    if (!is_there && ++named <= most_named)
      missing += cat("missing: ", name_of(window), ": ", window.status,
                     window.why.empty() ? "" : ", ", window.why, "\n");
  }
  if (named > most_named) missing += cat("and ", named - most_named, " more, in windows.csv\n");
  std::vector<std::string> fewer;
  std::size_t most = 0, least = records.windows.size();
  for (const auto& [symbol, count] : symbols) {
    most = std::max(most, count.all);
    least = std::min(least, count.all);
    if (count.success < count.all)
      fewer.push_back(cat(symbol, " ", count.success, " of ", count.all));
  }
  return cat("expected ", records.windows.size(), " windows of ", symbols.size(), " symbols, ",
             least == most ? cat(most) : cat(least, " to ", most), " of each: ", success,
             " succeeded", fewer.empty() ? "" : "; ", join(fewer, ", "), "\n", missing);
}

}  // namespace lockstep::gbdt
