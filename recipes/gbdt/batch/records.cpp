#include "recipes/gbdt/batch/records.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "base/whole_number.h"

namespace lockstep::gbdt {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Options that say which window a job has, or where it runs, rather than how it learns.
const std::set<std::string> not_settings = {"symbol",        "symbols",     "start",
                                            "end",           "window_days", "stride_days",
                                            "data.path",     "run.root",    "data.made_symbols",
                                            "gbdt.device_id"};

std::vector<fs::path> folders_in(const fs::path& parent) {
  std::vector<fs::path> folders;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(parent, failed))
    if (fs::exists(entry.path() / "metadata.json", failed)) folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  return folders;
}

// The oldest first.
std::vector<fs::path> attempts_in(const fs::path& parent) {
  std::vector<fs::path> folders = folders_in(parent);
  const auto number = [](const fs::path& path) {
    return whole_number<std::int64_t>(path.filename().string()).value_or(0);
  };
  std::stable_sort(folders.begin(), folders.end(),
                   [&](const auto& a, const auto& b) { return number(a) < number(b); });
  return folders;
}

std::string text_of(const json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// Throws json's exceptions where the metadata is not as this recipe writes it.
WindowRecord read_record(const fs::path& folder) {
  WindowRecord record{.folder = folder,
                      .metadata = parse_json(read_file(folder / "metadata.json"))};
  const json& data = record.metadata;
  record.symbol = data.at("symbol").get<std::string>();
  record.label = data.at("window_label").get<std::string>();
  record.start = data.at("date_range").at("start").get<std::string>();
  record.end = data.at("date_range").at("end").get<std::string>();
  record.status = data.at("status").get<std::string>();
  record.why = data.value("skip_reason", data.value("error", ""));
  for (const auto& [key, value] : data.at("options").items())
    if (!not_settings.contains(key)) record.setting[key] = text_of(value);
  if (data.contains("metrics")) {
    const json& metrics = data["metrics"];
    record.metrics =
        metrics_from_json(metrics.at(metrics.contains("test") ? "test" : "validation"));
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

BatchRecords read_records(const fs::path& folder) {
  BatchRecords records;
  std::map<std::string, WindowRecord> found;  // by window and setting
  const auto take = [&](const fs::path& one, bool published) {
    try {
      WindowRecord record = read_record(one);
      const std::string key = cat(record.label, " ", json(record.setting).dump());
      if (published || !found.contains(key) || found.at(key).status != "success")
        found.insert_or_assign(key, std::move(record));
    } catch (const json::exception&) {
      ++records.unreadable;
    }
  };
  for (const fs::path& one : folders_in(folder / "jobs")) take(one, true);
  for (const fs::path& one : attempts_in(folder / "attempts")) take(one, false);
  for (auto& [key, record] : found) records.windows.push_back(std::move(record));
  keep_differences(records);
  const auto order = [](const WindowRecord& window) {
    return std::tuple(window.symbol, window.start, window.end, setting_text(window));
  };
  std::sort(records.windows.begin(), records.windows.end(),
            [&](const auto& a, const auto& b) { return order(a) < order(b); });
  return records;
}

}  // namespace lockstep::gbdt
