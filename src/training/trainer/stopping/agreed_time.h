// Decides by rank 0's clock whether work still fits into a quota. All ranks get the same decision.
#pragma once

#include "training/distributed/process_group.h"
#include "training/trainer/output/recorder.h"
#include "training/trainer/stopping/stop.h"
#include "training/trainer/stopping/time_ahead.h"

#include <cstdint>

namespace lockstep {

// All ranks make the same calls in the same order. Without a quota, only is_spent communicates.
class AgreedTime {
 public:
  // recorder: null on ranks other than 0. All arguments must outlive this object.
  AgreedTime(ProcessGroup& group, const Quota& quota, const TimeAhead& ahead, Recorder* recorder);

  // Whether the quota is spent or has less than step_s seconds left.
  bool is_spent(double step_s) const;
  // Returns the seconds that an evaluation at this step may take. The result is infinite if there
  // is no quota, and 0 if the evaluation does not fit. If an evaluation does not fit by the
  // measured time of an earlier one, the result is 0 from then on.
  double evaluation_limit_s(std::int64_t step);
  // Call it when an evaluation was given up. From then on no evaluation fits.
  void evaluation_given_up() { evaluations_fit_ = false; }
  // Whether a save now leaves enough time for the save at the end of training.
  bool save_fits() const;

 private:
  ProcessGroup& group_;
  const Quota& quota_;
  const TimeAhead& ahead_;
  Recorder* recorder_;
  bool evaluations_fit_ = true;  // has the same value on every rank
};

}  // namespace lockstep
