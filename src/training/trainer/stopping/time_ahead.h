// Forecasts the time of what must still happen before a quota is over, from earlier times.
#pragma once

#include "runtime/run/progress/part_times.h"
#include "training/trainer/stopping/stop.h"

#include <deque>
#include <mutex>
#include <string>

namespace lockstep {

// Rank 0 goes by it. One thread, but for `saved`.
class TimeAhead {
 public:
  // known: from earlier runs. ahead: steps that are enqueued beside the one under way.
  // evaluation_batches: an evaluation in steps' worth of samples. slow_save_s: a save before any
  // was measured. The quota outlives it.
  TimeAhead(const Quota& quota, const PartTimes& known, int ahead, double evaluation_batches,
            double slow_save_s);

  void step_took(double seconds);
  void evaluation_took(double seconds);  // or would have
  void saved(double seconds);            // any thread

  // Seconds that must be left for a step to start without being the last. They cover this step, as
  // many as are enqueued ahead, one more, and the save of a stop.
  double next_steps_s() const;
  // Seconds that an evaluation may take, so that the steps with which a request to stop travels,
  // the save of a best checkpoint and that of a stop fit behind it.
  double evaluation_limit_s() const;
  // Whether one was measured, in this start or before it: else what one takes is a guess.
  bool knows_evaluations() const { return !evaluations_s_.empty() || known_.evaluation_s > 0; }
  // "an evaluation takes about 14s, and 2s are left"; "": it fits.
  std::string no_evaluation() const;
  // Whether a save leaves time for a further one at a stop.
  bool save_fits() const;

 private:
  double longest_step_s() const;
  double evaluation_s() const;
  double save_s() const;

  const Quota& quota_;
  PartTimes known_;
  int ahead_;
  double evaluation_batches_;
  std::deque<double> steps_s_, evaluations_s_;  // the newest
  bool only_the_first_step_ = true;
  mutable std::mutex mutex_;
  bool save_is_guess_;
  double save_s_;  // the longest
};

}  // namespace lockstep
