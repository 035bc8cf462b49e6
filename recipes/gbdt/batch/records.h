// Reads the records that the jobs of a batch left, window by window.
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
  std::string job{};   // the job's name in the batch
  std::string gpus{};  // GPUs on which the job ran, as in DirectJob
  std::optional<std::int64_t> memory_bytes{}, gpu_memory_bytes{};  // as in DirectJob
  std::string symbol, label, start, end;
  // status: success, skipped or failed, or the state of a job without a record; why: the reason
  std::string status, why;
  std::map<std::string, std::string> setting;  // options that differ within the batch
  nlohmann::json metadata;
  // Metrics of the test, or metrics of validation if no window of the batch has a test.
  std::optional<Metrics> metrics;
};

struct BatchRecords {
  std::vector<WindowRecord> windows;    // sorted by symbol, start and setting
  std::vector<std::string> keys;        // names of the options that differ
  bool are_tested = true;               // if false, metrics are of validation
  std::size_t only_validated = 0;       // number of windows without a test, if others have one
  std::vector<std::string> left_out{};  // symbols without a window, as "SYMBOL: WHY"
};

// Returns one window for each job. If a job left nothing that can be read, its window has only the
// facts that the batch knows.
BatchRecords read_records(const DirectBatchEnd& end);
// Reads the records of successful trainings, in the order of their folders. Throws Error if one
// cannot be read.
BatchRecords read_records(const std::vector<std::filesystem::path>& folders);
// Returns a window's value for each of `keys`; the cell is empty if the window lacks the option.
std::vector<Cell> setting_cells(const BatchRecords& records, const WindowRecord& window);

// Returns the objective that the window learned. It comes from its record, or else from its
// setting. Without either, it is binary.
const Objective& objective_of(const WindowRecord& window);
// Returns the days on which the window was trained.
Window window_of(const WindowRecord& window);
// Sets the options with which the window was trained, as a preset does, so that no option counts as
// given by the user. gbdt.library is left out, because the record may come from someone else.
// Throws Error, and json's exceptions if its metadata has no options.
void set_recorded(const WindowRecord& window, GbdtOptions& options);
// Returns a note that windows learned from generated data, and how many if not all did. It is empty
// if none did.
std::string made_text(const BatchRecords& records);
// Returns a text like "num_leaves=127,horizon=5". It is empty if no options differ.
std::string setting_text(const WindowRecord& window);

}  // namespace lockstep::gbdt
