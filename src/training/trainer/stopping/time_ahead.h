// Forecasts the time of work that must be done before a quota (stop.after, stop.budget) is spent,
// from earlier measurements.
#pragma once

#include "runtime/run/progress/part_times.h"
#include "training/trainer/stopping/stop.h"

#include <deque>
#include <mutex>
#include <string>

namespace lockstep {

// Rank 0 uses these forecasts for decisions. All calls except `saved` must come from one thread.
class TimeAhead {
 public:
  // `quota` must outlive this object.
  //   known: times that were measured in earlier runs
  //   ahead: the number of steps that are enqueued in addition to the running one
  //   evaluation_batches: the samples of an evaluation, divided by the samples of a step
  //   slow_save_s: the assumed time of a save until a save is measured
  TimeAhead(const Quota& quota, const PartTimes& known, int ahead, double evaluation_batches,
            double slow_save_s);

  void step_took(double seconds);
  void evaluation_took(double seconds);  // pass the forecast if the evaluation was given up
  void saved(double seconds);            // may be called on any thread

  // The seconds that must be left so that training can continue. These seconds cover the running
  // step, the steps enqueued in addition, one more step, and the save at a stop.
  double next_steps_s() const;
  // Seconds that an evaluation may take. After the evaluation, there must be time for the steps
  // until a stop takes effect. There must also be time for two saves: the save of a best
  // checkpoint, and the save at the stop.
  double evaluation_limit_s() const;
  // Whether the time of an evaluation was measured, in this process or in an earlier run. If it was
  // not, forecasts guess it from the time of steps.
  bool knows_evaluations() const { return !evaluations_s_.empty() || known_.evaluation_s > 0; }
  // Returns "" if an evaluation fits. If it does not fit, returns the reason, such as "an
  // evaluation takes about 14s, and 2s are left".
  std::string no_evaluation() const;
  // Whether a save now leaves enough time for one more step and the save at a stop.
  bool save_fits() const;

 private:
  double longest_step_s() const;
  double evaluation_s() const;
  double save_s() const;

  const Quota& quota_;
  PartTimes known_;
  int ahead_;
  double evaluation_batches_;
  std::deque<double> steps_s_, evaluations_s_;  // the last few measurements
  bool only_the_first_step_ = true;
  mutable std::mutex mutex_;
  bool save_is_guess_;
  double save_s_;  // the longest save so far, or a guess
};

}  // namespace lockstep
