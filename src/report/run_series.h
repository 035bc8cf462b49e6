// A run's events as curves and sums, read in one pass and in bounded memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "report/curve.h"

namespace lockstep {

struct ReadSeries {
  // As Curve takes it; nothing: over the last fiftieth of the logged steps.
  std::optional<double> smooth{};
  std::size_t columns = 2048;  // of a curve, at most
};

struct NamedCurve {
  std::string name;
  Curve curve;
};

// What the time of all starts went into, in seconds.
struct TimeShares {
  double start_up = 0, compute = 0, data = 0, wait = 0, save = 0, evaluation = 0;
  double taken_back = 0;  // steps and evaluations that a later resume did not keep
  double other = 0;       // what the events do not tell
  double total = 0;
};

struct RunSeries {
  // loss, lr, grad_norm, step_s, …: the numbers of "step" events by their keys, in the order in
  // which they came; "terms N" and "logged NAME" of those that have parts, "memory peak" the
  // largest.
  std::vector<NamedCurve> steps;
  std::vector<NamedCurve> metrics;               // of evaluations, by the name of the metric
  std::map<std::string, std::string> units;      // of metrics
  std::int64_t step_lines = 0, evaluations = 0;  // that count
  std::int64_t lines = 0, bad_lines = 0;         // in the file; those that are no events
  std::int64_t taken_back = 0;                   // events that a resume took back
  double weight = 0;                             // of the smoothing
  double begin = 0, end = 0;                     // unix seconds of the first and the last event
  double trained_s = 0;                          // of all starts, without what lay between them
  std::int64_t starts = 0, unknown_kinds = 0;
  TimeShares time;
  nlohmann::json last_start_up;  // of the newest start, or null
  // The first and the last of each that count, in order, and how many there are.
  std::vector<nlohmann::json> evals, checkpoints, told;  // told: warnings, faults, stops, resumes
  std::int64_t told_count = 0, checkpoint_count = 0;
  nlohmann::json best;        // the newest evaluation that was the best so far, or null
  nlohmann::json parameters;  // the newest of that kind, or null

  const Curve* step_curve(const std::string& name) const;  // null: there is none
  const Curve* metric_curve(const std::string& name) const;
};

// What resumes took back is left out, but for `time`. A missing file is a run without events.
// Throws Error where it cannot be read.
RunSeries read_run_series(const std::filesystem::path& events, const ReadSeries& how = {});

}  // namespace lockstep
