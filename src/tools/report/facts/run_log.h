// A run's events as numbers over its training time, for comparisons.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lockstep {

struct LoggedSteps {  // since the previous logged step
  std::int64_t step = 0, steps = 0;
  double step_s = 0;
  double at_s = 0;                        // of training until this step
  bool first = false;                     // the first of a start: kernels are loaded, graphs
                                          // captured
  double data_share = 0, wait_share = 0;  // shares of that time; NaN: unknown
};

struct LoggedEval {
  std::int64_t step = 0;
  double at_s = 0;
  nlohmann::json metrics, units, better;  // objects by metric: value, unit and direction
  bool best = false;
};

// Events that resumes took back are left out. Training time excludes start-up, and the time between
// the checkpoint from which a start resumed and the end of the start before.
struct RunLog {
  std::vector<LoggedSteps> steps;
  std::vector<LoggedEval> evals;
  std::vector<std::pair<double, double>> trained;  // unix seconds: begin and end of each start
  double train_s = 0;
  nlohmann::json start, last_step, ended;  // events of the newest start, or null
  std::vector<std::int64_t> micro;         // micro-batches of steps, in the order of changes
  std::vector<std::string> precisions;     // of steps, in the order of changes
  std::vector<double> peak_flops;          // the same; 0: unknown
  std::optional<double> start_up_s;        // of the first start
  std::optional<double> peak_bytes;        // of the rank with the most, at any step
  std::int64_t step = 0;                   // finished
  int starts = 0;
  std::int64_t bad_lines = 0, not_finite = 0;  // not_finite: steps without a finite loss

  // Mean seconds per step. The first logged step of each start counts only if there is no other.
  std::optional<double> step_s() const;
  // Mean of a share over the time of all steps.
  std::optional<double> share(double LoggedSteps::*of) const;
};

// A missing file is a run without events. Throws Error if it cannot be read.
RunLog read_run_log(const std::filesystem::path& events);

}  // namespace lockstep
