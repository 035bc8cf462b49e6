// Reads a run's events as numbers over its training time, for comparisons.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lockstep {

struct LoggedSteps {  // the steps since the previous logged step
  std::int64_t step = 0, steps = 0;
  double step_s = 0;
  double at_s = 0;     // seconds of training until this step
  bool first = false;  // the first of a start, which also loads kernels and captures graphs
  double data_share = 0, wait_share = 0;  // shares of the time of these steps; NaN if unknown
};

struct LoggedEval {
  std::int64_t step = 0;
  double at_s = 0;
  // objects with the value, the unit and the better direction of each metric
  nlohmann::json metrics, units, better;
  bool best = false;
};

// The events of a run that count. If a run resumes from a step, earlier events of later steps are
// discarded. Training time excludes start-up. It also excludes the work of an earlier start after
// the checkpoint from which a later start resumed.
struct RunLog {
  std::vector<LoggedSteps> steps;
  std::vector<LoggedEval> evals;
  std::vector<std::pair<double, double>> trained;  // begin and end of each start, unix seconds
  double train_s = 0;
  nlohmann::json start, last_step, ended;  // events of the newest start, or null
  // the micro-batches with which steps were made, in the order of changes
  std::vector<std::int64_t> micro;
  std::vector<std::string> precisions;  // the precisions of the steps, in the order of changes
  // the devices' peak FLOP/s, in the order of changes; 0 if unknown
  std::vector<double> peak_flops;
  std::optional<double> start_up_s;  // start-up time of the first start
  std::optional<double> peak_bytes;  // peak memory of the rank that used most, at any step
  std::int64_t step = 0;             // the last finished step
  int starts = 0;
  std::int64_t bad_lines = 0, not_finite = 0;  // not_finite: logged steps without a finite loss

  // Returns the mean seconds per step. The first logged step of each start is left out, unless
  // there are no others.
  std::optional<double> step_s() const;
  // Returns the mean of a share over the time of all steps.
  std::optional<double> share(double LoggedSteps::*of) const;
};

// Reads the file of events. A missing file gives a run without events. Throws Error if it cannot be
// read.
RunLog read_run_log(const std::filesystem::path& events);

}  // namespace lockstep
