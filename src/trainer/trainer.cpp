// The order of events in a run of one rank; see docs/design/trainer.md.
#include "trainer/trainer.h"

#include "base/error.h"
#include "base/text.h"
#include "engine/out_of_memory.h"
#include "engine/step_runner.h"
#include "launch/heartbeat.h"
#include "plan/interval.h"
#include "plan/words.h"
#include "run/forecast.h"
#include "trainer/checkpoints.h"
#include "trainer/contract.h"
#include "trainer/dropped_step.h"
#include "trainer/due.h"
#include "trainer/failures.h"
#include "trainer/link_speed.h"
#include "trainer/placed_model.h"
#include "trainer/profiled_steps.h"
#include "trainer/recorder.h"
#include "trainer/step_feed.h"
#include "trainer/stop.h"
#include "trainer/time_ahead.h"
#include "trainer/validation.h"

#include <ATen/ops/full.h>
#include <c10/util/Exception.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>

namespace lockstep {
namespace {

std::int64_t recomputed_blocks(const TrainerSetup& setup) {
  // All, also of a recipe that does not tell how many it has.
  if (setup.options.memory.recompute == Recompute::blocks) return all_blocks;
  return setup.plan.recomputed_blocks;
}

// What the size of buckets goes by; nothing where it is given, or must not depend on a measurement.
std::optional<KnownLink> measured_link(const TrainerSetup& setup) {
  const TrainOptions& options = setup.options;
  if (setup.group.size() == 1 || setup.backend.device().is_cpu()) return std::nullopt;
  if (options.reduce_bucket_mb > 0 || options.deterministic || options.exact) return std::nullopt;
  std::string key = cat(setup.backend.description(), " on");
  for (const Device& device : setup.plan.devices) key += cat(" ", device.uuid);
  for (char** variable = environ; *variable != nullptr; ++variable)
    if (std::string_view(*variable).starts_with("NCCL_")) key += cat(" ", *variable);
  return link_speed(setup.group, setup.backend,
                    setup.run.path().parent_path() / ".cache" / "links.json", key);
}

// Weights, two moments and an average in fp32, to a slow disk.
double slow_save_s(const ParameterStorage& storage) {
  constexpr double bytes_per_parameter = 16, bytes_per_s = 200e6;
  std::int64_t parameters = 0;
  for (const ParameterPlace& place : storage.places()) parameters += place.elements;
  return bytes_per_parameter * static_cast<double>(parameters) / bytes_per_s;
}

void check_count(const char* what, std::int64_t planned, std::int64_t now) {
  if (planned == now) return;
  throw Error(cat(what, " is ", now, ", but the run was planned for ", planned),
              "the data changed since, or the recipe's preparation counts otherwise than its data");
}

DatasetPair checked(DatasetPair data, const TrainerSetup& setup) {
  const Plan& plan = setup.plan;
  check_count("the number of training samples", plan.train_samples,
              data.train ? data.train->size() : 0);
  if (!data.train) return data;
  check_count("epoch_size() of the training data",
              plan.epoch_size > 0 ? plan.epoch_size : plan.train_samples, data.train->epoch_size());
  check_count("rows_per_sample() of the training data", plan.batch.rows_per_sample,
              data.train->rows_per_sample());
  if (!setup.measure_only)
    check_count("the number of validation samples", plan.valid_samples,
                data.valid ? data.valid->size() : 0);
  return data;
}

// The order of events. What happens in each is another file's: the step (engine/step_runner.h), its
// data (step_feed.h), when what is due (due.h), dropped steps (dropped_step.h), evaluation
// (validation.h), checkpoints (checkpoints.h), and what is written down (recorder.h).
// Members stand in the order in which they must be taken down.
class Loop {
 public:
  explicit Loop(const TrainerSetup& setup)
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
        dropped_(options_, setup.measure_only),
        saves_(options_, setup.clock, setup.plan.steps_per_epoch),
        profile_(setup),
        checkpoints_(setup, placed_, optimizer_) {
    started("model");
    data_ = checked(setup.recipe.data(), setup);
    started("data");
  }

  TrainEnd run();

