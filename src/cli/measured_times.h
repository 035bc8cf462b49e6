// What runs took is remembered beside them, so that a plan can say how long the next one takes.
#pragma once

#include "plan/run_setup.h"
#include "run/forecast.h"
#include "run/run_dir.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::cli {

// What is remembered in run.root/.cache/times.json of a run, or else of a trial, of the same model
// with the same batch on as many devices of the same kind. setup: planned. A damaged file is
// ignored.
std::optional<MeasuredTimes> known_times(const RunSetup& setup);

// What the last start of any model of this recipe took on as many devices of the same kind; 0: none
// is remembered.
double known_start_s(const RunSetup& setup);

// Remembers what a run took; of a trial only where no run is known. times.step_s 0 is nothing to
// remember. Never throws: it is only a cache.
void remember_times(const RunSetup& setup, const MeasuredTimes& times);

// Likewise of predicting so many items with these devices, in run.root/.cache/predictions.json.
// setup: resolved, and not prepared to predict. Seconds with the start; nothing: not known.
std::optional<double> known_prediction_s(const RunSetup& setup, const std::vector<Device>& devices,
                                         std::int64_t items);
// The time of one item on one rank; 0: not known.
double known_item_s(const RunSetup& setup, const std::vector<Device>& devices);

// What the command that predicts measures, and remembers if it did all of its items.
class PredictionTimer {
 public:
  // As known_prediction_s has them. There may be fewer ranks than devices.
  PredictionTimer(const RunSetup& setup, const std::vector<Device>& devices);
  void begin(std::int64_t ranks);  // so many are launched
  void on_items();                 // they say how far they are
  void all_done(std::int64_t items) const;

 private:
  std::filesystem::path file_;
  std::string key_;
  std::int64_t ranks_ = 1;
  double begin_s_ = 0, started_s_ = 0;
};

}  // namespace lockstep::cli
