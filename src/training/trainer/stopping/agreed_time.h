// The time that is left of a quota. Rank 0's clock decides, and all ranks agree on it.
#pragma once

#include "training/distributed/process_group.h"
#include "training/trainer/output/recorder.h"
#include "training/trainer/stopping/stop.h"
#include "training/trainer/stopping/time_ahead.h"

#include <cstdint>

namespace lockstep {

// All ranks make the same calls in the same order. Without a quota only `is_spent` sends anything.
class AgreedTime {
 public:
  // recorder: null on other ranks than 0. All arguments outlive this object.
  AgreedTime(ProcessGroup& group, const Quota& quota, const TimeAhead& ahead, Recorder* recorder);

  // Whether less than step_s of the quota is left.
  bool is_spent(double step_s) const;
  // Returns the seconds that an evaluation at this step may take. Infinite: there is no quota. 0:
  // the evaluation does not fit. Once an evaluation does not fit, judged by the measured time of an
  // earlier one, no later evaluation fits either.
  double evaluation_limit_s(std::int64_t step);
  // Call it when an evaluation took longer than its limit.
  void evaluation_given_up() { evaluations_fit_ = false; }
  // Whether a checkpoint that is due leaves enough time for the one at the end.
  bool save_fits() const;

 private:
  ProcessGroup& group_;
  const Quota& quota_;
  const TimeAhead& ahead_;
  Recorder* recorder_;
  bool evaluations_fit_ = true;  // the same on every rank
};

}  // namespace lockstep
