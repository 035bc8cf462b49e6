// The time that a quota leaves: rank 0's clock decides, and all ranks agree on it.
#pragma once

#include "training/distributed/process_group.h"
#include "training/trainer/output/recorder.h"
#include "training/trainer/stopping/stop.h"
#include "training/trainer/stopping/time_ahead.h"

#include <cstdint>

namespace lockstep {

// All ranks make the same calls in the same order; without a quota nothing is sent but by
// `is_spent`.
class AgreedTime {
 public:
  // recorder: null but on rank 0. All outlive it.
  AgreedTime(ProcessGroup& group, const Quota& quota, const TimeAhead& ahead, Recorder* recorder);

  // Whether less than step_s is left.
  bool is_spent(double step_s) const;
  // Seconds that an evaluation at this step may take; infinite without a quota, 0: it does not fit.
  // Once one does not fit by what an earlier one took, none does any more.
  double evaluation_limit_s(std::int64_t step);
  // One took longer than it may.
  void evaluation_given_up() { evaluations_fit_ = false; }
  // Whether a checkpoint that is due leaves time for the one at the end.
  bool save_fits() const;

 private:
  ProcessGroup& group_;
  const Quota& quota_;
  const TimeAhead& ahead_;
  Recorder* recorder_;
  bool evaluations_fit_ = true;  // the same on every rank
};

}  // namespace lockstep
