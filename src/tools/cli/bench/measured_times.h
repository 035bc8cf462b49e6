// Remembers the times of runs in the folder of runs, so that a plan can forecast the next run.
#pragma once

#include "planning/run_setup.h"
#include "runtime/run/folder/run_dir.h"
#include "runtime/run/predictions/item_work.h"
#include "runtime/run/progress/forecast.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::cli {

// Times of an earlier run, or else of a trial, with the same model and batch on as many devices of
// the same kind. They are remembered in run.root/.cache/times.json. setup: planned. A damaged file
// is ignored.
std::optional<MeasuredTimes> known_times(const RunSetup& setup);

// How long the last start took, with any model of this recipe, on as many devices of the same kind.
// 0 if none is remembered.
double known_start_s(const RunSetup& setup);

// Remembers a run's times. Remembers a trial's times only if no run is known. A times.step_s of 0
// is not remembered. Never throws: it is only a cache.
void remember_times(const RunSetup& setup, const MeasuredTimes& times);

// The time, in seconds and with the start, for predicting items with these devices. It comes from
// the last prediction of items of about this size (by the bytes of their inputs), as remembered in
// run.root/.cache/predictions.json. setup: resolved, and not prepared to predict. Nothing if
// unknown.
std::optional<double> known_prediction_s(const RunSetup& setup, const std::vector<Device>& devices,
                                         const ItemLoad& load);
// The time of one item on one rank; 0 if unknown.
double known_item_s(const RunSetup& setup, const std::vector<Device>& devices,
                    const ItemLoad& load);

// Measures a prediction, and remembers its time if all items are done.
class PredictionTimer {
 public:
  // The arguments are those of known_prediction_s. There may be fewer ranks than devices.
  PredictionTimer(const RunSetup& setup, const std::vector<Device>& devices, const ItemLoad& load);
  void begin(std::int64_t ranks);           // the number of launched ranks
  void on_items();                          // call it when the items report their progress
  void all_done(std::int64_t items) const;  // made now

 private:
  std::filesystem::path file_;
  std::string key_;
  double item_bytes_;
  std::int64_t ranks_ = 1;
  double begin_s_ = 0, started_s_ = 0;
};

}  // namespace lockstep::cli
