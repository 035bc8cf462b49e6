// How long steps take, and how the time is spent, from one logged step to the next.
#pragma once

#include "planning/plan.h"
#include "runtime/run/curves/mean_step.h"
#include "runtime/run/curves/recent_steps.h"
#include "training/step/step_metrics.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <vector>

namespace lockstep {

// How rank 0 spent its time between the result of the previous step and that of this step. This
// interval counts as the duration of the step.
struct OwnTimes {
  double data_s = 0, wait_s = 0, save_s = 0;
};

// Uses times of rank 0's clock, which the caller passes in. One thread.
class StepTimes {
 public:
  // plan: outlives it.
  StepTimes(const Plan& plan, double now_s) : plan_(plan), begin_s_(now_s) {}

  void start(double now_s) { begin_s_ = now_s; }  // times before now_s do not count
  // Call it when a step's metrics are there.
  void add(const StepResult& result, const OwnTimes& own);
  // Leaves out time of other work, which belongs to no step.
  void leave_out(double seconds) { begin_s_ += seconds; }
  // Returns fields of the event `step`, for the time since the last call. At least one step must
  // have been added.
  nlohmann::json take(double now_s);
  // Returns fields of the event `end`, for all steps. Null if there was no step.
  nlohmann::json mean() const;

 private:
  const Plan& plan_;
  double begin_s_;  // when the steps since the last logged one began
  std::int64_t steps_ = 0;
  double full_steps_ = 0;             // the samples of these steps, as a number of full steps
  OwnTimes own_;                      // summed over these steps
  std::vector<double> rank_waits_s_;  // waiting time of each rank, summed over these steps
  RecentSteps recent_;
  MeanStep mean_;
};

}  // namespace lockstep
