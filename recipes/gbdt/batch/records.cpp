#include "recipes/gbdt/batch/records.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/json/json.h"
#include "core/base/text/text.h"

namespace lockstep::gbdt {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Options that choose the window of a job or the place where it runs. They do not change how it
// learns.
const std::set<std::string> not_settings = {"symbol",        "symbols",     "start",
                                            "end",           "window_days", "stride_days",
                                            "data.path",     "run.root",    "data.made_symbols",
                                            "gbdt.device_id"};

std::string text_of(const json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// Fills the fields of a window's record that the batch itself knows.
WindowRecord record_of_job(const DirectJob& job) {
  WindowRecord record{.folder = job.folder,
                      .job = job.name,
                      .gpus = job.gpus,
                      .memory_bytes = job.memory_bytes,
                      .gpu_memory_bytes = job.gpu_memory_bytes,
                      .label = job.name,
                      .status = job.state,
                      .why = job.reason};
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

// Adds each parameter under the option that sets it: params.NAME.
void add_pairs(WindowRecord& record, const json& params) {
  for (const json& word : params) {
    const auto text = word.get<std::string>();
    const std::size_t equals = text.find('=');
    record.setting[cat("params.", trim(text.substr(0, equals)))] =
        equals == std::string::npos ? "" : trim(text.substr(equals + 1));
  }
}

// Whether the window was trained when there was only one feature set.
bool of_first_set(const json& metadata) {
  const json& options = metadata.at("options");
  return !options.contains("feature_set") && options.at("features").empty() &&
         options.value("data.made_rows", 0) == 0;
}

// Throws exceptions of nlohmann::json if the metadata do not have this recipe's format.
void add_metadata(WindowRecord& record, json data) {
  WindowRecord read = record;
  read.symbol = data.at("symbol").get<std::string>();
  read.label = data.at("window_label").get<std::string>();
  read.start = data.at("date_range").at("start").get<std::string>();
  read.end = data.at("date_range").at("end").get<std::string>();
  read.status = data.at("status").get<std::string>();
  read.why = data.value("skip_reason", data.value("error", ""));
  if (of_first_set(data)) read.setting["feature_set"] = "v1";
  for (const auto& [key, value] : data.at("options").items())
    if (key == "params")
      add_pairs(read, value);
    else if (!not_settings.contains(key))
      read.setting[key] = text_of(value);
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
  // A finished job has published its files. A folder of an unfinished try may have files from
  // before a failure.
  const bool is_over = job.state == "done" || job.state == "skipped" || job.state == "failed";
  if (is_over && fs::exists(file, ignored)) try {
      add_metadata(record, parse_json(read_file(file)));
    } catch (const json::exception&) {
      record.why = cat(file.string(), " cannot be read");
    }
  // the batch ended the job after its success
  if (record.status == "success" && job.state != "done") {
    record.status = job.state;
    record.why = job.reason;
    record.metrics.reset();
  }
  return record;
}

// Keeps only the options whose values differ between windows.
void keep_differences(BatchRecords& records) {
  std::map<std::string, std::set<std::string>> values;
  for (const WindowRecord& window : records.windows)
    for (const auto& [key, value] : window.setting) values[key].insert(value);
  for (const auto& [key, all] : values)
    if (all.size() > 1) records.keys.push_back(key);
  for (WindowRecord& window : records.windows)
    std::erase_if(window.setting, [&](const auto& one) { return values[one.first].size() < 2; });
}

bool is_tested(const WindowRecord& window) {
  if (!window.metadata.is_object()) return false;
  const auto metrics = window.metadata.find("metrics");
  return metrics != window.metadata.end() && metrics->contains("test");
}

// Removes validation metrics if any window has a test. Validation ended the training, so its
// metrics are too good.
void keep_tests(BatchRecords& records) {
  records.are_tested = std::any_of(records.windows.begin(), records.windows.end(), is_tested);
  if (!records.are_tested) return;
  for (WindowRecord& window : records.windows)
    if (window.metrics && !is_tested(window)) {
      window.metrics.reset();
      ++records.only_validated;
    }
}

}  // namespace

const Objective& objective_of(const WindowRecord& window) {
  if (window.metadata.is_object() && window.metadata.contains("objective"))
    return find_objective(window.metadata["objective"].get<std::string>());
  const auto given = window.setting.find("objective");
  return find_objective(given == window.setting.end() ? "binary" : given->second);
}

Window window_of(const WindowRecord& window) {
  if (window.start.empty()) return {.is_everything = true};
  return {parse_day(window.start).value(), parse_day(window.end).value()};
}

void set_recorded(const WindowRecord& window, GbdtOptions& options) {
  const ValueSource recorded{.kind = ValueSource::Kind::preset};
  const json& recorded_options = window.metadata.at("options");
  // Records of versions without these two options lack them.
  if (!recorded_options.contains("feature_set")) options.table.set("feature_set", "v1", recorded);
  if (!recorded_options.contains("data.made_seed") && recorded_options.contains("seed"))
    options.table.set("data.made_seed", text_of(recorded_options["seed"]), recorded);
  // The library in a record is not loaded, because the record may come from a stranger. Users name
  // such a library again.
  for (const auto& [key, value] : recorded_options.items())
    if (options.table.has(key) && key != "gbdt.library")
      options.table.set_json(key, value, recorded);
  options.table.set("symbol", window.symbol, recorded);
}

std::string setting_text(const WindowRecord& window) {
  std::vector<std::string> words;
  for (const auto& [key, value] : window.setting) words.push_back(cat(key, "=", value));
  return join(words, ",");
}

std::vector<Cell> setting_cells(const BatchRecords& records, const WindowRecord& window) {
  std::vector<Cell> cells;
  for (const std::string& key : records.keys) {
    const auto found = window.setting.find(key);
    cells.emplace_back(found == window.setting.end() ? Cell{} : Cell{found->second});
  }
  return cells;
}

BatchRecords read_records(const std::vector<fs::path>& folders) {
  BatchRecords records;
  for (const fs::path& folder : folders) {
    WindowRecord record{.folder = folder};
    try {
      add_metadata(record, parse_json(read_file(folder / "metadata.json")));
    } catch (const json::exception& error) {
      throw Error(cat((folder / "metadata.json").string(), " cannot be read: ", error.what()));
    }
    records.windows.push_back(std::move(record));
  }
  keep_differences(records);
  return records;
}

BatchRecords read_records(const DirectBatchEnd& end) {
  BatchRecords records;
  records.left_out = end.left_out;
  for (const DirectJob& job : end.jobs) records.windows.push_back(read_record(job));
  keep_differences(records);
  keep_tests(records);
  const auto order = [](const WindowRecord& window) {
    return std::tuple(window.symbol, window.start, window.end, setting_text(window));
  };
  std::sort(records.windows.begin(), records.windows.end(),
            [&](const auto& a, const auto& b) { return order(a) < order(b); });
  return records;
}

namespace {

// Returns "" if the metadata do not say that the data are synthetic.
std::string made_note_of(const nlohmann::json& metadata) {
  if (!metadata.is_object() || !metadata.contains("data") || !metadata["data"].is_object() ||
      !metadata["data"].value("made", false))
    return "";
  const nlohmann::json options = metadata.value("options", nlohmann::json::object());
  return made_note(options.value("data.made_rows", 0) > 0);
}

std::string caution_of(const std::filesystem::path& folder) try {
  return made_note_of(parse_json(read_file(folder / "metadata.json")));
} catch (const std::exception&) {
  return "";
}

[[maybe_unused]] const bool caution_linked = [] {
  trainer.caution = caution_of;
  return true;
}();

}  // namespace

std::string made_text(const BatchRecords& records) {
  std::size_t made = 0, succeeded = 0;
  std::string note;
  for (const WindowRecord& window : records.windows) {
    if (window.status != "success") continue;
    ++succeeded;
    const std::string here = made_note_of(window.metadata);
    if (here.empty()) continue;
    ++made;
    note = here;
  }
  if (made == 0) return "";
  return cat(made < succeeded ? cat("in ", made, " of ", succeeded, " windows ") : "", note, "\n");
}

}  // namespace lockstep::gbdt
