// What `lockstep runs` says of a run: one row of a table, or a page.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "run/labels.h"
#include "run/run_dir.h"

namespace lockstep {

struct RunSummary {
  std::string name;
  std::string path;
  std::string recipe;  // "?" if the record is damaged
  RunState state = RunState::interrupted;
  std::string why;  // of the state; may be empty
  std::int64_t step = 0;
  std::int64_t total_steps = 0;       // 0 = unknown
  std::optional<double> loss;         // of the last step; NaN if it was not finite
  std::optional<double> units_per_s;  // of the newest start; while it runs, of the last step
  std::optional<double> mfu;          // likewise
  std::string unit;
  std::string mfu_unknown;     // why, where mfu is nothing and the run says so
  std::int64_t best_step = 0;  // of the best evaluation
  nlohmann::json best;         // its metrics; null if there was none
  std::string result;          // name of the main result, of a run that trained in the tool; or ""
  double result_value = 0;     // where it has a name
  std::string devices;         // "2 x NVIDIA T4"
  RunLabels labels;
  double started = 0;   // unix seconds; 0 = unknown
  double age_s = 0;     // since then
  std::string problem;  // why its record or its state cannot be read; may be empty
};

// Reads the run; never throws over damaged files, only over what cannot be read at all.
RunSummary summarize(const RunDir& run, Clock& clock = system_clock());
nlohmann::json summary_json(const RunSummary& summary);

// A table with a head, a row a run; columns of less weight are left out where `width` is too small.
// Without runs: an empty text. Ends with a newline.
std::string runs_table(const std::vector<RunSummary>& runs, int width);

struct RunPage {
  bool thorough = true;  // the state of a checkpoint includes its checksums, which reads all of it
  bool config = false;   // the configuration too
  int width = 80;        // of the plot
};

// Record, last step, a plot of the losses, evaluations, checkpoints with size and state.
std::string run_page(const RunDir& run, const RunPage& page = {}, Clock& clock = system_clock());
// The same as data, with all logged losses and all of the record.
nlohmann::json run_json(const RunDir& run, bool thorough = true, Clock& clock = system_clock());

// "2 x NVIDIA T4, 1 x CPU" of a record's "devices".
std::string devices_text(const nlohmann::json& devices);

}  // namespace lockstep
