// Forecasts from earlier measurements the time of work that must still happen before a quota is
// spent.
#pragma once

#include "runtime/run/progress/part_times.h"
#include "training/trainer/stopping/stop.h"

#include <deque>
#include <mutex>
#include <string>

namespace lockstep {

// Rank 0 decides by these forecasts. One thread, except `saved`.
class TimeAhead {
 public:
  // known: times of earlier runs. ahead: number of steps that are enqueued in addition to the
  // running one. evaluation_batches: the samples of an evaluation, divided by those of a step.
  // slow_save_s: the assumed time of a save before one was measured. The quota outlives this
  // object.
  TimeAhead(const Quota& quota, const PartTimes& known, int ahead, double evaluation_batches,
            double slow_save_s);

  void step_took(double seconds);
  void evaluation_took(double seconds);  // also if it was given up: then the forecast
  void saved(double seconds);            // any thread

  // Seconds that must be left so that a step can start without being the last. They cover this
  // step, the steps that are enqueued ahead, one more step, and the save at a stop.
  double next_steps_s() const;
  // Seconds that an evaluation may take. Afterwards there must be time for the steps until a
  // request to stop takes effect, for the save of a best checkpoint, and for the save at a stop.
  double evaluation_limit_s() const;
  // Whether an evaluation was measured, in this start or before it. Otherwise its time is a guess.
  bool knows_evaluations() const { return !evaluations_s_.empty() || known_.evaluation_s > 0; }
  // "an evaluation takes about 14s, and 2s are left"; "": it fits.
  std::string no_evaluation() const;
  // Whether a save leaves enough time for another save at a stop.
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
