// Estimates how long a run still takes.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

namespace lockstep {

// Fed with what a run reports. A step later costs the median of what a window of steps computed and
// the mean of what they waited, because data comes in bursts. Evaluations and saving cost what they
// did until now, spread over the steps between them.
class TimeLeft {
 public:
  // Training begins after `step` finished steps.
  void start(std::int64_t step);
  // One after each `every` steps (0: none of these) and one at the end, each over as many samples
  // as `batches` steps train on (0: no evaluations). Until one was measured, such a batch is taken
  // to cost half a step: forward without backward, in smaller pieces.
  void expect_evaluations(std::int64_t every, double batches);
  // `seconds` is what each of the steps since the last call took, save_share of it for saving,
  // wait_share waiting for data or for other ranks.
  void on_step(std::int64_t step, double seconds, double save_share, double wait_share = 0);
  void on_eval(std::int64_t step, double seconds);

  // Seconds from here to the end of step `total`; nothing before the first step.
  std::optional<double> seconds_left(std::int64_t total) const;

 private:
  // What the evaluations until the end of step `total` will take, if none was measured yet, or if
  // there is only the one at the end.
  double expected_evaluations_s(std::int64_t total, double per_step_s) const;

  std::int64_t first_step_ = 0, step_ = 0;
  std::int64_t eval_every_ = 0;
  double eval_batches_ = 0;
  struct StepTime {
    double compute_s = 0, wait_s = 0;
  };
  double typical_step_s() const;

  std::deque<StepTime> window_;
  bool only_the_first_ = true;  // which holds what happens once
  double save_s_ = 0;           // of all steps
  std::int64_t first_eval_ = -1, last_eval_ = -1;
  double eval_s_ = 0;  // of all evaluations but the first
  double first_eval_s_ = 0;
};

// "45s", "5m20s", "12m", "2h41m", "3d4h": two units at most, as near as people plan by.
std::string format_span(double seconds);

}  // namespace lockstep
