// The end of a run: the last evaluation, the last checkpoint, and the record of how the run ended.
#include "core/base/text/text.h"
#include "runtime/launch/watch/heartbeat.h"
#include "training/trainer/loop/loop.h"

namespace lockstep {

TrainEnd Loop::finish(TrainEnd end) {
  profile_.finish();
  feed_->forget_staged();
  if (end == TrainEnd::finished && !stop_->is_early_finish() && !evaluate(evaluation_limit_s())) {
    // Only this evaluation is left of the run, and a resumed run begins with it.
    stop_->stop_by_quota();
    end = TrainEnd::stopped;
  }
  if (end == TrainEnd::stopped && setup_.trial_evaluation_s > 0)
    evaluate(setup_.trial_evaluation_s);
  save(true);
  enter_phase(Phase::ending);
  // A run is not finished if its last checkpoint could not be written.
  const std::string early = stop_->is_early_finish() ? stop_->reason() : "";
  std::string why = early.empty() ? stop_->reason() : "";
  if (const std::string lost = checkpoints_.finish(); !lost.empty()) {
    if (end == TrainEnd::finished) why = early.empty() ? "the end is reached" : early;
    why += cat(", but its checkpoint could not be written: ", lost);
    end = TrainEnd::stopped;
  }
  if (end != TrainEnd::stopped) why.clear();
  if (recorder_)
    recorder_->ended(step_,
                     {.why = why,
                      .early = early,
                      .by_quota = stop_->is_by_quota(),
                      .left_s = left_for_what_follows()},
                     runner_.graph_counts());
  return end;
}

// Returns the seconds of the quota that are left after the training. Returns nothing if there is no
// limit, or if the budget was spent before this start. That budget tells nothing about the time for
// the work that follows.
std::optional<double> Loop::left_for_what_follows() const {
  const auto& stop = options_.stop;
  const bool was_spent =
      stop.budget.seconds > 0 && start_.spent_s >= stop.budget.seconds - stop.reserve.seconds;
  if (quota_->allowed_s() > 0 && !was_spent) return quota_->left_in_all_s();
  return std::nullopt;
}

}  // namespace lockstep
