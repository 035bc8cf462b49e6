// Summaries of a run for `lockstep runs`: a row of a table, or a page.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "runtime/run/folder/run_dir.h"
#include "runtime/run/labels.h"

namespace lockstep {

struct RunSummary {
  std::string name;
  std::string path;
  std::string recipe;  // "?" if the record is damaged
  RunState state = RunState::interrupted;
  std::string why;  // reason for the state; may be empty
  std::int64_t step = 0;
  std::int64_t total_steps = 0;  // 0 = unknown
  std::optional<double> loss;    // loss of the last step; NaN if it was not finite
  // Rate of the newest start; while it runs, rate of the last step.
  std::optional<double> units_per_s;
  std::optional<double> mfu;  // MFU, of the same steps
  // The step that this start resumed from, if the two rates are means over it.
  std::int64_t rates_from = 0;
  std::string unit;
  std::string mfu_unknown;     // reason if mfu is nothing and the run gives one
  std::int64_t best_step = 0;  // step of the best evaluation
  nlohmann::json best;         // metrics of the best evaluation; null if there was none
  std::string result;          // name of the main result for a run that trained in the tool; or ""
  double result_value = 0;     // set if `result` is
  std::string devices;         // "2 x NVIDIA T4"
  RunLabels labels;
  double started = 0;   // unix seconds; 0 = unknown
  double age_s = 0;     // seconds since then
  std::string problem;  // why its record or state cannot be read; may be empty
};

// Reads the run. Throws only for what cannot be read at all, not for damaged files.
RunSummary summarize(const RunDir& run, Clock& clock = system_clock());
nlohmann::json summary_json(const RunSummary& summary);

// A table with a header and a row per run. Columns of less importance are dropped if `width` is too
// small. Empty without runs; otherwise ends with a newline.
std::string runs_table(const std::vector<RunSummary>& runs, int width);

struct RunPage {
  bool thorough = true;  // verifies the checksums of checkpoints, which reads all of them
  bool config = false;   // includes the configuration
  int width = 80;        // of the plot
};

// A page with record, last step, a plot of the losses, evaluations, and checkpoints with size and
// state.
std::string run_page(const RunDir& run, const RunPage& page = {}, Clock& clock = system_clock());
// The same as data, with all logged losses and the whole record.
nlohmann::json run_json(const RunDir& run, bool thorough = true, Clock& clock = system_clock());

// "2 x NVIDIA T4, 1 x CPU" for a record's "devices".
std::string devices_text(const nlohmann::json& devices);

}  // namespace lockstep
