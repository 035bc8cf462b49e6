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
  std::string why;  // the reason for the state; may be empty
  std::int64_t step = 0;
  std::int64_t total_steps = 0;  // 0 = unknown
  std::optional<double> loss;    // loss of the last step; NaN if it was not finite
  // Throughput: the mean over the newest start if that has ended, and otherwise that of the last
  // step.
  std::optional<double> units_per_s;
  std::optional<double> mfu;  // model FLOPs utilisation (MFU), of the same steps
  // The step from which that start resumed, if both values are means over it. 0 if they are those
  // of the last step.
  std::int64_t rates_from = 0;
  std::string unit;
  std::string mfu_unknown;     // why there is no mfu, if the run gives a reason
  std::int64_t best_step = 0;  // the step of the best evaluation
  nlohmann::json best;         // metrics of the best evaluation; null if there was none
  std::string result;  // name of the main result of a run that trained in the tool; may be empty
  double result_value = 0;  // set if `result` is not empty
  std::string devices;      // "2 x NVIDIA T4"
  RunLabels labels;
  double started = 0;   // unix seconds; 0 = unknown
  double age_s = 0;     // seconds since `started`
  std::string problem;  // why its record or state cannot be read; may be empty
};

// Reads the run. Damaged files do not make it throw. Throws Error only if the events cannot be
// read.
RunSummary summarize(const RunDir& run, Clock& clock = system_clock());
nlohmann::json summary_json(const RunSummary& summary);

// A table with a header and one row per run. If it is wider than `width`, less important columns
// are dropped; width 0 = unlimited. Empty without runs; otherwise it ends with a newline.
std::string runs_table(const std::vector<RunSummary>& runs, int width);

struct RunPage {
  // verifies the checksums of checkpoints, for which it reads them completely
  bool thorough = true;
  bool config = false;  // includes the configuration
  int width = 80;       // width of the plot in characters
};

// A page with the record, the last step, a plot of the losses, the evaluations, the checkpoints
// with size and condition, and other files.
std::string run_page(const RunDir& run, const RunPage& page = {}, Clock& clock = system_clock());
// The same as data, with all logged losses and the whole record.
nlohmann::json run_json(const RunDir& run, bool thorough = true, Clock& clock = system_clock());

// "2 x NVIDIA T4, 1 x CPU" for "devices" of a record.
std::string devices_text(const nlohmann::json& devices);

}  // namespace lockstep
