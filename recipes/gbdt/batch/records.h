// Reads the records (metadata.json) of the windows that the jobs of a batch trained.
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
  std::string gpus{};  // as in DirectJob: GPUs of the job's last try
  std::optional<std::int64_t> memory_bytes{}, gpu_memory_bytes{};  // as in DirectJob
  std::string symbol, label, start, end;
  // status: success, skipped or failed; without a record, DirectJob::state. why: its reason
  std::string status, why;
  std::map<std::string, std::string> setting;  // values of the options in BatchRecords::keys
  nlohmann::json metadata;
  // Metrics of the test. If no window of the batch has a test, metrics of validation.
  std::optional<Metrics> metrics;
};

struct BatchRecords {
  std::vector<WindowRecord> windows;  // sorted by symbol, start and setting
  std::vector<std::string> keys;      // names of the options whose values differ between windows
  bool are_tested = true;             // if false, WindowRecord::metrics are of validation
  std::size_t only_validated = 0;     // number of windows without a test, if other windows have one
  std::vector<std::string> left_out{};  // symbols without a window, as "SYMBOL: WHY"
};

// Returns one window for each job of a batch. If a job has no record that can be read, its window
// has only the facts in DirectJob.
BatchRecords read_records(const DirectBatchEnd& end);
// Reads the records in the folders of successful trainings, in this order. Throws Error if one of
// them cannot be read.
BatchRecords read_records(const std::vector<std::filesystem::path>& folders);
// Returns a window's value for each option in BatchRecords::keys. The cell is empty if the window
// lacks the option.
std::vector<Cell> setting_cells(const BatchRecords& records, const WindowRecord& window);

// Returns the objective with which the window was trained. It comes from WindowRecord::metadata, or
// else from WindowRecord::setting. If neither states an objective, it is binary.
const Objective& objective_of(const WindowRecord& window);
// Returns the days on which the window was trained.
Window window_of(const WindowRecord& window);
// Sets the options with which the window was trained, with ValueSource::Kind::preset, so that no
// option counts as given by the user. gbdt.library is left out, because the record may come from
// someone else. Throws Error for invalid values, and json's exceptions if the record has no
// options.
void set_recorded(const WindowRecord& window, GbdtOptions& options);
// Returns a note that windows were trained on generated data. If only some windows were, the note
// says how many. The note is empty if no window was trained on generated data.
std::string made_text(const BatchRecords& records);
// Returns the window's setting as a text like "num_leaves=127,horizon=5". The text is empty if no
// options differ between windows.
std::string setting_text(const WindowRecord& window);

}  // namespace lockstep::gbdt
