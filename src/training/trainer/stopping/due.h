// Decides which work is due after a step, and when training stops. Pure bookkeeping, the same on
// every rank.
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
  // quota: outlives it.
  explicit StopDecision(const Quota& quota) : quota_(quota) {}

  // Writes requests to stop into this rank's report: a signal that it got, and on rank 0 the end of
  // the quota. more_s: the time that must be left so that another step can follow.
  void ask(RankReport& report, int rank, double more_s = 0) const;
  // Takes the requests of all ranks.
  void hear(const StepResult& result);
  void stop_by_quota();
  // The run finishes before its last step, because the patience of early stopping ended.
  void finish_early(const std::string& why);
  bool stops() const { return stops_; }
  bool is_early_finish() const { return early_; }
  bool is_by_quota() const { return by_quota_; }
  const std::string& reason() const { return reason_; }  // empty while it does not stop

 private:
  const Quota& quota_;
  bool stops_ = false, early_ = false, by_quota_ = false;
  std::string reason_;
};

// Decides when checkpoints are saved: after given numbers of steps or epochs, and when rank 0's
// clock says so.
class SaveSchedule {
 public:
  SaveSchedule(const TrainOptions& options, Clock& clock, std::int64_t steps_per_epoch)
      : options_(options), clock_(clock), steps_per_epoch_(steps_per_epoch) {}

  // The time until the next checkpoint counts from now. step: the step of the checkpoint from which
  // the run continues; -1: none.
  void start(std::int64_t step);
  // On rank 0, writes into its report that the time for a checkpoint has come.
  void ask(RankReport& report, int rank) const;
  void hear(const StepResult& result);
  bool due(std::int64_t step) const;
  void saved(std::int64_t step);
  std::int64_t saved_step() const { return saved_step_; }  // -1: none

 private:
  const TrainOptions& options_;
  Clock& clock_;
  std::int64_t steps_per_epoch_;
  std::int64_t saved_step_ = -1;
  bool requested_ = false;  // rank 0's clock has asked for a save since the last one
  double saved_at_s_ = 0;
};

// every: 0 is never.
inline bool is_due(std::int64_t every, std::int64_t step) { return every > 0 && step % every == 0; }

}  // namespace lockstep