 private:
  // The start-up's time until now belongs to `part`; after the first step it means nothing.
  void started(const char* part) {
    if (setup_.start_up && !first_step_done_) setup_.start_up->done(part);
  }
  int steps_ahead() const { return setup_.backend.device().is_cpu() ? 0 : 1; }
  bool at_end() const { return step_ >= setup_.plan.total_steps; }

  void restore_or_start();
  void train_steps();
  void run_step();
  void fetch();
  void end_without_data();
  void drain(std::size_t keep);
  bool all_happened();
  void on_result(const StepResult& result);
  void on_first_result(const StepResult& result);
  void tell_about_graph();
  void do_what_is_due();
  void check_weights();
  void check_buffers();
  void share_buffers();
  bool owes_evaluation();
  bool evaluate(double limit_s = std::numeric_limits<double>::infinity());
  double evaluation_limit_s();
  void foresee_predictions(double evaluation_s);
  void keep_for_predictions(double seconds, const std::string& why);
  bool save_fits();
  void lose_patience();
  void save(bool forced);
  void change_batch(const BatchPlan& batch);
  bool recover_if_dropped();
  void repeat_in_less(const StepResult& result);
  void leave_out(const StepResult& result);
  TrainEnd finish(TrainEnd end);

  const TrainerSetup& setup_;
  const TrainOptions& options_;
  std::optional<KnownLink> link_;
  StartingPoint start_;
  PlacedModel placed_;
  GradientBuffers gradients_;
  Optimizer optimizer_;
  Reducer reducer_;
  StepRunner runner_;
  DatasetPair data_;
  DroppedSteps dropped_;
  SaveSchedule saves_;
  ProfiledSteps profile_;
  std::unique_ptr<Quota> quota_;
  std::unique_ptr<StopDecision> stop_;
  std::unique_ptr<TimeAhead> ahead_;
  std::unique_ptr<Recorder> recorder_;  // rank 0
  Checkpoints checkpoints_;
  std::unique_ptr<Validation> validation_;
  std::unique_ptr<StepFeed> feed_;
  std::deque<RunningStep> running_;

