// Remembers the times of runs beside them, so that a plan can forecast the next run.
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

// Times remembered in run.root/.cache/times.json for a run, or else for a trial, of the same model
// with the same batch on as many devices of the same kind. setup: planned. A damaged file is
// ignored.
std::optional<MeasuredTimes> known_times(const RunSetup& setup);

// The time of the last start of any model of this recipe on as many devices of the same kind; 0 if
// none is remembered.
double known_start_s(const RunSetup& setup);

// Remembers a run's times; a trial's only if no run is known. A times.step_s of 0 is not
// remembered. Never throws: it is only a cache.
void remember_times(const RunSetup& setup, const MeasuredTimes& times);

// The same for predicting items with these devices, in run.root/.cache/predictions.json: the time
// of the last prediction of items of about this size, by the bytes of their inputs. setup:
// resolved, and not prepared to predict. In seconds, including the start; nothing if unknown.
std::optional<double> known_prediction_s(const RunSetup& setup, const std::vector<Device>& devices,
                                         const ItemLoad& load);
// The time of one item on one rank; 0 if unknown.
double known_item_s(const RunSetup& setup, const std::vector<Device>& devices,
                    const ItemLoad& load);

// Measures a prediction, and remembers its time if all items are done.
class PredictionTimer {
 public:
  // Arguments as for known_prediction_s. There may be fewer ranks than devices.
  PredictionTimer(const RunSetup& setup, const std::vector<Device>& devices, const ItemLoad& load);
  void begin(std::int64_t ranks);           // the number of launched ranks
  void on_items();                          // they report their progress
  void all_done(std::int64_t items) const;  // made now

 private:
  std::filesystem::path file_;
  std::string key_;
  double item_bytes_;
  std::int64_t ranks_ = 1;
  double begin_s_ = 0, started_s_ = 0;
};

}  // namespace lockstep::cli
