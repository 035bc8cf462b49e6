// Makes the tables of a batch, with a row per window or per setting. A setting is a combination of
// the options that differ between windows (WindowRecord::setting).
#pragma once

#include <string>
#include <vector>

#include "recipes/gbdt/batch/records.h"
#include "runtime/run/predictions/item_table.h"

namespace lockstep::gbdt {

// Returns a table with a row per window. The columns identify the window and its setting: symbol,
// start, end, the options of the setting. Then follow status, GPU, numbers of rows, trees and
// leaves, metrics with their intervals, seconds by phase, memory, folder and why. Each symbol
// without a window has a row too.
ItemTable window_table(const BatchRecords& records);

// The results of all windows with the same setting.
struct SettingResult {
  std::string setting;  // empty if the batch has only one setting
  std::size_t success = 0, skipped = 0, failed = 0;
  Metrics metrics;  // by over_windows over all windows; may be empty
  // by mean_of_windows over all windows; settings are compared by these means
  Metrics means;
  double seconds = 0, features_s = 0, training_s = 0;  // sums over successful windows
  std::int64_t most_leaves = 0;                        // largest number of leaves that a tree has
  std::optional<DirectActivity> activity{};            // utilisation while its jobs ran
};
// Returns the results of each setting. activity: DirectBatchEnd::activity; may be empty.
std::vector<SettingResult> setting_results(
    const BatchRecords& records,
    const std::function<DirectActivity(const std::set<std::string>& jobs)>& activity = {});
// Returns a table with a row per setting: numbers of windows, metrics and times.
ItemTable setting_table(const std::vector<SettingResult>& results);
// Returns the numbers of rows by class and predicted class, over all windows of each setting. The
// table is empty if no window has classes.
ItemTable confusion_table(const std::vector<SettingResult>& results);

// Returns lines that name settings whose models are the same. There is a line for each set of
// settings whose models are the same in all their windows. There is also a line for each pair of
// settings whose models are the same in most windows that both trained. After ten such lines, one
// line states how many more there are.
std::string same_models_text(const BatchRecords& records);

// Returns two tables for a terminal, as text. The first table has a row per window, or a row per
// symbol if there are more than `most_windows` windows. The second table has a row per setting.
std::string batch_text(const BatchRecords& records, const std::vector<SettingResult>& results,
                       std::size_t most_windows = 100);

// Returns a text that says how many windows of each symbol were planned, and for which symbols
// fewer windows succeeded. It also names up to `most_named` windows that did not succeed, with the
// reasons.
std::string expected_text(const BatchRecords& records, std::size_t most_named = 50);

}  // namespace lockstep::gbdt