  std::int64_t step_ = 0;                  // steps enqueued
  double step_begin_s_ = 0;                // when the last result came, or what followed it ended
  double wait_s_ = 0;                      // for the other ranks, since the last report
  double save_s_ = 0;                      // since the last step that was recorded
  std::vector<at::Tensor> first_buffers_;  // of exact mode, as they were when this start began
  bool first_step_done_ = false;
  bool evaluations_fit_ = true;  // into the quota; once what one took does not, none ever will
};

TrainEnd Loop::run() {
  restore_or_start();
  started(setup_.resume ? "resume" : "model");
  // A budget that earlier starts have spent but for less than a step leaves none to this one.
  const double step_s = start_.spent_s > 0 ? ahead_->next_steps_s() : 0;
  if (setup_.group.share("spent", quota_->over(step_s) ? "1" : "") == "1") stop_->stop_by_quota();
  lose_patience();
  saves_.start(saves_.saved_step());
  if (owes_evaluation() && !stop_->stops()) {
    const std::int64_t saved_step = saves_.saved_step();
    saves_.start(-1);  // a better one is saved again, with its metrics
    evaluate(evaluation_limit_s());
    if (saves_.saved_step() < 0) saves_.start(saved_step);
    started("evaluation");
  }
  if (!at_end() && !stop_->stops()) {
    feed_->start(step_, setup_.plan.batch);
    fetch();
  }
  started("data");
  checkpoints_.finish_reserving();
  do {
    train_steps();
    drain(0);
  } while (recover_if_dropped());
  const bool stopped = stop_->stops() && !stop_->is_early_finish() && !at_end();
  return finish(stopped ? TrainEnd::stopped : TrainEnd::finished);
}

void Loop::restore_or_start() {
  checkpoints_.restore_or_start(start_);
  step_ = start_.step;
  saves_.start(start_.from ? start_.step : -1);
  if (options_.exact)
    for (const NamedTensor& buffer : placed_.buffers->tensors())
      first_buffers_.push_back(buffer.tensor.clone());
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
  if (setup_.group.rank() == 0) {
    recorder_ = std::make_unique<Recorder>(setup_.run, setup_.plan, options_, setup_.clock,
                                           setup_.recipe.logged());
    if (setup_.resume) recorder_->resumed(step_, start_.from, start_.skipped);
    recorder_->started(step_, quota_->allowed_s(), setup_.backend.description());
    recorder_->parameters(step_, *placed_.storage, optimizer_.parameter_groups());
    if (!placed_.first_weights.is_null()) recorder_->first_weights(placed_.first_weights);
    if (setup_.group.size() > 1 && !options_.exact)
      recorder_->buckets(step_, placed_.storage->buckets(), link_);
  }
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

// To the end or to a stop; the last step may be under way still. On a GPU one step stays under way,
// so that the host is always ahead of the device.
void Loop::train_steps() {
  const std::size_t ahead = steps_ahead();
  step_begin_s_ = setup_.clock.now_s();
  while (!at_end() && !stop_->stops()) {
    enter_phase(Phase::data, step_ + 1);  // waits for the ranks whose data are late
    if (!feed_->has_data()) {
      end_without_data();
      continue;
    }
    run_step();
    if (!at_end()) fetch();
    drain(ahead);
    if (!recover_if_dropped())
      if (const auto share = feed_->adapt(); share && recorder_)
        recorder_->loader_threads(step_, feed_->threads(), *share);
    do {
      do_what_is_due();
    } while (recover_if_dropped());
  }
}

void Loop::run_step() {
  profile_.before_step(step_ + 1);
  RankReport report{.wait_s = std::exchange(wait_s_, 0)};
  // One slow step must not end a trial, whose quota nobody holds it to.
  const bool is_trial = setup_.trial_evaluation_s > 0;
  stop_->ask(report, setup_.group.rank(), is_trial ? 0 : ahead_->next_steps_s());
  saves_.ask(report, setup_.group.rank());
  if (is_due(options_.log.every_steps, step_ + 1)) report.memory = setup_.backend.memory();
  enter_phase(Phase::forward, step_ + 1);
  const double lr = learning_rate(setup_.plan.schedule, step_);
  running_.push_back(runner_.run(feed_->take(), lr, report));
  ++step_;
  tell_about_graph();
  if (recorder_ && options_.run.record_samples) recorder_->samples(step_, feed_->samples());
}

void Loop::fetch() {
  if (feed_->change_due(step_) && all_happened())
    if (const BatchPlan batch = feed_->take_change(step_); batch.micro != feed_->batch().micro)
      change_batch(batch);
  feed_->fetch();
}

// A rank cannot read what the next step needs. All ranks save the steps before it and throw; where
// one of these was dropped, they go back to it instead.
void Loop::end_without_data() {
  if (!all_happened()) {
    recover_if_dropped();
    return;
  }
  if (step_ > start_.step && !setup_.measure_only) save(true);
  const std::string lost = checkpoints_.finish();
  fail_without_data(setup_, feed_->failure(), lost.empty() ? saves_.saved_step() : -1);
}

void Loop::tell_about_graph() {
  if (const auto news = runner_.take_graph_news(); news && recorder_)
    recorder_->graph(step_, *news);
}

// Reads the numbers of finished steps until at most `keep` are under way.
void Loop::drain(std::size_t keep) {
  while (running_.size() > keep && !dropped_.any()) {
    on_result(running_.front().get());
    running_.pop_front();
  }
}

// Waits for the steps under way, and has their weights in place; false where one was dropped.
bool Loop::all_happened() {
  drain(0);
  runner_.settle();
  return !dropped_.any();
}

void Loop::on_result(const StepResult& result) {
  wait_s_ += result.wait_s;
  const double now_s = setup_.clock.now_s();
  ahead_->step_took(now_s - std::exchange(step_begin_s_, now_s));
  dropped_.hear(result);
  if (result.dropped) return;
  const OwnTimes times{
      .data_s = feed_->take_wait_s(), .wait_s = result.wait_s, .save_s = std::exchange(save_s_, 0)};
  if (recorder_)
    recorder_->step(result, times, learning_rate(setup_.plan.schedule, result.step - 1));
  if (!first_step_done_) on_first_result(result);
  saves_.hear(result);
  stop_->hear(result);
}

void Loop::on_first_result(const StepResult& result) {
  started("first_step");
  first_step_done_ = true;
  check_buffers();
  if (recorder_ && setup_.start_up) recorder_->start_up(result.step, *setup_.start_up);
  if (setup_.start_up && setup_.expected.after.predicts)
    keep_for_predictions(
        setup_.start_up->seconds(),
        cat("predictions take about ", format_seconds(setup_.start_up->seconds()), " to start"));
}

void Loop::do_what_is_due() {
  check_weights();
  const StepInterval evaluations = evaluation_interval(options_, setup_.plan.steps_per_epoch);
  if (evaluations.due(step_) && !stop_->stops()) evaluate(evaluation_limit_s());
  save(false);
}

// Ranks that hold different weights would go on with something that is nobody's model.
void Loop::check_weights() {
  if (!is_due(options_.check.weights_every, step_) || setup_.group.size() == 1) return;
  if (all_happened()) require_same_weights(setup_, *placed_.storage, step_);
}

// A buffer that was replaced is neither saved nor shared. In exact mode buffers must stay as they
// are: those of rank 0 tell of its own samples, which are others on another number of ranks.
void Loop::check_buffers() {
  placed_.buffers->require_in_place(placed_.model->buffers());
  for (std::size_t i = 0; i < first_buffers_.size(); ++i) {
    const NamedTensor& buffer = placed_.buffers->tensors()[i];
    if (!first_buffers_[i].equal(buffer.tensor))
      throw Error(cat("exact = true, but training changes the buffer ", buffer.name,
                      ", which follows the samples of one rank"),
                  "use a layer that keeps no statistics over samples, or set exact=false");
  }
}

// The rule for buffers, where ranks have their own: norm.keep. All ranks go on with what is kept.
void Loop::share_buffers() {
  const bool mean = options_.norm.keep == NormKeep::mean;
  placed_.buffers->share(setup_.group, mean);
  if (optimizer_.average() != nullptr) optimizer_.average()->share_buffers(setup_.group, mean);
}

// Before the first step of this start: the start before may have stopped where one was due, or
// left one out for want of time.
bool Loop::owes_evaluation() {
  if (step_ == 0) return options_.eval.at_start;
  const StepInterval evaluations = evaluation_interval(options_, setup_.plan.steps_per_epoch);
  if (evaluations.mean_steps() == 0) return false;
  const std::int64_t last = std::max<std::int64_t>(validation_->best().last_step, 0);
  for (std::int64_t step = step_; step > last; --step)
    if (evaluations.due(step)) return true;
  return false;
}

// limit_s: what it may take. Whether there is nothing more to evaluate at this step: false where
// the time is too short for it.
bool Loop::evaluate(double limit_s) {
  if (!validation_->due(step_) || !all_happened()) return true;
  if (limit_s <= 0) return false;
  check_buffers();
  share_buffers();
  const Validation::Outcome outcome = [&] {
    try {
      return validation_->run(step_, feed_->batch().micro, limit_s,
                              [this] { runner_.release_graphs(); });
    } catch (const Error& error) {
      // All save together, and otherwise only this rank may be here.
      const bool all_are_here =
          setup_.group.size() == 1 || dynamic_cast<const EvaluationFailed*>(&error) != nullptr;
      if (all_are_here && step_ > start_.step && !setup_.measure_only) {
        save(true);
        checkpoints_.finish();
      }
      throw;
    }
  }();
  step_begin_s_ = setup_.clock.now_s();
  ahead_->evaluation_took(outcome.seconds);
  if (outcome.given_up) {
    evaluations_fit_ = false;
    if (recorder_) recorder_->evaluation_given_up(step_, outcome.seconds, limit_s);
    return false;
  }
  // Rank 0 knows; all save together.
  const bool keeps_best = options_.checkpoint.keep_best && step_ > 0;
  if (keeps_best && !setup_.group.all_agree(!outcome.best)) save(true);
  foresee_predictions(outcome.seconds);
  lose_patience();
  return true;
}

// What an evaluation at this step may take, by rank 0's clock; 0: it does not fit into the quota.
double Loop::evaluation_limit_s() {
  if (quota_->allowed_s() == 0 || !validation_->due(step_))
    return std::numeric_limits<double>::infinity();
  if (!evaluations_fit_) return 0;
  const std::string why = recorder_ ? ahead_->no_evaluation() : "";
  constexpr double never = -1;
  double limit_s = std::max(ahead_->evaluation_limit_s(), 0.0);
  if (!why.empty()) {
    limit_s = ahead_->knows_evaluations() ? never : 0;
    recorder_->evaluation_left_out(step_, why);
  }
  const double agreed_s = std::stod(setup_.group.share("evaluation may take", fixed(limit_s, 3)));
  evaluations_fit_ = agreed_s != never;
  return std::max(agreed_s, 0.0);
}

// An item is taken to cost as much as a validation sample, until items were predicted.
void Loop::foresee_predictions(double evaluation_s) {
  const AfterTraining& after = setup_.expected.after;
  const double needed_s =
      prediction_s(after.items, evaluation_s, setup_.plan.valid_samples, setup_.group.size());
  if (!after.reserve_is_guess || needed_s == 0) return;
  const double start_s = setup_.start_up ? setup_.start_up->seconds() : 0;
  const double whole_s = start_s + needed_s;
  keep_for_predictions(whole_s, cat("by this evaluation predicting ", count_of(after.items, "item"),
                                    " takes about ", format_seconds(whole_s)));
}

// Only rank 0's clock counts.
void Loop::keep_for_predictions(double seconds, const std::string& why) {
  constexpr double margin = 1.15, leaving_s = 2;  // the ranks, once all is predicted
  if (recorder_ && quota_->keep_for_predictions(margin * seconds + leaving_s))
    recorder_->quota(step_, std::max(quota_->left_s(), 0.0), why);
}

// Whether a checkpoint that is due leaves time for the one at the end.
bool Loop::save_fits() {
  if (quota_->allowed_s() == 0) return true;
  return setup_.group.share("save fits", recorder_ && ahead_->save_fits() ? "1" : "") == "1";
}

// Rank 0 knows how the evaluations went; all ranks end together.
void Loop::lose_patience() {
  if (options_.stop.patience == 0 && options_.stop.patience_epochs == 0) return;
  if (setup_.measure_only || at_end()) return;
  const std::string why = validation_->out_of_patience();
  if (!setup_.group.all_agree(why.empty())) stop_->finish_early(why);
}

// All ranks come here together.
void Loop::save(bool forced) {
  if (forced ? saves_.saved_step() == step_ : !saves_.due(step_)) return;
  if (!all_happened()) return;
  if (!forced && !save_fits()) return;
  const double begin_s = setup_.clock.now_s();
  enter_phase(Phase::checkpoint);
  if (options_.norm.keep == NormKeep::mean) share_buffers();
  checkpoints_.save(step_, quota_->elapsed_s(), validation_->best(),
                    validation_->metrics_of(step_));
  saves_.saved(step_);
  step_begin_s_ = setup_.clock.now_s();
  save_s_ += step_begin_s_ - begin_s;
}

// From the next step on, after a step that changed nothing or between steps. All ranks.
void Loop::change_batch(const BatchPlan& batch) {
  runner_.reset_after_drop();
  running_.clear();
  feed_->start(step_, batch);
}

// After a step that changed nothing. All ranks come here with the same steps behind them, and
// whatever they enqueued after it changed nothing either.
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

// A rank ran out of memory: the same step again, in smaller micro-batches or keeping less of each.
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

// The loss or the gradient was not finite: what was it, and on without the step, or no further.
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

TrainEnd Loop::finish(TrainEnd end) {
  profile_.finish();
  feed_->forget_staged();
  if (end == TrainEnd::finished && !stop_->is_early_finish() && !evaluate(evaluation_limit_s())) {
    // What is left of the run is this evaluation, with which a resume begins.
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
  // A budget that was spent before this start says nothing of how long what follows may take.
  const auto& stop = options_.stop;
  const bool was_spent =
      stop.budget.seconds > 0 && start_.spent_s >= stop.budget.seconds - stop.reserve.seconds;
  std::optional<double> left_s;
  if (quota_->allowed_s() > 0 && !was_spent) left_s = quota_->left_in_all_s();
  if (recorder_)
    recorder_->ended(
        step_, {.why = why, .early = early, .by_quota = stop_->is_by_quota(), .left_s = left_s},
        runner_.graph_counts());
  return end;
}

}  // namespace

TrainEnd train(const TrainerSetup& setup) {
  setup.backend.use_training_stream();
  try {
    Loop loop(setup);
    return loop.run();
  } catch (const c10::Error& error) {
    explain_operator(setup.options, error);
    throw;
  }
}

}  // namespace lockstep
