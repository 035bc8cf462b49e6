#include "recipes/gbdt/batch/records.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "base/files.h"
#include "base/json.h"
#include "base/text.h"

namespace lockstep::gbdt {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Options that say which window a job has, or where it runs, rather than how it learns.
const std::set<std::string> not_settings = {"symbol",        "symbols",     "start",
                                            "end",           "window_days", "stride_days",
                                            "data.path",     "run.root",    "data.made_symbols",
                                            "gbdt.device_id"};

std::string text_of(const json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// What the batch itself knows of a window.
WindowRecord record_of_job(const DirectJob& job) {
  WindowRecord record{
      .folder = job.folder, .label = job.name, .status = job.state, .why = job.reason};
  const auto parameter = [&](const char* key) {
    const auto found = job.parameters.find(key);
    return found == job.parameters.end() ? std::string() : found->second;
  };
  record.symbol = parameter("symbol");
  record.start = parameter("start");
  record.end = parameter("end");
  for (const auto& [key, value] : job.parameters)
    if (!not_settings.contains(key)) record.setting[key] = value;
  return record;
}

// Throws json's exceptions where the metadata is not as this recipe writes it.
void add_metadata(WindowRecord& record, json data) {
  WindowRecord read = record;
  read.symbol = data.at("symbol").get<std::string>();
  read.label = data.at("window_label").get<std::string>();
  read.start = data.at("date_range").at("start").get<std::string>();
  read.end = data.at("date_range").at("end").get<std::string>();
  read.status = data.at("status").get<std::string>();
  read.why = data.value("skip_reason", data.value("error", ""));
  for (const auto& [key, value] : data.at("options").items())
    if (!not_settings.contains(key)) read.setting[key] = text_of(value);
  if (data.contains("metrics")) {
    const json& metrics = data["metrics"];
    read.metrics = metrics_from_json(metrics.at(metrics.contains("test") ? "test" : "validation"));
  }
  read.metadata = std::move(data);
  record = std::move(read);
}

WindowRecord read_record(const DirectJob& job) {
  WindowRecord record = record_of_job(job);
  const fs::path file = job.folder / "metadata.json";
  std::error_code ignored;
  // What is published is of this job; what lies in the folder of a try may be from before it
  // failed.
  const bool is_over = job.state == "done" || job.state == "skipped" || job.state == "failed";
  if (is_over && fs::exists(file, ignored)) try {
      add_metadata(record, parse_json(read_file(file)));
    } catch (const json::exception&) {
      record.why = cat(file.string(), " cannot be read");
    }
  if (record.status == "success" && job.state != "done") {  // ended by the batch afterwards
    record.status = job.state;
    record.why = job.reason;
    record.metrics.reset();
  }
  return record;
}

// Keeps of each window's options those in which some window differs from another.
void keep_differences(BatchRecords& records) {
  std::map<std::string, std::set<std::string>> values;
  for (const WindowRecord& window : records.windows)
    for (const auto& [key, value] : window.setting) values[key].insert(value);
  for (const auto& [key, all] : values)
    if (all.size() > 1) records.keys.push_back(key);
  for (WindowRecord& window : records.windows)
    std::erase_if(window.setting, [&](const auto& one) { return values[one.first].size() < 2; });
}

}  // namespace

std::string setting_text(const WindowRecord& window) {
  std::vector<std::string> words;
  for (const auto& [key, value] : window.setting) words.push_back(cat(key, "=", value));
  return join(words, ",");
}

BatchRecords read_records(const DirectBatchEnd& end) {
  BatchRecords records;
  for (const DirectJob& job : end.jobs) records.windows.push_back(read_record(job));
  keep_differences(records);
  const auto order = [](const WindowRecord& window) {
    return std::tuple(window.symbol, window.start, window.end, setting_text(window));
  };
  std::sort(records.windows.begin(), records.windows.end(),
            [&](const auto& a, const auto& b) { return order(a) < order(b); });
  return records;
}

}  // namespace lockstep::gbdt
