// How long steps take, and where the time goes, from one logged step to the next.
#pragma once

#include "planning/plan.h"
#include "runtime/run/curves/mean_step.h"
#include "runtime/run/curves/recent_steps.h"
#include "training/step/step_metrics.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <vector>

namespace lockstep {

// Where rank 0's time went between the result of a step and that of the step before: in the very
// time that the step is then said to have taken.
struct OwnTimes {
  double data_s = 0, wait_s = 0, save_s = 0;
};

// By rank 0's clock, whose times the caller passes in. One thread.
class StepTimes {
 public:
  // plan: outlives it.
  StepTimes(const Plan& plan, double now_s) : plan_(plan), begin_s_(now_s) {}

  void start(double now_s) { begin_s_ = now_s; }  // nothing before it counts
  // A step's numbers are there.
  void add(const StepResult& result, const OwnTimes& own);
  // Something else took so long: it belongs to no step.
  void leave_out(double seconds) { begin_s_ += seconds; }
  // Fields of the event `step`, of the time since they were last taken. At least one step was
  // added.
  nlohmann::json take(double now_s);
  // Fields of the event `end`, of all steps; null where there was none.
  nlohmann::json mean() const;

 private:
  const Plan& plan_;
  double begin_s_;  // of the steps since the last logged one
  std::int64_t steps_ = 0;
  double full_steps_ = 0;             // of as many samples
  OwnTimes own_;                      // summed over them
  std::vector<double> rank_waits_s_;  // of every rank, likewise
  RecentSteps recent_;
  MeanStep mean_;
};

}  // namespace lockstep
