// The start of a run. In order: the model, its weights, the clocks, the record, the data.
#include "planning/options/interval.h"
#include "training/trainer/contract.h"
#include "training/trainer/loop/loop.h"
#include "training/trainer/planned_data.h"

#include <algorithm>

namespace lockstep {
namespace {

std::int64_t recomputed_blocks(const TrainerSetup& setup) {
  // Recomputes all blocks, even if the recipe does not report how many it has.
  if (setup.options.memory.recompute == Recompute::blocks) return all_blocks;
  return setup.plan.recomputed_blocks;
}

// The time to save weights, two moments and an average in fp32 to a slow disk.
double slow_save_s(const ParameterStorage& storage) {
  constexpr double bytes_per_parameter = 16, bytes_per_s = 200e6;
  std::int64_t parameters = 0;
  for (const ParameterPlace& place : storage.places()) parameters += place.elements;
  return bytes_per_parameter * static_cast<double>(parameters) / bytes_per_s;
}

}  // namespace

Loop::Loop(const TrainerSetup& setup)
    : setup_(setup),
      options_(setup.options),
      link_(measured_link(setup)),
      start_(choose_start(setup)),
      placed_(setup, start_.from ? Placing::restored : Placing::fresh,
              setup.options.shard_optimizer, link_ ? std::optional(link_->speed) : std::nullopt),
      gradients_(*placed_.storage),
      optimizer_(options_, gradients_, placed_.buffers.get()),
      reducer_(gradients_, setup.group, options_.reduce_precision),
      runner_({.recipe = setup.recipe,
               .model = *placed_.model,
               .gradients = gradients_,
               .buffers = *placed_.buffers,
               .reducer = reducer_,
               .optimizer = optimizer_,
               .group = setup.group,
               .backend = setup.backend,
               .options = options_,
               .recomputed_blocks = recomputed_blocks(setup)}),
      buffers_(setup, placed_, optimizer_),
      dropped_(options_, setup.measure_only),
      saves_(options_, setup.clock, setup.plan.steps_per_epoch),
      profile_(setup),
      checkpoints_(setup, placed_, optimizer_) {
  started("model");
  data_ = planned_data(setup);
  started("data");
}

void Loop::started(const char* part) {
  if (setup_.start_up && !first_step_done_) setup_.start_up->done(part);
}

void Loop::start() {
  restore_or_start();
  watch_the_time();
  begin_record();
  open_parts();
  started(setup_.resume ? "resume" : "model");
  // If earlier starts left too little of the budget for the next steps, this start makes none.
  if (time_->is_spent(start_.spent_s > 0 ? ahead_->next_steps_s() : 0)) stop_->stop_by_quota();
  lose_patience();
  saves_.start(saves_.saved_step());
  if (owes_evaluation() && !stop_->stops()) make_up_for_evaluation();
  if (!at_end() && !stop_->stops()) {
    // the plan already includes the changes that are due
    if (setup_.resume) feed_->skip_changes(step_);
    feed_->start(step_, setup_.plan.batch);
    fetch();
  }
  started("data");
  checkpoints_.finish_reserving();
}

void Loop::restore_or_start() {
  checkpoints_.restore_or_start(start_);
  step_ = start_.step;
  saves_.start(start_.from ? start_.step : -1);
  buffers_.start();
}

void Loop::watch_the_time() {
  const auto& stop = options_.stop;
  quota_ = std::make_unique<Quota>(
      setup_.clock,
      QuotaLimits{.after = stop.after, .budget = stop.budget, .reserve = stop.reserve},
      start_.spent_s,
      setup_.start_up ? setup_.start_up->seconds() + setup_.start_up->earlier_s() : 0);
  stop_ = std::make_unique<StopDecision>(*quota_);
  ahead_ = std::make_unique<TimeAhead>(
      *quota_, setup_.expected.parts, steps_ahead(),
      static_cast<double>(setup_.plan.valid_samples) /
          static_cast<double>(setup_.plan.batch.global),
      setup_.trial_evaluation_s > 0 ? 0 : slow_save_s(*placed_.storage));
}

void Loop::begin_record() {
  if (setup_.group.rank() != 0) return;
  recorder_ = std::make_unique<Recorder>(setup_.run, setup_.plan, options_, setup_.clock,
                                         setup_.recipe.logged());
  if (setup_.resume) recorder_->resumed(step_, start_.from, start_.skipped);
  recorder_->started(step_, quota_->allowed_s(), setup_.backend.description());
  recorder_->parameters(step_, *placed_.storage, optimizer_.parameter_groups());
  if (!placed_.first_weights.is_null()) recorder_->first_weights(placed_.first_weights);
  if (setup_.group.size() > 1 && !options_.exact)
    recorder_->buckets(step_, *placed_.storage, setup_.backend.device().is_cuda() ? "NCCL" : "Gloo",
                       link_);
}

void Loop::open_parts() {
  time_ = std::make_unique<AgreedTime>(setup_.group, *quota_, *ahead_, recorder_.get());
  predictions_ = std::make_unique<PredictionReserve>(setup_, *quota_, recorder_.get());
  checkpoints_.open(recorder_.get(), [this](double seconds) { ahead_->saved(seconds); });
  validation_ =
      std::make_unique<Validation>(setup_, placed_, optimizer_, data_.valid, recorder_.get());
  validation_->best() = start_.best;
  if (setup_.check_contract && !setup_.measure_only && !start_.from) {
    require_contract(setup_, placed_, gradients_, data_, recorder_.get());
    started("check");
  }
  feed_ = std::make_unique<StepFeed>(setup_, data_.train, runner_);
}

// Whether an evaluation is missing before the first step of this start. The last start may have
// stopped at a step where one was due, or skipped one for lack of time.
bool Loop::owes_evaluation() {
  if (step_ == 0) return options_.eval.at_start;
  const StepInterval evaluations = evaluation_interval(options_, setup_.plan.steps_per_epoch);
  if (evaluations.mean_steps() == 0) return false;
  const std::int64_t last = std::max<std::int64_t>(validation_->best().last_step, 0);
  for (std::int64_t step = step_; step > last; --step)
    if (evaluations.due(step)) return true;
  return false;
}

void Loop::make_up_for_evaluation() {
  const std::int64_t saved_step = saves_.saved_step();
  saves_.start(-1);  // so that a better model is saved again, with its metrics
  evaluate(evaluation_limit_s());
  if (saves_.saved_step() < 0) saves_.start(saved_step);
  started("evaluation");
}

}  // namespace lockstep
