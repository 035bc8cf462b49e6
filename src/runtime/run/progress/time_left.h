// Estimates the remaining time of a run.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

namespace lockstep {

// Receives the run's events, and estimates the remaining time. The time of a future step is
// estimated from the last 101 logged times. It is their median computing time plus their mean
// waiting time. The mean is needed because data arrives in bursts. Evaluations and saves are
// expected to take as long as before. Their time is spread over the steps between them.
class TimeLeft {
 public:
  // Forgets all events. Training begins after `step` finished steps.
  void start(std::int64_t step);
  // Announces evaluations after each `every` steps and at the end; 0 = only at the end. batches:
  // the size of an evaluation, in global batches; 0 = there are no evaluations. Until an evaluation
  // is measured, each batch is assumed to take a third of a step, because it has no backward pass.
  void expect_evaluations(std::int64_t every, double batches);
  // seconds: the mean time of the steps since the last call. save_share: the share of this time
  // that was used for saving. wait_share: the share that was spent waiting for data or other ranks.
  void on_step(std::int64_t step, double seconds, double save_share, double wait_share = 0);
  void on_eval(std::int64_t step, double seconds);

  // Returns the seconds from now to the end of step `total`. Nothing before the first call of
  // on_step.
  std::optional<double> seconds_left(std::int64_t total) const;

 private:
  // The expected time of all evaluations until the end of step `total`. 0 if an evaluation was
  // measured after a step, because its time is then part of the time per step.
  double expected_evaluations_s(std::int64_t total, double per_step_s) const;

  std::int64_t first_step_ = 0, step_ = 0;
  std::int64_t eval_every_ = 0;
  double eval_batches_ = 0;
  struct StepTime {
    double compute_s = 0, wait_s = 0;
  };
  double typical_step_s() const;

  std::deque<StepTime> window_;
  // whether the window has only the first entry, which includes one-time work
  bool only_the_first_ = true;
  double save_s_ = 0;  // sum over all steps
  std::int64_t first_eval_ = -1, last_eval_ = -1;
  double eval_s_ = 0;  // sum over all evaluations except the first
  double first_eval_s_ = 0;
};

// "45s", "5m20s", "12m", "2h41m", "3d4h": at most two units, precise enough for planning.
std::string format_span(double seconds);

}  // namespace lockstep
