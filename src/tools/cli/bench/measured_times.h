// Stores the times of runs in the folder of runs, so that a plan can forecast the next run.
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

// Returns the stored times of an earlier run, or else of a trial (trial.h). That run or trial had
// the same model and batch, on the same number of devices of the same kind. The file is
// run.root/.cache/times.json; a damaged file is ignored. setup: must be planned. Returns nothing if
// no times are stored.
std::optional<MeasuredTimes> known_times(const RunSetup& setup);

// Returns how long the start-up of this recipe last took, in seconds, with any model. That start
// used the same number of devices of the same kind. Returns 0 if no start is stored.
double known_start_s(const RunSetup& setup);

// Stores the times of a run. Stores the times of a trial only if no times of a run are stored.
// Stores nothing if times.step_s is 0. Never throws, because the file is only a cache.
void remember_times(const RunSetup& setup, const MeasuredTimes& times);

// Returns the expected time to predict the items with these devices, in seconds, including the
// start-up of the ranks. It is derived from the last prediction of items with about the same bytes
// of input. The file is run.root/.cache/predictions.json. setup: must be resolved, but not yet
// prepared to predict. Returns nothing if no such prediction is stored.
std::optional<double> known_prediction_s(const RunSetup& setup, const std::vector<Device>& devices,
                                         const ItemLoad& load);
// Returns the time of one item on one rank, in seconds; 0 if unknown.
double known_item_s(const RunSetup& setup, const std::vector<Device>& devices,
                    const ItemLoad& load);

// Measures a prediction, and stores its time if all items are done.
class PredictionTimer {
 public:
  // The arguments are the same as for known_prediction_s. There may be fewer ranks than devices.
  PredictionTimer(const RunSetup& setup, const std::vector<Device>& devices, const ItemLoad& load);
  void begin(std::int64_t ranks);           // ranks: the number of launched ranks
  void on_items();                          // call it at each report of progress
  void all_done(std::int64_t items) const;  // items: number of items that were predicted now

 private:
  std::filesystem::path file_;
  std::string key_;
  double item_bytes_;
  std::int64_t ranks_ = 1;
  double begin_s_ = 0, started_s_ = 0;
};

}  // namespace lockstep::cli
