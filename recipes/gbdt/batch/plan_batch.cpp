// lockstep batch gbdt: a job for each symbol and window.
#include <algorithm>

#include "base/text.h"
#include "recipes/gbdt/lightgbm/booster.h"
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
  if (options.made()) notes.emplace_back("the prices are made, with a planted signal");
  notes.push_back(cat(counted(symbols.size(), "symbol", "symbols"), ", ",
                      counted(windows.size(), "window", "windows")));
  if (skipped > 0)
    notes.push_back(
        cat(counted(skipped, "window", "windows"), " will be skipped, the first, ", [&] {
          const auto first = std::find_if(windows.begin(), windows.end(),
                                          [](const auto& w) { return !w.skip.empty(); });
          return cat(window_label(first->symbol, first->window), ", because ", first->skip);
        }()));
  return notes;
}

DirectBatch plan_batch(const GbdtOptions& options) {
  const LightGbm library(find_lightgbm(options.gbdt.library));
  resolve_parameters(library, options.parameters());  // before any work
  const std::vector<PlannedWindow> windows = plan_windows(options);
  DirectBatch batch{
      .keys = {"symbol", "start", "end"},
      .rows = {},
      .job_name = "{symbol}_{start}_to_{end}",
      .only_batch = {"symbols", "window_days", "stride_days", "data.made_symbols", "features"},
      .outputs = {"model.txt", "predictions.csv", "metadata.json"},
      .cpus = options.gbdt.threads,
      .notes = notes_of(options, windows)};
  if (!options.features.empty())  // not the file that lists them, which may change
    batch.more_options.push_back(cat("features=", join(options.columns().own, ",")));
  if (options.gbdt.device != TrainDevice::cpu) {
    batch.gpus = "0.25";
    batch.more_options.emplace_back("gbdt.device_id={gpu}");
  }
  for (const PlannedWindow& window : windows)
    batch.rows.push_back({window.symbol, to_text(window.window.start), to_text(window.window.end)});
  return batch;
}

[[maybe_unused]] const bool plan_linked = [] {
  trainer.plan_batch = plan_batch;
  return true;
}();

}  // namespace
}  // namespace lockstep::gbdt
