// Adapts the time that a quota (stop.after, stop.budget) reserves for predictions after training,
// when a better estimate is known.
#pragma once

#include "training/trainer/output/recorder.h"
#include "training/trainer/stopping/stop.h"
#include "training/trainer/trainer.h"

#include <cstdint>
#include <string>

namespace lockstep {

// Only rank 0 decides about time. On the other ranks, all functions do nothing.
class PredictionReserve {
 public:
  // recorder: null on ranks other than 0. All arguments must outlive this object.
  PredictionReserve(const TrainerSetup& setup, Quota& quota, Recorder* recorder)
      : setup_(setup), quota_(quota), recorder_(recorder) {}

  // Call it when the first step is done. The new estimate assumes that predictions take as long to
  // start as this run did.
  void started_up(std::int64_t step);
  // Call it after an evaluation. The new estimate assumes that an item takes as long as a
  // validation sample. The function does nothing if the time of items is known from earlier
  // predictions.
  void evaluated(std::int64_t step, double evaluation_s);

 private:
  void keep(std::int64_t step, double seconds, const std::string& why);

  const TrainerSetup& setup_;
  Quota& quota_;
  Recorder* recorder_;
};

}  // namespace lockstep
