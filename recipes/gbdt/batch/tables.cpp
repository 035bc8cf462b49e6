#include "recipes/gbdt/batch/tables.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/base/text/cells.h"
#include "core/base/text/text.h"
#include "planning/words.h"
#include "recipes/gbdt/metrics/metric_text.h"

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

// The metrics that at least one of several results has.
using Infos = std::vector<const MetricInfo*>;

void add_known(Infos& infos, const Metrics& metrics) {
  for (const Metric& metric : metrics.list)
    if (std::find(infos.begin(), infos.end(), metric.info) == infos.end())
      infos.push_back(metric.info);
  std::sort(infos.begin(), infos.end());  // the pointers sort into the order of the metrics' table
}

Infos metrics_of(const BatchRecords& records) {
  Infos infos;
  for (const WindowRecord& window : records.windows)
    if (window.metrics) add_known(infos, *window.metrics);
  return infos;
}

Infos metrics_of(const std::vector<SettingResult>& results) {
  Infos infos;
  for (const SettingResult& result : results) add_known(infos, result.metrics);
  return infos;
}

Infos brief(Infos infos) {
  std::erase_if(infos, [](const MetricInfo* info) { return !info->is_brief; });
  return infos;
}

void add_metric_names(std::vector<std::string>& columns, const Infos& infos) {
  for (const MetricInfo* info : infos) {
    columns.emplace_back(info->name);
    if (!info->has_interval) continue;
    columns.push_back(cat(info->name, "_low"));
    columns.push_back(cat(info->name, "_high"));
  }
}

void add_metrics(std::vector<Cell>& row, const Infos& infos, const Metrics& metrics) {
  for (const MetricInfo* info : infos) {
    const Interval value = metrics.value(info->name);
    row.push_back(cell(value.estimate));
    if (!info->has_interval) continue;
    row.push_back(cell(value.low));
    row.push_back(cell(value.high));
  }
}

std::int64_t most_leaves_of(const WindowRecord& window) {
  return window.metadata.value("model", json::object()).value("most_leaves", std::int64_t{0});
}

double seconds_of(const WindowRecord& window, const char* phase) {
  return window.metadata.value("phases", json::object()).value(phase, 0.0);
}

std::string with_interval(const MetricInfo& info, const Metrics& metrics) {
  const Metric metric{.info = &info, .value = metrics.value(info.name)};
  return info.has_interval ? interval_text(metric) : metric_text(metric);
}

// Aligns cells in columns. The first column is aligned to the left, all others to the right.
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
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + "\n";
  }
  return text;
}

// A window without results has the name of its job as label, and that name may already contain the
// setting.
std::string name_of(const WindowRecord& window) {
  std::vector<std::string> words;
  for (const auto& [key, value] : window.setting)
    if (std::string word = cat(key, "=", value);
        cat(",", window.label, ",").find(cat(",", word, ",")) == std::string::npos)
      words.push_back(std::move(word));
  return cat(window.label, words.empty() ? "" : " ", join(words, ","));
}

std::string window_lines(const BatchRecords& records) {
  const Infos infos = brief(metrics_of(records));
  Lines lines = {
      {"window", "rows", "trees", "leaves", records.are_tested ? "tested" : "validated"}};
  for (const MetricInfo* info : infos) lines[0].emplace_back(info->title);
  for (const WindowRecord& window : records.windows) {
    if (window.status != "success") continue;
    const Metrics metrics = window.metrics.value_or(Metrics{});
    lines.push_back({name_of(window), cat(window.metadata["sample_counts"].value("train", 0)),
                     cat(window.metadata["model"].value("trees", 0)), cat(most_leaves_of(window)),
                     window.metrics ? cat(metrics.rows) : "-"});
    for (const MetricInfo* info : infos) lines.back().push_back(metric_text(metrics, info->name));
  }
  return aligned(lines);
}

