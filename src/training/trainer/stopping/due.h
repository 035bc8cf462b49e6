// Decides when training stops and when checkpoints are due. The decisions are the same on every
// rank.
#pragma once

#include "core/base/clock.h"
#include "planning/options/train_options.h"
#include "training/step/step_metrics.h"
#include "training/trainer/stopping/stop.h"

#include <cstdint>
#include <string>

namespace lockstep {

// Decides whether training stops, and why.
class StopDecision {
 public:
  // `quota` must outlive this object.
  explicit StopDecision(const Quota& quota) : quota_(quota) {}

  // Writes this rank's requests to stop into its report. Every rank requests a stop if it got a
  // signal. Rank 0 also requests a stop if the quota is spent or has less than more_s seconds left.
  // more_s: the time that must be left so that another step can follow.
  void ask(RankReport& report, int rank, double more_s = 0) const;
  // Takes the requests of all ranks from a step's result.
  void hear(const StepResult& result);
  void stop_by_quota();
  // Finishes the run before its last step, because evaluations stopped improving (stop.patience).
  void finish_early(const std::string& why);
  bool stops() const { return stops_; }
  bool is_early_finish() const { return early_; }
  bool is_by_quota() const { return by_quota_; }
  const std::string& reason() const { return reason_; }  // empty until stops() is true

 private:
  const Quota& quota_;
  bool stops_ = false, early_ = false, by_quota_ = false;
  std::string reason_;
};

// Decides when checkpoints are saved: after certain numbers of steps or epochs, and after a certain
// time on rank 0's clock.
class SaveSchedule {
 public:
  SaveSchedule(const TrainOptions& options, Clock& clock, std::int64_t steps_per_epoch)
      : options_(options), clock_(clock), steps_per_epoch_(steps_per_epoch) {}

  // Starts to measure the time until the next checkpoint. step: the step of the checkpoint from
  // which the run continues, or -1 if there is no such checkpoint.
  void start(std::int64_t step);
  // On rank 0, requests a checkpoint in the report if checkpoint.every has passed since the last
  // one.
  void ask(RankReport& report, int rank) const;
  void hear(const StepResult& result);
  bool due(std::int64_t step) const;
  void saved(std::int64_t step);
  std::int64_t saved_step() const { return saved_step_; }  // -1 if there is no checkpoint

 private:
  const TrainOptions& options_;
  Clock& clock_;
  std::int64_t steps_per_epoch_;
  std::int64_t saved_step_ = -1;
  bool requested_ = false;  // rank 0 has requested a checkpoint since the last one
  double saved_at_s_ = 0;
};

// Whether `step` is a multiple of `every`. Returns false if `every` is 0.
inline bool is_due(std::int64_t every, std::int64_t step) { return every > 0 && step % every == 0; }

}  // namespace lockstep
