// What the jobs of a batch left, window by window.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "plan/direct_recipe.h"
#include "recipes/gbdt/metrics/metrics.h"

namespace lockstep::gbdt {

struct WindowRecord {
  std::filesystem::path folder;
  std::string symbol, label, start, end;
  // success, skipped or failed, or the state of a job that did not come so far; why not
  std::string status, why;
  std::map<std::string, std::string> setting;  // options in which jobs of the batch differ
  nlohmann::json metadata;
  std::optional<BinaryMetrics> metrics;  // of the test, or of validation where there is none
};

struct BatchRecords {
  std::vector<WindowRecord> windows;  // by symbol, start and setting
  std::vector<std::string> keys;      // of the settings; empty: all jobs have the same options
};

// A window for each job, also where it left nothing that can be read.
BatchRecords read_records(const DirectBatchEnd& end);

std::string setting_text(const WindowRecord& window);  // "num_leaves=127,horizon=5"; "" for none

}  // namespace lockstep::gbdt
