// Makes the tables of a batch, with a row per window or per setting.
#pragma once

#include <string>
#include <vector>

#include "recipes/gbdt/batch/records.h"
#include "runtime/run/predictions/item_table.h"

namespace lockstep::gbdt {

// Returns a table with a row per window: symbol, start, end, settings, status, GPU, numbers of
// rows, trees and leaves, metrics with their intervals, seconds by phase, memory, folder, why. Each
// symbol without a window has a row too.
ItemTable window_table(const BatchRecords& records);

// The results of all windows with the same setting.
struct SettingResult {
  std::string setting;  // empty if the batch has only one setting
  std::size_t success = 0, skipped = 0, failed = 0;
  Metrics metrics;  // metrics over all windows, by over_windows; may be empty
  // plain means over windows, by mean_of_windows; settings are compared by these
  Metrics means;
  double seconds = 0, features_s = 0, training_s = 0;  // sums over successful windows
  std::int64_t most_leaves = 0;                        // largest number of leaves of a tree
  std::optional<DirectActivity> activity{};            // load of the machine while its jobs ran
};
// Returns the results of each setting. activity: as in DirectBatchEnd; may be empty.
std::vector<SettingResult> setting_results(
    const BatchRecords& records,
    const std::function<DirectActivity(const std::set<std::string>& jobs)>& activity = {});
// Returns a table with a row per setting: numbers of windows, metrics and times.
ItemTable setting_table(const std::vector<SettingResult>& results);
// Returns the numbers of rows by class and predicted class, over all windows of each setting. The
// table is empty if nothing is classified.
ItemTable confusion_table(const std::vector<SettingResult>& results);

// Returns lines that name settings with the same models. There is a line for each set of settings
// with the same models in all their windows. There is also a line for each pair of settings with
// the same models in most windows that both trained. At most ten lines are returned.
std::string same_models_text(const BatchRecords& records);

// Returns two tables for a terminal. The first has a row per window, or a row per symbol if there
// are more than `most_windows` windows. The second has a row per setting.
std::string batch_text(const BatchRecords& records, const std::vector<SettingResult>& results,
                       std::size_t most_windows = 100);

// Returns a text that says how many windows each symbol should have, and which symbols have fewer.
// It also names up to `most_named` missing windows with the reasons.
std::string expected_text(const BatchRecords& records, std::size_t most_named = 50);

}  // namespace lockstep::gbdt
