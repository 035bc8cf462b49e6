// The records that the jobs of a batch left, window by window.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "planning/direct_recipe.h"
#include "recipes/gbdt/options/gbdt_options.h"
#include "runtime/run/predictions/item_table.h"

namespace lockstep::gbdt {

struct WindowRecord {
  std::filesystem::path folder;
  std::string job{};   // its name in the batch
  std::string gpus{};  // that it ran on, as DirectJob has them
  std::optional<std::int64_t> memory_bytes{}, gpu_memory_bytes{};  // likewise
  std::string symbol, label, start, end;
  // success, skipped or failed, or the state of a job that did not come so far; why not
  std::string status, why;
  std::map<std::string, std::string> setting;  // options in which jobs of the batch differ
  nlohmann::json metadata;
  // Metrics of the test; of validation if no window of the batch has a test.
  std::optional<Metrics> metrics;
};

struct BatchRecords {
  std::vector<WindowRecord> windows;    // by symbol, start and setting
  std::vector<std::string> keys;        // of the settings; empty: all jobs have the same options
  bool are_tested = true;               // else metrics are of validation
  std::size_t only_validated = 0;       // windows without a test, where others have one
  std::vector<std::string> left_out{};  // symbols without a window: "SYMBOL: WHY"
};

// A window for each job, even if it left nothing that can be read.
BatchRecords read_records(const DirectBatchEnd& end);
// The records of trainings that succeeded, in the order of their folders. Throws Error if one
// cannot be read.
BatchRecords read_records(const std::vector<std::filesystem::path>& folders);
// The value of each of `keys`; nothing if the window does not have it.
std::vector<Cell> setting_cells(const BatchRecords& records, const WindowRecord& window);

// The objective that it learnt, as its options say; binary if nothing can be read.
const Objective& objective_of(const WindowRecord& window);
// The days that it was trained on.
Window window_of(const WindowRecord& window);
// The options that it was trained with, as a preset: none counts as given. Throws Error and json's
// exceptions if its metadata has none.
void set_recorded(const WindowRecord& window, GbdtOptions& options);
// Says that windows learnt from made data, and how many if not all; "" if none did.
std::string made_text(const BatchRecords& records);
std::string setting_text(const WindowRecord& window);  // "num_leaves=127,horizon=5"; "" for none

}  // namespace lockstep::gbdt
