// Measures how long steps take and how the time is spent, from one logged step to the next.
#pragma once

#include "planning/plan.h"
#include "runtime/run/curves/mean_step.h"
#include "runtime/run/curves/recent_steps.h"
#include "training/step/step_metrics.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <vector>

namespace lockstep {

// The time within a step that rank 0 did not spend on computing. A step's time lasts from the
// result of the previous step to its own result.
//   data_s: waiting for data
//   wait_s: waiting for other ranks
//   save_s: saving a checkpoint
struct OwnTimes {
  double data_s = 0, wait_s = 0, save_s = 0;
};

// The caller passes in times of rank 0's clock. All calls must come from one thread.
class StepTimes {
 public:
  // `plan` must outlive this object.
  StepTimes(const Plan& plan, double now_s) : plan_(plan), begin_s_(now_s) {}

  void start(double now_s) { begin_s_ = now_s; }  // the time before now_s belongs to no step
  // Call it when a step's metrics are on the host.
  void add(const StepResult& result, const OwnTimes& own);
  // Leaves out time that was spent on work other than steps, such as an evaluation.
  void leave_out(double seconds) { begin_s_ += seconds; }
  // Returns fields of the event `step`, for the steps since the last call. At least one step must
  // have been added.
  nlohmann::json take(double now_s);
  // Returns fields of the event `end`, for all steps. The fields are null if there was no step.
  nlohmann::json mean() const;

 private:
  const Plan& plan_;
  double begin_s_;  // when the first step after the last `take` began
  std::int64_t steps_ = 0;
  double full_steps_ = 0;             // samples of these steps / samples of a full step
  OwnTimes own_;                      // summed over these steps
  std::vector<double> rank_waits_s_;  // the waiting time of each rank, summed over these steps
  RecentSteps recent_;
  MeanStep mean_;
};

}  // namespace lockstep
