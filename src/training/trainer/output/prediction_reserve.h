// Adapts the time that a quota keeps for predictions after training, as more becomes known about
// them.
#pragma once

#include "training/trainer/output/recorder.h"
#include "training/trainer/stopping/stop.h"
#include "training/trainer/trainer.h"

#include <cstdint>
#include <string>

namespace lockstep {

// Only rank 0's clock counts, so the other ranks do nothing.
class PredictionReserve {
 public:
  // recorder: null on other ranks than 0. All arguments outlive this object.
  PredictionReserve(const TrainerSetup& setup, Quota& quota, Recorder* recorder)
      : setup_(setup), quota_(quota), recorder_(recorder) {}

  // Call it when the first step is done. Predictions are expected to take as long to start as this
  // start did.
  void started_up(std::int64_t step);
  // Call it after an evaluation. An item is assumed to cost as much as a validation sample, until
  // items of about its size were predicted: an episode of many images costs more than an image.
  void evaluated(std::int64_t step, double evaluation_s);

 private:
  void keep(std::int64_t step, double seconds, const std::string& why);

  const TrainerSetup& setup_;
  Quota& quota_;
  Recorder* recorder_;
};

}  // namespace lockstep
