// Repeats or skips steps that changed nothing. Ends the run if a rank has no data for a step.
#include "backends/out_of_memory.h"
#include "training/trainer/loop/failures.h"
#include "training/trainer/loop/loop.h"

namespace lockstep {

// Recovers after a step that changed nothing. All ranks get here after the same steps. Steps that
// they enqueued later changed nothing either.
bool Loop::recover_if_dropped() {
  if (!dropped_.any()) return false;
  const StepResult result = dropped_.take();
  step_ = result.step - 1;
  if (result.not_finite)
    leave_out(result);
  else
    repeat_in_less(result);
  if (!at_end()) fetch();
  return true;
}

// A rank ran out of memory. Repeats the step with smaller micro-batches, or recomputes blocks to
// keep fewer activations.
void Loop::repeat_in_less(const StepResult& result) {
  const BatchPlan before = feed_->batch();
  const auto smaller = dropped_.smaller(before);
  const bool recomputes = !smaller && dropped_.recomputes_now();
  if (!smaller && !recomputes)
    fail_out_of_memory(setup_, before, result, runner_.out_of_memory_text());
  if (recomputes) runner_.recompute_all_blocks();
  change_batch(smaller.value_or(before));
  if (recorder_) recorder_->repeats_in_less(step_, result, before, smaller.value_or(before));
}

// The loss or the gradient was not finite. Finds out which value it was, then skips the step or
// ends the run.
void Loop::leave_out(const StepResult& result) {
  const BatchPlan batch = feed_->batch();
  change_batch(batch);
  std::vector<std::int64_t> samples;
  NotFinite own;
  try {
    own = runner_.find_not_finite(feed_->fetch_apart(samples));
  } catch (const std::exception& error) {
    if (!is_out_of_memory(error)) throw;
  }
  nlohmann::json event = describe_not_finite(setup_, batch, result, own, samples);
  const bool in_weights = event.at("in_weights").get<bool>();
  const bool goes_on = dropped_.goes_on_without(in_weights);
  event["action"] = goes_on ? "skip" : "stop";
  if (recorder_) recorder_->not_finite(event);
  if (!goes_on) {
    if (!in_weights && !setup_.measure_only) save(true);
    const std::string lost = checkpoints_.finish();
    fail_not_finite(event, lost.empty() ? saves_.saved_step() : -1);
  }
  step_ = result.step;
  change_batch(batch);
}

// Uses `batch` from the next step on. All ranks call it, after a step that changed nothing or
// between steps.
void Loop::change_batch(const BatchPlan& batch) {
  runner_.reset_after_drop();
  running_.clear();
  feed_->start(step_, batch);
}

// Ends the run if a rank cannot read the data of the next step. All ranks save the state after the
// last step and throw. If one of the steps in progress was dropped, all ranks go back to that step
// instead.
void Loop::end_without_data() {
  if (!all_happened()) {
    recover_if_dropped();
    return;
  }
  if (step_ > start_.step && !setup_.measure_only) save(true);
  const std::string lost = checkpoints_.finish();
  fail_without_data(setup_, feed_->failure(), lost.empty() ? saves_.saved_step() : -1);
}

}  // namespace lockstep
