// Decides by rank 0's clock whether work still fits into a quota (stop.after, stop.budget). All
// ranks get the same decision.
#pragma once

#include "training/distributed/process_group.h"
#include "training/trainer/output/recorder.h"
#include "training/trainer/stopping/stop.h"
#include "training/trainer/stopping/time_ahead.h"

#include <cstdint>

namespace lockstep {

// All ranks make the same calls in the same order. Without a quota, only is_spent communicates with
// the other ranks.
class AgreedTime {
 public:
  // recorder: null on ranks other than 0. All arguments must outlive this object.
  AgreedTime(ProcessGroup& group, const Quota& quota, const TimeAhead& ahead, Recorder* recorder);

  // Whether the quota is spent or has less than step_s seconds left.
  bool is_spent(double step_s) const;
  // Returns the seconds that an evaluation at this step may take. The result is infinite if there
  // is no quota, and 0 if the evaluation does not fit. If an evaluation does not fit and the time
  // of an earlier evaluation is known, all later calls return 0 too.
  double evaluation_limit_s(std::int64_t step);
  // Call it when an evaluation was given up. Later calls of evaluation_limit_s then return 0 if
  // there is a quota.
  void evaluation_given_up() { evaluations_fit_ = false; }
  // Whether a save now leaves enough time for one more step and for the save at the end of
  // training.
  bool save_fits() const;

 private:
  ProcessGroup& group_;
  const Quota& quota_;
  const TimeAhead& ahead_;
  Recorder* recorder_;
  bool evaluations_fit_ = true;  // has the same value on every rank
};

}  // namespace lockstep
