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
  double at_s = 0;  // seconds of training until this step
  // whether they are the first logged steps of a start, which also loads kernels and captures
  // graphs
  bool first = false;
  double data_share = 0, wait_share = 0;  // shares of the time of these steps; NaN if unknown
};

struct LoggedEval {
  std::int64_t step = 0;
  double at_s = 0;
  // objects with the value, the unit and the better direction ("lower" or "higher") of each metric
  nlohmann::json metrics, units, better;
  bool best = false;
};

// The events of a run that no later resume discarded. A run has a start at its beginning and at
// each resume. If a run resumes from a step, earlier events of later steps are discarded. Training
// time excludes start-up. It also excludes the work of an earlier start after the checkpoint from
// which a later start resumed.
struct RunLog {
  std::vector<LoggedSteps> steps;
  std::vector<LoggedEval> evals;
  std::vector<std::pair<double, double>> trained;  // begin and end of each start, unix seconds
  double train_s = 0;
  nlohmann::json start, last_step, ended;  // events of the newest start, or null
  // the first micro-batch size of the steps, and then each changed one
  std::vector<std::int64_t> micro;
  // the first precision of the steps, and then each changed one
  std::vector<std::string> precisions;
  // the first peak FLOP/s of the devices, and then each changed one; 0 if unknown
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

// Reads the file of events. A missing file gives a run without events. Throws Error if the file
// cannot be read.
RunLog read_run_log(const std::filesystem::path& events);

}  // namespace lockstep
