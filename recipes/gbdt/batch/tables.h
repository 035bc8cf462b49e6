// Tables of a batch, with a row per window or per setting.
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
  Metrics metrics;  // over all windows, as over_windows computes them; empty if there are none
  // means in which each window counts once, without intervals; jobs are compared by these
  Metrics means;
  double seconds = 0, features_s = 0, training_s = 0;  // sums over windows
  std::int64_t most_leaves = 0;                        // of a tree of any window
  std::optional<DirectActivity> activity{};            // while its jobs ran
};
// activity: as in DirectBatchEnd; may be empty.
std::vector<SettingResult> setting_results(
    const BatchRecords& records,
    const std::function<DirectActivity(const std::set<std::string>& jobs)>& activity = {});
// A row per setting: numbers of windows, metrics and times.
ItemTable setting_table(const std::vector<SettingResult>& results);
// Rows by class and predicted class, over all windows of each setting. Empty if nothing is
// classified.
ItemTable confusion_table(const std::vector<SettingResult>& results);

// Names settings that made the same models. There is a line for each set of settings whose models
// agree in all windows that each of them trained. There is also a line for each two settings whose
// models agree in most windows. "" if there are none.
std::string same_models_text(const BatchRecords& records);

// Both tables for a terminal. If there are at most `most_windows` windows, these are listed too;
// otherwise there is a row per symbol.
std::string batch_text(const BatchRecords& records, const std::vector<SettingResult>& results,
                       std::size_t most_windows = 100);

// Says how many windows each symbol should have, which symbols have fewer, and each missing window
// with the reason.
std::string expected_text(const BatchRecords& records, std::size_t most_named = 50);

}  // namespace lockstep::gbdt
