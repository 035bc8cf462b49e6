// What the jobs of a batch left, window by window.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "recipes/gbdt/metrics/metrics.h"

namespace lockstep::gbdt {

struct WindowRecord {
  std::filesystem::path folder;
  std::string symbol, label, start, end;
  std::string status, why;                     // success, skipped or failed; why not
  std::map<std::string, std::string> setting;  // options in which jobs of the batch differ
  nlohmann::json metadata;
  std::optional<BinaryMetrics> metrics;  // of the test, or of validation where there is none
};

struct BatchRecords {
  std::vector<WindowRecord> windows;  // by symbol, start and setting
  std::vector<std::string> keys;      // of the settings; empty: all jobs have the same options
  std::size_t unreadable = 0;         // folders whose metadata.json is no such
};

// Of FOLDER/jobs/NAME, and of FOLDER/attempts/N for windows that are not there: the last attempt.
BatchRecords read_records(const std::filesystem::path& folder);

std::string setting_text(const WindowRecord& window);  // "num_leaves=127,horizon=5"; "" for none

}  // namespace lockstep::gbdt
