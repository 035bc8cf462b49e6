// Estimates the remaining time of a run.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

namespace lockstep {

// The estimate. It receives the run's events. A future step is estimated from a window of steps, as
// the median of their computing time plus the mean of their waiting time. The mean is needed
// because data comes in bursts. Evaluations and saves are expected to take as long as before. Their
// time is spread over the steps between them.
class TimeLeft {
 public:
  // Training begins after `step` finished steps.
  void start(std::int64_t step);
  // Announces evaluations after each `every` steps and at the end; 0 = only at the end. Each
  // evaluation costs as many passes as `batches` steps of training; 0 = there are no evaluations.
  // Until an evaluation is measured, each of these batches is assumed to take a third of a step,
  // because it has no backward pass.
  void expect_evaluations(std::int64_t every, double batches);
  // seconds: the mean time of the steps since the last call. save_share: the share of it that was
  // used for saving. wait_share: the share of waiting for data or other ranks.
  void on_step(std::int64_t step, double seconds, double save_share, double wait_share = 0);
  void on_eval(std::int64_t step, double seconds);

  // Seconds from now to the end of step `total`. Nothing before the first step.
  std::optional<double> seconds_left(std::int64_t total) const;

 private:
  // The expected time of all evaluations until the end of step `total`. 0 once an evaluation was
  // measured after the first step.
  double expected_evaluations_s(std::int64_t total, double per_step_s) const;

  std::int64_t first_step_ = 0, step_ = 0;
  std::int64_t eval_every_ = 0;
  double eval_batches_ = 0;
  struct StepTime {
    double compute_s = 0, wait_s = 0;
  };
  double typical_step_s() const;

  std::deque<StepTime> window_;
  // the window holds only the first entry, which includes one-time work
  bool only_the_first_ = true;
  double save_s_ = 0;  // sum over all steps
  std::int64_t first_eval_ = -1, last_eval_ = -1;
  double eval_s_ = 0;  // sum over all evaluations except the first
  double first_eval_s_ = 0;
};

// "45s", "5m20s", "12m", "2h41m", "3d4h": at most two units, precise enough for planning.
std::string format_span(double seconds);

}  // namespace lockstep
