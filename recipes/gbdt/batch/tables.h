// Tables of a batch: by window, and by setting.
#pragma once

#include <string>
#include <vector>

#include "recipes/gbdt/batch/records.h"
#include "runtime/run/predictions/item_table.h"

namespace lockstep::gbdt {

// A row per window: symbol, start, end, settings, status, GPU, rows, trees, metrics with intervals
// of the AUC, seconds by phase, why.
ItemTable window_table(const BatchRecords& records);

// All windows with the same options.
struct SettingResult {
  std::string setting;  // "": the batch has one alone
  std::size_t success = 0, skipped = 0, failed = 0;
  Metrics metrics;  // over all windows, as over_windows has them; of nothing: empty
  Metrics means;    // over windows, each counting as one, without intervals: as jobs are compared
  double seconds = 0, features_s = 0, training_s = 0;  // sums over windows
  std::int64_t most_leaves = 0;                        // of a tree of any window
  std::optional<DirectActivity> activity{};            // while its jobs ran
};
// activity: as DirectBatchEnd has it; may be empty.
std::vector<SettingResult> setting_results(
    const BatchRecords& records,
    const std::function<DirectActivity(const std::set<std::string>& jobs)>& activity = {});
// quality, time and windows, a row per setting.
ItemTable setting_table(const std::vector<SettingResult>& results);
// Rows by class and predicted class, over all windows of each setting. Empty: nothing is
// classified.
ItemTable confusion_table(const std::vector<SettingResult>& results);

// The settings that made the same models, window by window. A line for each set of settings for
// which this is so in all windows that each of them trained, and for each two for which it is so in
// most. "": there are none.
std::string same_models_text(const BatchRecords& records);

// Both for a terminal, with the windows themselves if they are at most `most_windows`, else
// symbol by symbol.
std::string batch_text(const BatchRecords& records, const std::vector<SettingResult>& results,
                       std::size_t most_windows = 100);

// How many windows there should be of each symbol, which symbols have fewer, and each window that
// is missing, with why.
std::string expected_text(const BatchRecords& records, std::size_t most_named = 50);

}  // namespace lockstep::gbdt