// A mean over several objectives would mean nothing, so each objective then has its own line.
std::string symbol_lines(const BatchRecords& records) {
  const bool mixed =
      std::find(records.keys.begin(), records.keys.end(), "objective") != records.keys.end();
  std::map<std::string, std::vector<Metrics>> by_symbol;
  std::map<std::string, std::size_t> all, done;
  for (const WindowRecord& window : records.windows) {
    const std::string name =
        mixed ? cat(window.symbol, " ", objective_of(window).name) : window.symbol;
    ++all[name];
    done[name] += window.status == "success";
    if (window.metrics) by_symbol[name].push_back(*window.metrics);
  }
  const Infos infos = brief(metrics_of(records));
  Lines lines = {{"symbol, by rows", "windows", "done"}};
  for (const MetricInfo* info : infos) lines[0].emplace_back(info->title);
  for (const auto& [symbol, count] : all) {
    const Metrics metrics = over_windows(by_symbol[symbol]);
    lines.push_back({symbol, cat(count), cat(done[symbol])});
    for (const MetricInfo* info : infos) lines.back().push_back(with_interval(*info, metrics));
  }
  return aligned(lines);
}

// Returns no "0 %" for a time that was too short to measure.
std::string percent(const std::optional<double>& value) {
  return value ? cat(fixed(*value, 0), " %") : "too short to tell";
}

// A line below that of a setting. Comparisons and reports of the batch show the same numbers.
std::vector<std::string> means_line(const SettingResult& one, const Infos& infos,
                                    std::size_t columns) {
  std::vector<std::string> line = {"  mean of windows", "", "", ""};
  for (const MetricInfo* info : infos) line.push_back(metric_text(one.means, info->name));
  line.resize(columns);
  return line;
}

std::string setting_lines(const std::vector<SettingResult>& results) {
  const Infos infos = brief(metrics_of(results));
  Lines lines = {
      {results.size() > 1 ? "setting, by rows" : "all, by rows", "done", "skipped", "failed"}};
  for (const MetricInfo* info : infos) lines[0].emplace_back(info->title);
  lines[0].emplace_back("leaves");
  lines[0].emplace_back("s in window");
  const bool seen = std::any_of(results.begin(), results.end(),
                                [](const auto& one) { return one.activity.has_value(); });
  const bool gpus = seen && std::any_of(results.begin(), results.end(), [](const auto& one) {
                      return one.activity && one.activity->on_gpus;
                    });
  if (seen) lines[0].emplace_back("CPU busy");
  if (gpus) lines[0].emplace_back("GPU busy");
  for (const SettingResult& one : results) {
    lines.push_back({one.setting.empty() ? "windows" : one.setting, cat(one.success),
                     cat(one.skipped), cat(one.failed)});
    for (const MetricInfo* info : infos) lines.back().push_back(with_interval(*info, one.metrics));
    lines.back().push_back(one.success == 0 ? "-" : cat(one.most_leaves));
    lines.back().push_back(
        one.success == 0 ? "-" : fixed(one.seconds / static_cast<double>(one.success), 4));
    const DirectActivity activity = one.activity.value_or(DirectActivity{});
    if (seen) lines.back().push_back(percent(activity.cpu_percent));
    if (gpus) lines.back().push_back(activity.on_gpus ? percent(activity.gpu_percent) : "-");
    if (one.success > 1) lines.push_back(means_line(one, infos, lines[0].size()));
  }
  return aligned(lines);
}

// The symbol in a line "SYMBOL: WHY".
std::string symbol_of(const std::string& left_out) {
  return left_out.substr(0, left_out.find(": "));
}

// "; left out: CD". The reasons are in the summary below.
std::string left_out_text(const std::vector<std::string>& left_out) {
  constexpr std::size_t most_named = 10;
  if (left_out.empty()) return "";
  std::vector<std::string> symbols;
  for (const std::string& line : left_out)
    if (symbols.size() < most_named) symbols.push_back(symbol_of(line));
  return cat(
      "; left out: ", join(symbols, ", "),
      left_out.size() > most_named ? cat(" and ", left_out.size() - most_named, " more") : "");
}

}  // namespace

