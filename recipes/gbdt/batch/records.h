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
  std::string gpus{};  // GPUs on which it ran, as in DirectJob
  std::optional<std::int64_t> memory_bytes{}, gpu_memory_bytes{};  // as in DirectJob
  std::string symbol, label, start, end;
  // success, skipped or failed, or the state of a job without a record; and the reason
  std::string status, why;
  std::map<std::string, std::string> setting;  // options in which jobs of the batch differ
  nlohmann::json metadata;
  // Metrics of the test, or of validation if no window of the batch has a test.
  std::optional<Metrics> metrics;
};

struct BatchRecords {
  std::vector<WindowRecord> windows;    // by symbol, start and setting
  std::vector<std::string> keys;        // of the settings; empty: all jobs have the same options
  bool are_tested = true;               // false: metrics are of validation
  std::size_t only_validated = 0;       // windows without a test, where others have one
  std::vector<std::string> left_out{};  // symbols without a window: "SYMBOL: WHY"
};

// Reads a window for each job, even if the job left nothing that can be read.
BatchRecords read_records(const DirectBatchEnd& end);
// Reads the records of successful trainings, in the order of their folders. Throws Error if one
// cannot be read.
BatchRecords read_records(const std::vector<std::filesystem::path>& folders);
// The value of each of `keys`; nothing where the window lacks it.
std::vector<Cell> setting_cells(const BatchRecords& records, const WindowRecord& window);

// The objective that the window learned, from its options; binary if nothing can be read.
const Objective& objective_of(const WindowRecord& window);
// The days on which it was trained.
Window window_of(const WindowRecord& window);
// Sets the options with which it was trained, as a preset does, so that none counts as given.
// Throws Error and json's exceptions if its metadata has none.
void set_recorded(const WindowRecord& window, GbdtOptions& options);
// Says that windows learned from generated data, and how many if not all did; "" if none did.
std::string made_text(const BatchRecords& records);
std::string setting_text(const WindowRecord& window);  // "num_leaves=127,horizon=5"; "" for none

}  // namespace lockstep::gbdt
