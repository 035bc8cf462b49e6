// Reads a run's events as curves and sums, in one pass and in bounded memory.
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
  // The smoothing weight for Curve. If it is not set, values are smoothed over the last fiftieth of
  // the logged steps.
  std::optional<double> smooth{};
  std::size_t columns = 2048;  // the largest number of columns per curve
};

struct NamedCurve {
  std::string name;
  Curve curve;
};

// How the time of all starts was spent, in seconds.
struct TimeShares {
  double start_up = 0, compute = 0, data = 0, wait = 0, save = 0, evaluation = 0;
  double taken_back = 0;  // time of steps and evaluations that a later resume discarded
  double other = 0;       // time that the events do not explain
  double total = 0;
};

struct RunSeries {
  // Curves of the numbers in "step" events, by key (loss, lr, grad_norm, step_s, …). They are in
  // the order of first appearance. Lists and objects of numbers give curves "terms N" and "logged
  // NAME". The curve "memory peak" is the largest value over the ranks.
  std::vector<NamedCurve> steps;
  std::vector<NamedCurve> metrics;           // curves of evaluations, by the metric's name
  std::map<std::string, std::string> units;  // units of metrics, by name
  // numbers of "step" events and evaluations, without discarded ones
  std::int64_t step_lines = 0, evaluations = 0;
  // number of lines in the file, and of lines that are not events
  std::int64_t lines = 0, bad_lines = 0;
  std::int64_t taken_back = 0;  // number of events that a later resume discarded
  double weight = 0;            // weight of the smoothing
  double begin = 0, end = 0;    // unix seconds of the first and the last event
  // sum of the durations of all starts, without the time between starts
  double trained_s = 0;
  std::int64_t starts = 0, unknown_kinds = 0;
  TimeShares time;
  nlohmann::json last_start_up;  // the "startup" event of the newest start, or null
  // Events that no later resume discarded, in order. If a list would be long, it holds only the
  // first and the last events. The numbers below count all of them.
  // told: warnings, faults, stops, resumes and the like
  std::vector<nlohmann::json> evals, checkpoints, told;
  std::int64_t told_count = 0, checkpoint_count = 0;
  nlohmann::json best;        // the newest evaluation that was the best so far, or null
  nlohmann::json parameters;  // the newest "parameters" event, or null

  const Curve* step_curve(const std::string& name) const;  // null if there is none
  const Curve* metric_curve(const std::string& name) const;
};

// Reads the file of events. Leaves out events that a later resume discarded, except in `time`. A
// missing file gives a run without events. Throws Error if the file cannot be read.
RunSeries read_run_series(const std::filesystem::path& events, const ReadSeries& how = {});

}  // namespace lockstep