ItemTable window_table(const BatchRecords& records) {
  ItemTable table;
  table.columns = {"symbol", "start", "end"};
  table.columns.insert(table.columns.end(), records.keys.begin(), records.keys.end());
  for (const char* name :
       {"status", "gpu", "train_rows", "valid_rows", "test_rows", "trees", "most_leaves"})
    table.columns.emplace_back(name);
  const Infos infos = metrics_of(records);
  add_metric_names(table.columns, infos);
  for (const char* name : {"features_s", "training_s", "prediction_s", "evaluation_s", "seconds",
                           "memory_bytes", "gpu_memory_bytes", "folder", "why"})
    table.columns.emplace_back(name);
  for (const WindowRecord& window : records.windows) {
    const json& data = window.metadata;
    std::vector<Cell> row = {window.symbol, window.start, window.end};
    const std::vector<Cell> setting = setting_cells(records, window);
    row.insert(row.end(), setting.begin(), setting.end());
    row.emplace_back(window.status);
    row.push_back(window.gpus.empty() ? Cell{} : Cell{window.gpus});
    for (const char* where : {"/sample_counts/train", "/sample_counts/valid", "/sample_counts/test",
                              "/model/trees", "/model/most_leaves"})
      row.push_back(cell(data, json::json_pointer(where)));
    add_metrics(row, infos, window.metrics.value_or(Metrics{}));
    for (const char* where : {"/phases/features", "/phases/training", "/phases/prediction",
                              "/phases/evaluation", "/seconds"})
      row.push_back(cell(data, json::json_pointer(where)));
    for (const auto& bytes : {window.memory_bytes, window.gpu_memory_bytes})
      row.push_back(bytes ? Cell{*bytes} : Cell{});
    // The path below the folder of the batch: "jobs/NAME", or "attempts/N" if the job is not done.
    row.emplace_back((window.folder.parent_path().filename() / window.folder.filename()).string());
    row.emplace_back(window.why);
    table.rows.push_back(std::move(row));
  }
  const auto status = std::find(table.columns.begin(), table.columns.end(), "status");
  for (const std::string& line : records.left_out) {
    std::vector<Cell> row(table.columns.size());
    row.front() = symbol_of(line);
    row[static_cast<std::size_t>(status - table.columns.begin())] = std::string("left out");
    row.back() = line.substr(std::min(line.size(), symbol_of(line).size() + 2));
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::vector<SettingResult> setting_results(
    const BatchRecords& records,
    const std::function<DirectActivity(const std::set<std::string>& jobs)>& activity) {
  std::map<std::string, SettingResult> results;
  std::map<std::string, std::set<std::string>> jobs;
  std::map<std::string, std::vector<Metrics>> metrics;
  for (const WindowRecord& window : records.windows) {
    const std::string setting = setting_text(window);
    SettingResult& result = results[setting];
    result.setting = setting;
    jobs[setting].insert(window.job);
    if (window.status == "skipped") ++result.skipped;
    if (window.status == "failed") ++result.failed;
    if (window.status != "success") continue;
    ++result.success;
    if (window.metrics) metrics[setting].push_back(*window.metrics);
    result.seconds += window.metadata.value("seconds", 0.0);
    result.most_leaves = std::max(result.most_leaves, most_leaves_of(window));
    result.features_s += seconds_of(window, "features");
    result.training_s += seconds_of(window, "training");
  }
  std::vector<SettingResult> all;
  for (auto& [setting, result] : results) {
    result.metrics = over_windows(metrics[setting]);
    result.means = mean_of_windows(metrics[setting]);
    if (activity) result.activity = activity(jobs[setting]);
    all.push_back(std::move(result));
  }
  return all;
}

ItemTable setting_table(const std::vector<SettingResult>& results) {
  ItemTable table{.columns = {"setting", "success", "skipped", "failed"}};
  const Infos infos = metrics_of(results);
  add_metric_names(table.columns, infos);
  for (const MetricInfo* info : infos) table.columns.push_back(cat(info->name, "_mean_of_windows"));
  for (const char* name :
       {"most_leaves", "seconds", "features_s", "training_s", "cpu_percent", "gpu_percent"})
    table.columns.emplace_back(name);
  for (const SettingResult& one : results) {
    std::vector<Cell> row = {one.setting, static_cast<std::int64_t>(one.success),
                             static_cast<std::int64_t>(one.skipped),
                             static_cast<std::int64_t>(one.failed)};
    add_metrics(row, infos, one.metrics);
    for (const MetricInfo* info : infos) row.push_back(cell(one.means.value(info->name).estimate));
    row.push_back(one.success == 0 ? Cell{} : Cell{one.most_leaves});
    for (const double seconds : {one.seconds, one.features_s, one.training_s})
      row.push_back(cell(seconds));
    const DirectActivity activity = one.activity.value_or(DirectActivity{});
    row.push_back(cell(activity.cpu_percent.value_or(NAN)));
    row.push_back(cell(activity.gpu_percent.value_or(NAN)));
    table.rows.push_back(std::move(row));
  }
  return table;
}

ItemTable confusion_table(const std::vector<SettingResult>& results) {
  ItemTable table;
  for (const SettingResult& one : results)
    for (const auto& [is, row] : one.metrics.confusion)
      for (const auto& [called, count] : row)
        table.rows.push_back({one.setting, is, called, count});
  if (!table.rows.empty()) table.columns = {"setting", "class", "predicted", "rows"};
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
    std::set<std::pair<std::string, std::string>> windows{};
  };
  std::map<std::string, Count> symbols;
  std::set<std::string> settings;
  std::string missing;
  std::size_t named = 0, success = 0, waiting = 0;
  for (const WindowRecord& window : records.windows) {
    Count& count = symbols[window.symbol];
    ++count.all;
    count.windows.emplace(window.start, window.end);
    settings.insert(setting_text(window));
    const bool is_there = window.status == "success";
    count.success += is_there;
    success += is_there;
    // it waits for its first try
    const bool waits = window.status == "waiting" && window.why.empty();
    waiting += waits;
    if (!is_there && !waits && ++named <= most_named)
      missing += cat("missing: ", name_of(window), ": ", window.status,
                     window.why.empty() ? "" : ", ", window.why, "\n");
  }
  if (named > most_named) missing += cat("and ", named - most_named, " more, in windows.csv\n");
  if (waiting > 0)
    missing += cat(count_of(static_cast<std::int64_t>(waiting), "window"),
                   waiting == 1 ? " is" : " are", " waiting\n");
  std::vector<std::string> fewer;
  std::size_t most = 0, least = records.windows.size(), windows = 0;
  for (const auto& [symbol, count] : symbols) windows += count.windows.size();
  const bool each = settings.size() > 1 && windows * settings.size() == records.windows.size();
  for (const auto& [symbol, count] : symbols) {
    const std::size_t of_symbol = each ? count.windows.size() : count.all;
    most = std::max(most, of_symbol);
    least = std::min(least, of_symbol);
    if (count.success < count.all)
      fewer.push_back(cat(symbol, " ", count.success, " of ", count.all));
  }
  return cat("expected ", each ? windows : records.windows.size(), " windows of ",
             count_of(static_cast<std::int64_t>(symbols.size()), "symbol"), ", ",
             least == most ? cat(most) : cat(least, " to ", most), " of each",
             each ? cat(", with each of ", settings.size(), " settings") : "", ": ", success,
             " succeeded", fewer.empty() ? "" : "; ", join(fewer, ", "),
             left_out_text(records.left_out), "\n", missing);
}

}  // namespace lockstep::gbdt
