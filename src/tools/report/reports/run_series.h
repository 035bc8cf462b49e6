// A run's events as curves and sums, read in one pass and in bounded memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tools/report/pages/curve.h"

namespace lockstep {

struct ReadSeries {
  // weight for Curve; nothing: smooths over the last fiftieth of the logged steps
  std::optional<double> smooth{};
  std::size_t columns = 2048;  // the most per curve
};

struct NamedCurve {
  std::string name;
  Curve curve;
};

// How the time of all starts was spent, in seconds.
struct TimeShares {
  double start_up = 0, compute = 0, data = 0, wait = 0, save = 0, evaluation = 0;
  double taken_back = 0;  // steps and evaluations that a later resume discarded
  double other = 0;       // time that the events do not explain
  double total = 0;
};

struct RunSeries {
  // Numbers of "step" events by key (loss, lr, grad_norm, step_s, …), in order of first appearance.
  // Numbers that consist of parts give the curves "terms N" and "logged NAME". "memory peak" is the
  // largest over the ranks.
  std::vector<NamedCurve> steps;
  std::vector<NamedCurve> metrics;               // of evaluations, by the metric's name
  std::map<std::string, std::string> units;      // of metrics
  std::int64_t step_lines = 0, evaluations = 0;  // only events that count
  std::int64_t lines = 0, bad_lines = 0;         // lines in the file; lines that are not events
  std::int64_t taken_back = 0;                   // events that a resume took back
  double weight = 0;                             // of the smoothing
  double begin = 0, end = 0;                     // unix seconds of the first and the last event
  double trained_s = 0;                          // of all starts, without the time between them
  std::int64_t starts = 0, unknown_kinds = 0;
  TimeShares time;
  nlohmann::json last_start_up;  // from the newest start, or null
  // The first and the last events that count of each kind, in order, and their total numbers.
  std::vector<nlohmann::json> evals, checkpoints, told;  // told: warnings, faults, stops, resumes
  std::int64_t told_count = 0, checkpoint_count = 0;
  nlohmann::json best;        // the newest evaluation that was the best so far, or null
  nlohmann::json parameters;  // the newest event of that kind, or null

  const Curve* step_curve(const std::string& name) const;  // null if there is none
  const Curve* metric_curve(const std::string& name) const;
};

// Leaves out events that resumes took back, except in `time`. A missing file gives a run without
// events. Throws Error if the file cannot be read.
RunSeries read_run_series(const std::filesystem::path& events, const ReadSeries& how = {});

}  // namespace lockstep
