// lockstep batch gbdt: a job for each symbol and window.
#include <algorithm>

#include "base/text.h"
#include "recipes/gbdt/bars/symbols.h"
#include "recipes/gbdt/lightgbm/opencl.h"
#include "recipes/gbdt/train/train_window.h"

namespace lockstep::gbdt {
namespace {

std::string counted(std::size_t count, const char* one, const char* many) {
  return cat(count, " ", count == 1 ? one : many);
}

// Jobs that there will be are told before they run, so that a missing one is noticed.
std::vector<std::string> notes_of(const GbdtOptions& options,
                                  const std::vector<PlannedWindow>& windows) {
  std::vector<std::string> symbols;
  std::size_t skipped = 0;
  for (const PlannedWindow& window : windows) {
    if (symbols.empty() || symbols.back() != window.symbol) symbols.push_back(window.symbol);
    if (!window.skip.empty()) ++skipped;
  }
  std::vector<std::string> notes;
  if (options.made())
    notes.push_back(cat(options.data.made_rows > 0 ? "the tables are" : "the prices are",
                        " made, with a planted signal"));
  notes.push_back(cat(counted(symbols.size(), "symbol", "symbols"), ", ",
                      counted(windows.size(), "window", "windows")));
  if (!windows.empty())
    if (std::string idle = options.idle_note(windows[0].window.is_everything); !idle.empty())
      notes.push_back(std::move(idle));
  if (skipped > 0)
    notes.push_back(
        cat(counted(skipped, "window", "windows"), " will be skipped, the first, ", [&] {
          const auto first = std::find_if(windows.begin(), windows.end(),
                                          [](const auto& w) { return !w.skip.empty(); });
          return cat(window_label(first->symbol, first->window), ", because ", first->skip);
        }()));
  return notes;
}

// Not the file that lists them, which may change.
std::string features_option(const GbdtOptions& options) {
  GbdtOptions listed;
  listed.features = options.columns().own;
  return cat("features=", job_literal(listed.table.get("features")));
}

DirectBatch plan_batch(const GbdtOptions& options) {
  const LightGbm library(find_lightgbm(options.gbdt.library, options.table.get("gbdt.device")));
  resolve_parameters(library, options.parameters());  // before any work
  std::vector<std::string> left_out;
  const std::vector<PlannedWindow> windows = [&] {
    const KeepCells until_planned;  // the batch may run for days
    return plan_windows(options, &left_out);
  }();
  DirectBatch batch{
      .keys = {"symbol", "start", "end"},
      .rows = {},
      .job_name = "{symbol}_{start}_to_{end}",
      .only_batch = {"symbols", "window_days", "stride_days", "data.made_symbols", "features"},
      .outputs = {"model.txt", "predictions.csv", "metadata.json"},
      .cpus = options.gbdt.threads,
      .cpus_key = "gbdt.threads",
      .notes = notes_of(options, windows)};
  for (const std::string& symbol : left_out) batch.notes.push_back(cat("left out: ", symbol));
  if (!options.features.empty()) batch.more_options.push_back(features_option(options));
  if (options.gbdt.device != TrainDevice::cpu) {
    batch.gpus = "0.25";
    batch.more_options.emplace_back("gbdt.device_id={gpu}");
    if (options.gbdt.device == TrainDevice::gpu && opencl_platforms(library).empty())
      batch.notes.emplace_back(
          "there is no OpenCL platform here: the jobs have to run on another machine");
  }
  for (const PlannedWindow& window : windows)
    batch.rows.push_back({window.symbol, start_text(window.window), end_text(window.window)});
  if (std::all_of(windows.begin(), windows.end(),
                  [](const PlannedWindow& one) { return one.window.is_everything; })) {
    batch.keys = {"symbol"};
    batch.job_name = "{symbol}";
    for (auto& row : batch.rows) row.resize(1);
  }
  return batch;
}

[[maybe_unused]] const bool plan_linked = [] {
  trainer.plan_batch = plan_batch;
  return true;
}();

}  // namespace
}  // namespace lockstep::gbdt
