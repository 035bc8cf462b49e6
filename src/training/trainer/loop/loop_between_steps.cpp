// Work that may be due between two steps: comparing the ranks' weights, evaluating and saving the
// model.
#include "planning/options/interval.h"
#include "runtime/launch/watch/heartbeat.h"
#include "training/trainer/loop/failures.h"
#include "training/trainer/loop/loop.h"

namespace lockstep {

void Loop::do_what_is_due() {
  check_weights();
  const StepInterval evaluations = evaluation_interval(options_, setup_.plan.steps_per_epoch);
  if (evaluations.due(step_) && !stop_->stops()) evaluate(evaluation_limit_s());
  save(false);
}

// If ranks had different weights, they would continue with a model that no rank has.
void Loop::check_weights() {
  if (!is_due(options_.check.weights_every, step_) || setup_.group.size() == 1) return;
  if (all_happened()) require_same_weights(setup_, *placed_.storage, step_);
}

// limit_s: the time that the evaluation may take. Returns false if that was too short for an
// evaluation. Returns true if nothing is left to evaluate at this step.
bool Loop::evaluate(double limit_s) {
  if (!validation_->due(step_) || !all_happened()) return true;
  if (limit_s <= 0) return false;
  buffers_.check();
  buffers_.share();
  const Validation::Outcome outcome = run_evaluation(limit_s);
  step_begin_s_ = setup_.clock.now_s();
  ahead_->evaluation_took(outcome.seconds);
  if (outcome.given_up) {
    time_->evaluation_given_up();
    if (recorder_) recorder_->evaluation_given_up(step_, outcome.seconds, limit_s);
    return false;
  }
  // Only rank 0 knows the outcome, but all ranks must save together.
  const bool keeps_best = options_.checkpoint.keep_best && step_ > 0;
  if (keeps_best && !setup_.group.all_agree(!outcome.best)) save(true);
  predictions_->evaluated(step_, outcome.seconds);
  lose_patience();
  return true;
}

// If the evaluation fails on all ranks, they save the state of the training before they end.
Validation::Outcome Loop::run_evaluation(double limit_s) {
  try {
    return validation_->run(step_, feed_->batch().micro, limit_s,
                            [this] { runner_.release_graphs(); });
  } catch (const Error& error) {
    // All ranks must save together. With any other error, only this rank may be here.
    const bool all_are_here =
        setup_.group.size() == 1 || dynamic_cast<const EvaluationFailed*>(&error) != nullptr;
    if (all_are_here && step_ > start_.step && !setup_.measure_only) {
      save(true);
      checkpoints_.finish();
    }
    throw;
  }
}

double Loop::evaluation_limit_s() {
  if (!validation_->due(step_)) return std::numeric_limits<double>::infinity();
  return time_->evaluation_limit_s(step_);
}

// Only rank 0 knows the metrics, but all ranks must end together.
void Loop::lose_patience() {
  if (options_.stop.patience == 0 && options_.stop.patience_epochs == 0) return;
  if (setup_.measure_only || at_end()) return;
  const std::string why = validation_->out_of_patience();
  if (!setup_.group.all_agree(why.empty())) stop_->finish_early(why);
}

// All ranks must call this together.
void Loop::save(bool forced) {
  if (forced ? saves_.saved_step() == step_ : !saves_.due(step_)) return;
  if (!all_happened()) return;
  if (!forced && !time_->save_fits()) return;
  const double begin_s = setup_.clock.now_s();
  enter_phase(Phase::checkpoint);
  if (options_.norm.keep == NormKeep::mean) buffers_.share();
  checkpoints_.save(step_, quota_->elapsed_s(), validation_->best(),
                    validation_->metrics_of(step_));
  saves_.saved(step_);
  step_begin_s_ = setup_.clock.now_s();
  save_s_ += step_begin_s_ - begin_s;
}

}  // namespace lockstep
