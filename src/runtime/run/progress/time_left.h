// Estimates a run's remaining time.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

namespace lockstep {

// Takes a run's reports. A future step is estimated as the median computing time of a window of
// steps plus their mean waiting time, because data comes in bursts. Evaluations and saving cost
// what they did so far, spread over the steps between them.
class TimeLeft {
 public:
  // Training begins after `step` finished steps.
  void start(std::int64_t step);
  // Expects an evaluation after each `every` steps (0: none of these) and one at the end. Each
  // covers as many samples as `batches` steps train on (0: no evaluations). Until one was measured,
  // such a batch is assumed to cost half a step: forward without backward, in smaller chunks.
  void expect_evaluations(std::int64_t every, double batches);
  // `seconds`: time of each step since the last call; save_share of it went to saving, wait_share
  // to waiting for data or other ranks.
  void on_step(std::int64_t step, double seconds, double save_share, double wait_share = 0);
  void on_eval(std::int64_t step, double seconds);

  // Seconds from here to the end of step `total`; nothing before the first step.
  std::optional<double> seconds_left(std::int64_t total) const;

 private:
  // Expected time of the evaluations until the end of step `total`; 0 once one was measured. There
  // may be only the one at the end.
  double expected_evaluations_s(std::int64_t total, double per_step_s) const;

  std::int64_t first_step_ = 0, step_ = 0;
  std::int64_t eval_every_ = 0;
  double eval_batches_ = 0;
  struct StepTime {
    double compute_s = 0, wait_s = 0;
  };
  double typical_step_s() const;

  std::deque<StepTime> window_;
  bool only_the_first_ = true;  // the window holds only the first entry, which includes one-time
                                // work
  double save_s_ = 0;           // the sum over all steps
  std::int64_t first_eval_ = -1, last_eval_ = -1;
  double eval_s_ = 0;  // the sum over all evaluations but the first
  double first_eval_s_ = 0;
};

// "45s", "5m20s", "12m", "2h41m", "3d4h": at most two units, precise enough for planning.
std::string format_span(double seconds);

}  // namespace lockstep
