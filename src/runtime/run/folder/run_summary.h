// Summaries of runs for `lockstep runs`: a table with one row per run, or a page about one run.
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
  // Throughput. If the process that last trained the run has ended, the mean over all its steps.
  // Otherwise, the throughput of the last step.
  std::optional<double> units_per_s;
  std::optional<double> mfu;  // model FLOPs utilisation (MFU) of the same steps
  // If both values are means, the step after which that process began. 0 if they are values of the
  // last step.
  std::int64_t rates_from = 0;
  std::string unit;
  std::string mfu_unknown;     // why there is no mfu, if the run gives a reason
  std::int64_t best_step = 0;  // the step of the best evaluation
  nlohmann::json best;         // metrics of the best evaluation; null if there was none
  // The name of the main result, if the recipe trained without ranks (in the tool itself). May be
  // empty.
  std::string result;
  double result_value = 0;  // the value of this main result; set if `result` is not empty
  std::string devices;      // "2 x NVIDIA T4"
  RunLabels labels;
  double started = 0;   // unix seconds; 0 = unknown
  double age_s = 0;     // seconds since `started`
  std::string problem;  // why the record or state cannot be read; empty if they can
};

// Reads a run. Damaged files are reported in the summary. Throws Error only if the events cannot be
// read.
RunSummary summarize(const RunDir& run, Clock& clock = system_clock());
nlohmann::json summary_json(const RunSummary& summary);

// Returns a table with a header and one row per run. If it is wider than `width`, less important
// columns are left out; width 0 = unlimited. Empty if there are no runs; otherwise the table ends
// with a newline.
std::string runs_table(const std::vector<RunSummary>& runs, int width);

struct RunPage {
  // whether to read the checkpoints completely, to verify their checksums
  bool thorough = true;
  bool config = false;  // whether to show the configuration
  int width = 80;       // width of the plot in characters
};

// Returns a page about the run: its record, the last step, a plot of the losses, and the
// evaluations. It also lists the checkpoints, with size and damage, and other files.
std::string run_page(const RunDir& run, const RunPage& page = {}, Clock& clock = system_clock());
// Returns the contents of run_page as JSON, with all logged losses and the whole record.
nlohmann::json run_json(const RunDir& run, bool thorough = true, Clock& clock = system_clock());

// Returns a text such as "2 x NVIDIA T4, 1 x CPU". devices: the member "devices" of run.json.
std::string devices_text(const nlohmann::json& devices);

}  // namespace lockstep
