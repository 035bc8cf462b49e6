// The end of a run: the last evaluation and checkpoint, and how it ended.
#include "core/base/text/text.h"
#include "runtime/launch/watch/heartbeat.h"
#include "training/trainer/loop/loop.h"

namespace lockstep {

TrainEnd Loop::finish(TrainEnd end) {
  profile_.finish();
  feed_->forget_staged();
  if (end == TrainEnd::finished && !stop_->is_early_finish() && !evaluate(evaluation_limit_s())) {
    // Only this evaluation is left of the run: a resume begins with it.
    stop_->stop_by_quota();
    end = TrainEnd::stopped;
  }
  if (end == TrainEnd::stopped && setup_.trial_evaluation_s > 0)
    evaluate(setup_.trial_evaluation_s);
  save(true);
  enter_phase(Phase::ending);
  // Weights that are on no disk are not a finished run.
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

// Seconds of the quota; nothing: there is no limit. A budget that was spent before this start says
// nothing of how long what follows may take.
std::optional<double> Loop::left_for_what_follows() const {
  const auto& stop = options_.stop;
  const bool was_spent =
      stop.budget.seconds > 0 && start_.spent_s >= stop.budget.seconds - stop.reserve.seconds;
  if (quota_->allowed_s() > 0 && !was_spent) return quota_->left_in_all_s();
  return std::nullopt;
}

}  // namespace lockstep
