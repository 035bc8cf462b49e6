// The loop; see docs/design/engine.md.
#include "trainer/trainer.h"

#include "base/error.h"
#include "base/text.h"
#include "checkpoint/snapshot.h"
#include "engine/evaluator.h"
#include "engine/out_of_memory.h"
#include "engine/profile.h"
#include "engine/step.h"
#include "launch/breadcrumbs.h"
#include "plan/micro_batches.h"
#include "plan/precision.h"
#include "run/checkpoint_index.h"
#include "run/lines.h"
#include "trainer/failures.h"
#include "trainer/link_speed.h"
#include "trainer/placed_model.h"
#include "trainer/recorder.h"
#include "trainer/stop.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <c10/util/Exception.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>

namespace lockstep {
namespace {

std::int64_t recomputed_blocks(const TrainerSetup& setup) {
  // All, also of a recipe that does not tell how many it has.
  if (setup.options.memory.recompute == Recompute::blocks)
    return std::numeric_limits<std::int64_t>::max();
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

// The loop's state, in the order in which it must be taken down.
class Loop {
 public:
  explicit Loop(const TrainerSetup& setup)
      : setup_(setup),
        options_(setup.options),
        link_(measured_link(setup)),
        placed_(setup, setup.options.shard_optimizer,
                link_ ? std::optional(link_->speed) : std::nullopt),
        optimizer_(options_, *placed_.arena),
        reducer_(*placed_.arena, setup.group, options_.reduce_precision),
        runner_(setup.recipe, *placed_.model, *placed_.arena, reducer_, optimizer_, setup.group,
                setup.backend, options_, recomputed_blocks(setup)),
        batch_(setup.plan.batch),
        changes_(parse_micro_changes(options_.batch.micro_changes, "batch.micro_changes")) {
    started("model");
    data_ = setup.recipe.data();
    started("data");
    if (!data_.train || data_.train->size() != setup.plan.train_samples)
      throw Error(cat("the training data must have ", setup.plan.train_samples,
                      " samples, but has ", data_.train ? data_.train->size() : 0),
                  "the data changed since the run was planned");
  }

  TrainEnd run();

 private:
  Trained trained() { return {*placed_.arena, &optimizer_, placed_.buffers}; }
  // The start-up's time until now belongs to `part`; after the first step it means nothing.
  void started(const char* part) {
    if (setup_.start_up && !started_) setup_.start_up->done(part);
  }
  void restore_or_start();
  void stop_if_nothing_is_left();
  // The rule for buffers: rank 0's count; all ranks evaluate and go on with them.
  void share_buffers() {
    for (const NamedTensor& buffer : placed_.buffers) setup_.group.broadcast(buffer.tensor, 0);
  }
  void check_weights();
  void remember_buffers();
  void check_buffers();
  void make_loader();
  StagedStep fetch();
  void change_micro_batch(const BatchPlan& batch);
  void follow_micro_changes();
  bool recover_if_dropped();
  void repeat_in_smaller(const StepResult& result);
  void leave_out(const StepResult& result);
  void run_step();
  void drain(std::size_t keep);
  bool all_happened();
  void on_result(StepRunner::Running& running);
  void adapt_loader();
  void tell_about_graph();
  void profile_if_asked();
  void finish_profile();
  void evaluate_now();
  bool record(const Evaluation& evaluation, double seconds);
  bool of_rank_0(bool decision);
  void save(bool forced);
  bool save_due() const;
  void write_checkpoint();
  void train_steps();
  TrainEnd finish(TrainEnd end);

  const TrainerSetup& setup_;
  const TrainOptions& options_;
  std::optional<KnownLink> link_;
  PlacedModel placed_;
  Optimizer optimizer_;
  Reducer reducer_;
  StepRunner runner_;
  DatasetPair data_;
  std::unique_ptr<Quota> quota_;
  std::unique_ptr<Recorder> recorder_;      // rank 0
  std::unique_ptr<CheckpointSaver> saver_;  // rank 0
  std::unique_ptr<Loader> loader_;
  std::optional<StagedStep> staged_;
  std::vector<at::Tensor> first_buffers_;     // of exact mode, as they were when this start began
  std::vector<std::int64_t> staged_samples_;  // of all ranks, with run.record_samples
  std::deque<StepRunner::Running> running_;

  BatchPlan batch_;                   // as it is now
  std::vector<MicroChange> changes_;  // asked for
  std::int64_t eval_batch_ = 0;       // 0: as the options say
  // The first step that was dropped or not finite, until all ranks have recovered.
  std::optional<StepResult> dropped_;
  int not_finite_in_a_row_ = 0;

  std::int64_t step_ = 0;  // steps enqueued
  std::int64_t saved_step_ = -1, evaluated_step_ = -1;
  bool save_wished_ = false;  // by rank 0's clock; the same on every rank
  double saved_at_s_ = 0;
  double wait_s_ = 0;               // since the last report
  double data_s_ = 0, save_s_ = 0;  // since the last step that was recorded
  double window_data_s_ = 0, window_begin_s_ = 0;
  std::int64_t window_steps_ = 0, loader_threads_ = 0;
  bool told_about_graph_ = false, started_ = false;
  std::optional<Profile> profile_;
  bool stop_ = false;
  std::string stop_reason_;
  nlohmann::json metrics_;  // of the last evaluation
  std::optional<double> best_;
};

// In exact mode: rank 0's buffers tell of its own samples, which are others on another number of
// ranks, so training must leave them as they are.
void Loop::remember_buffers() {
  if (!options_.exact) return;
  for (const NamedTensor& buffer : placed_.buffers) first_buffers_.push_back(buffer.tensor.clone());
}

// Ranks that hold different weights would go on with something that is nobody's model.
void Loop::check_weights() {
  const std::int64_t every = options_.check.weights_every;
  if (every == 0 || step_ % every != 0 || setup_.group.size() == 1) return;
  if (all_happened()) require_same_weights(setup_, *placed_.arena, step_);
}

void Loop::check_buffers() {
  for (std::size_t i = 0; i < first_buffers_.size(); ++i)
    if (!first_buffers_[i].equal(placed_.buffers[i].tensor))
      throw Error(cat("exact = true, but training changes the buffer ", placed_.buffers[i].name,
                      ", which follows the samples of one rank"),
                  "use a layer that keeps no statistics over samples, or set exact=false");
}

void Loop::restore_or_start() {
  double spent_s = 0;
  std::vector<CheckpointInfo> skipped;
  std::optional<CheckpointInfo> from;
  if (setup_.resume) from = choose_checkpoint(setup_.run, setup_.group, false, skipped);
  if (from) {
    const nlohmann::json state = restore(*from, trained());
    check_grain(state, setup_.plan);
    const std::string precision = precision_word(options_.precision);
    if (text_or(state, "precision", precision) != precision) optimizer_.restart_loss_scale();
    step_ = state.at("step").get<std::int64_t>();
    spent_s = state.value("elapsed_s", 0.0);
    if (state.contains("best") && state["best"].is_number()) best_ = state["best"].get<double>();
    saved_step_ = step_;
  } else {
    // Where ranks share the update, rank 0's first weights were shared before the arena was made.
    if (placed_.arena->sharing() == nullptr) setup_.group.broadcast(placed_.arena->master(), 0);
    share_buffers();
    placed_.arena->refresh_working();
    if (optimizer_.average() != nullptr) optimizer_.average()->restart();
  }
  remember_buffers();
  quota_ =
      std::make_unique<Quota>(setup_.clock, options_.stop.after, options_.stop.budget, spent_s);
  if (setup_.group.rank() != 0) return;
  recorder_ = std::make_unique<Recorder>(setup_.run, setup_.plan, options_, setup_.clock);
  if (setup_.resume) recorder_->resumed(step_, from, skipped);
  recorder_->started(step_, quota_->allowed_s(), setup_.backend.description());
  if (setup_.group.size() > 1 && !options_.exact)
    recorder_->buckets(step_, placed_.arena->buckets(), link_);
  if (setup_.measure_only) return;
  const Retention retention{.keep = options_.checkpoint.keep,
                            .keep_every_s = options_.checkpoint.keep_every.seconds,
                            .best_metric = options_.checkpoint.keep_best ? "selection" : "",
                            .lower_is_better = true};
  saver_ = std::make_unique<CheckpointSaver>(
      setup_.run.checkpoints(), retention, setup_.backend,
      [recorder = recorder_.get()](const CheckpointSaver::Result& result) {
        recorder->checkpoint(result);
      },
      [recorder = recorder_.get()] { recorder->make_durable(); });
  saver_->reserve(trained());
}

// A budget that earlier starts have spent leaves no step to this one.
void Loop::stop_if_nothing_is_left() {
  stop_ = setup_.group.share("spent", quota_->over() ? "1" : "") == "1";
  if (stop_) stop_reason_ = quota_->reason();
}

void Loop::make_loader() {
  LoaderOptions options{.seed = static_cast<std::uint64_t>(options_.seed),
                        .shuffle = options_.data.shuffle,
                        .batch = batch_,
                        .rank = setup_.group.rank(),
                        .first_step = step_,
                        .last_step = setup_.plan.total_steps,
                        .threads = options_.data.threads < 0 ? 1 : options_.data.threads,
                        .prefetch_steps = options_.data.prefetch};
  options.weigh = [this](const Batch& batch) { return setup_.recipe.weigh(batch); };
  if (!setup_.backend.device().is_cpu())
    options.pin = [this](at::Tensor tensor) {
      at::Tensor pinned = setup_.backend.host_empty(tensor.sizes(), tensor.scalar_type());
      pinned.copy_(tensor);
      return pinned;
    };
  loader_threads_ = options.threads;
  loader_ = std::make_unique<Loader>(data_.train, std::move(options));
}

// Afterwards steps have micro-batches of another size. All ranks.
void Loop::change_micro_batch(const BatchPlan& batch) {
  runner_.go_on();
  told_about_graph_ = false;
  running_.clear();
  batch_ = batch;
  loader_.reset();
  make_loader();
}

// The changes that batch.micro_changes asks for before the next step.
void Loop::follow_micro_changes() {
  std::int64_t micro = 0;
  while (!changes_.empty() && changes_.front().step <= step_) {
    micro = changes_.front().micro;
    changes_.erase(changes_.begin());
  }
  if (micro == 0 || micro == batch_.micro) return;
  if (all_happened()) change_micro_batch(with_micro(batch_, micro));
}

// After a step that changed nothing. All ranks come here with the same steps behind them, and
// whatever they enqueued after it changed nothing either.
bool Loop::recover_if_dropped() {
  if (!dropped_) return false;
  const StepResult result = *std::exchange(dropped_, std::nullopt);
  if (staged_) staged_->weights_pending->wait();
  staged_.reset();
  step_ = result.step - 1;
  if (result.not_finite)
    leave_out(result);
  else
    repeat_in_smaller(result);
  if (step_ < setup_.plan.total_steps) staged_ = fetch();
  return true;
}

// A rank ran out of memory: the same step again, in smaller micro-batches.
void Loop::repeat_in_smaller(const StepResult& result) {
  const std::int64_t micro = next_smaller_micro(batch_);
  if (setup_.measure_only || setup_.plan.exact || micro == 0)
    fail_out_of_memory(setup_, batch_, result, runner_.out_of_memory_text());
  const BatchPlan before = batch_;
  change_micro_batch(with_micro(batch_, micro));
  if (recorder_) recorder_->smaller_micro(step_, result, before, batch_);
}

// The loss or the gradient was not finite: what was it, and on without the step, or no further.
void Loop::leave_out(const StepResult& result) {
  constexpr int most_in_a_row = 20;
  change_micro_batch(batch_);
  StepData data = loader_->next();
  const std::vector<std::int64_t> samples = data.samples;
  NotFinite own;
  try {
    own = runner_.find_not_finite(runner_.stage(std::move(data)));
  } catch (const std::exception& error) {
    if (!is_out_of_memory(error)) throw;
  }
  nlohmann::json event = describe_not_finite(setup_, batch_, result, own, samples);
  const bool in_weights = event.at("in_weights").get<bool>();
  const bool goes_on = options_.on_nan == OnNan::skip && !in_weights &&
                       not_finite_in_a_row_ < most_in_a_row && !setup_.measure_only;
  event["action"] = goes_on ? "skip" : "stop";
  if (recorder_) recorder_->not_finite(event);
  if (!goes_on) {
    if (!in_weights && !setup_.measure_only) save(true);
    const std::string lost = setup_.group.share("unsaved", saver_ ? saver_->finish() : "");
    fail_not_finite(event, lost.empty() ? saved_step_ : -1);
  }
  step_ = result.step;
  change_micro_batch(batch_);
}

StagedStep Loop::fetch() {
  follow_micro_changes();
  const double begin_s = setup_.clock.now_s();
  leave_crumb(Activity::data);
  StepData data = loader_->next();
  const double waited_s = setup_.clock.now_s() - begin_s;
  data_s_ += waited_s;
  window_data_s_ += waited_s;
  if (options_.run.record_samples) {
    const auto gather = [&] {
      at::Tensor own = at::empty({static_cast<std::int64_t>(data.samples.size())}, at::kLong);
      std::copy(data.samples.begin(), data.samples.end(), own.mutable_data_ptr<std::int64_t>());
      return setup_.group.all_gather(own.to(setup_.backend.device()));
    };
    const auto release = [&] { setup_.backend.release_cached_memory(); };
    const at::Tensor all = insist(gather, release).to(at::kCPU);
    const auto* first = all.const_data_ptr<std::int64_t>();
    staged_samples_.assign(first, first + all.numel());
  }
  return runner_.stage(std::move(data));
}

void Loop::run_step() {
  profile_if_asked();
  RankReport report{.wait_s = std::exchange(wait_s_, 0)};
  report.stop_signal = stop_signal().empty() ? 0 : 1;
  report.stop_quota = setup_.group.rank() == 0 && quota_->over() ? 1 : 0;
  const double save_every_s = options_.checkpoint.every.seconds;
  const bool save_now = save_every_s > 0 && setup_.clock.now_s() - saved_at_s_ >= save_every_s;
  report.save = setup_.group.rank() == 0 && save_now ? 1 : 0;
  if ((step_ + 1) % options_.log.every_steps == 0) report.memory = setup_.backend.memory();
  const double lr = learning_rate(setup_.plan.schedule, step_);
  leave_crumb(Activity::forward, step_ + 1);
  running_.push_back(runner_.run(std::move(*staged_), lr, report));
  staged_.reset();
  ++step_;
  tell_about_graph();
  if (recorder_ && options_.run.record_samples) recorder_->samples(step_, staged_samples_);
}

void Loop::tell_about_graph() {
  if (told_about_graph_ || !runner_.graph_state()) return;
  told_about_graph_ = true;
  if (recorder_) recorder_->graph(step_, *runner_.graph_state());
}

// Called before each step, `step_` steps having been enqueued.
void Loop::profile_if_asked() {
  const auto& asked = options_.profile;
  if (asked.first_step == 0) return;
  if (step_ + 1 == asked.first_step) {
    setup_.backend.synchronize();
    profile_.emplace(!setup_.backend.device().is_cpu());
  }
  if (profile_ && step_ + 1 == asked.first_step + asked.steps) finish_profile();
}

void Loop::finish_profile() {
  if (!profile_) return;
  setup_.backend.synchronize();
  profile_->finish(setup_.run.path() / "profile" / cat("rank", setup_.group.rank(), ".json"));
  profile_.reset();
}

// Reads the numbers of finished steps until at most `keep` are under way. On a GPU one step stays
// under way, so that the host is always ahead of the device.
void Loop::drain(std::size_t keep) {
  while (running_.size() > keep && !dropped_) {
    on_result(running_.front());
    running_.pop_front();
  }
}

// Waits for the steps under way; false where one of them was dropped.
bool Loop::all_happened() {
  drain(0);
  return !dropped_;
}

void Loop::on_result(StepRunner::Running& running) {
  const StepResult result = running.get();
  wait_s_ += running.wait_s();
  if (result.dropped) {
    dropped_ = result;
    return;
  }
  not_finite_in_a_row_ = result.not_finite ? not_finite_in_a_row_ + 1 : 0;
  if (result.not_finite) dropped_ = result;
  const OwnTimes times{.data_s = std::exchange(data_s_, 0),
                       .wait_s = running.wait_s(),
                       .save_s = std::exchange(save_s_, 0)};
  if (recorder_)
    recorder_->step(result, times, learning_rate(setup_.plan.schedule, result.step - 1));
  started("first_step");
  if (!started_) check_buffers();
  if (recorder_ && setup_.start_up && !started_) recorder_->start_up(result.step, *setup_.start_up);
  started_ = true;
  // A wish from before the last checkpoint is fulfilled.
  if (result.save > 0 && result.step > saved_step_) save_wished_ = true;
  if (stop_ || (result.stop_signal == 0 && result.stop_quota == 0)) return;
  stop_ = true;
  const std::string own = stop_signal();
  if (result.stop_signal == 0)
    stop_reason_ = quota_->reason();
  else
    stop_reason_ = own.empty() ? "a signal to another rank" : own;
}

// With data.threads unset: one more loader thread whenever the steps of the last window waited for
// data more than 2 % of their time, as long as the cores last.
void Loop::adapt_loader() {
  constexpr std::int64_t window = 20;
  if (options_.data.threads >= 0 || ++window_steps_ < window) return;
  const double now_s = setup_.clock.now_s();
  const double share = window_data_s_ / std::max(now_s - window_begin_s_, 1e-9);
  const auto& device = setup_.plan.devices[static_cast<std::size_t>(setup_.group.rank())];
  if (window_begin_s_ > 0 && share > 0.02 && loader_threads_ < device.threads) {
    loader_->add_thread();
    ++loader_threads_;
    if (recorder_) recorder_->loader_threads(step_, loader_threads_, share);
  }
  window_steps_ = 0;
  window_data_s_ = 0;
  window_begin_s_ = now_s;
}

void Loop::evaluate_now() {
  if (setup_.measure_only || !data_.valid || data_.valid->size() == 0 || evaluated_step_ == step_)
    return;
  if (!all_happened()) return;
  leave_crumb(Activity::evaluation);
  check_buffers();
  share_buffers();
  const double begin_s = setup_.clock.now_s();
  EvaluatorOptions judging = evaluator_options(setup_);
  if (options_.eval.batch == 0) judging.batch = batch_.micro;
  if (eval_batch_ > 0) judging.batch = std::min(judging.batch, eval_batch_);
  const Evaluation evaluation = [&] {
    const ShownAverage shown(options_.ema.evaluate ? optimizer_.average() : nullptr);
    return evaluate(setup_.recipe, *placed_.model, *data_.valid, setup_.group, setup_.backend,
                    judging);
  }();
  eval_batch_ = evaluation.batch;
  if (recorder_ && !evaluation.out_of_memory_ranks.empty())
    recorder_->smaller_evaluation(step_, judging.batch, evaluation);
  evaluated_step_ = step_;
  const bool better = recorder_ && record(evaluation, setup_.clock.now_s() - begin_s);
  if (options_.checkpoint.keep_best && step_ > 0 && of_rank_0(better)) save(true);
}

// Rank 0; whether it is the best so far.
bool Loop::record(const Evaluation& evaluation, double seconds) {
  const std::vector<Metric>& metrics = evaluation.metrics;
  metrics_ = metric_values(metrics, options_.checkpoint.best_metric);
  const Metric& judged = chosen_metric(metrics, options_.checkpoint.best_metric);
  const bool better =
      !best_ || (judged.lower_is_better ? judged.value < *best_ : judged.value > *best_);
  if (better && std::isfinite(judged.value)) best_ = judged.value;
  recorder_->evaluation(step_, evaluation, better, seconds);
  return better;
}

// Ranks that share the update save together, so they must agree; rank 0 alone needs nobody.
bool Loop::of_rank_0(bool decision) {
  if (placed_.arena->sharing() == nullptr) return decision;
  const auto options = placed_.arena->master().options();
  const at::Tensor agreed = at::full({1}, decision ? 1.0 : 0.0, options);
  setup_.group.broadcast(agreed, 0);
  return agreed.item<double>() > 0;
}

bool Loop::save_due() const {
  const std::int64_t every = options_.checkpoint.every_steps;
  return save_wished_ || (every > 0 && step_ % every == 0);
}

// All ranks come here together.
void Loop::save(bool forced) {
  if ((!forced && !save_due()) || saved_step_ == step_) return;
  if (!all_happened()) return;
  const double begin_s = setup_.clock.now_s();
  leave_crumb(Activity::checkpoint);
  saved_step_ = step_;
  save_wished_ = false;
  if (saver_)
    write_checkpoint();
  else
    give_pieces(trained(), setup_.backend);
  saved_at_s_ = setup_.clock.now_s();
  save_s_ += saved_at_s_ - begin_s;
}

void Loop::write_checkpoint() {
  nlohmann::json state{
      {"step", step_},
      {"epoch", static_cast<double>(step_) / static_cast<double>(setup_.plan.steps_per_epoch)},
      {"seed", options_.seed},
      {"global_batch", setup_.plan.batch.global},
      {"precision", precision_word(options_.precision)},
      {"elapsed_s", quota_->elapsed_s()}};
  if (best_) state["best"] = *best_;
  if (setup_.plan.exact) state["grain"] = setup_.plan.exact->grain;
  const bool fresh = evaluated_step_ == step_;
  saver_->save(trained(), step_, std::move(state), fresh ? metrics_ : nlohmann::json());
}

TrainEnd Loop::finish(TrainEnd end) {
  finish_profile();
  if (staged_) staged_->weights_pending->wait();
  if (end == TrainEnd::finished) evaluate_now();
  save(true);
  leave_crumb(Activity::ending);
  // Weights that are on no disk are not a finished run.
  const std::string lost = setup_.group.share("unsaved", saver_ ? saver_->finish() : "");
  if (!lost.empty()) {
    if (end == TrainEnd::finished) stop_reason_ = "the end is reached";
    stop_reason_ += cat(", but its checkpoint could not be written: ", lost);
    end = TrainEnd::stopped;
  }
  if (recorder_) recorder_->ended(step_, end == TrainEnd::stopped ? stop_reason_ : "");
  return end;
}

TrainEnd Loop::run() {
  restore_or_start();
  started(setup_.resume ? "resume" : "model");
  stop_if_nothing_is_left();
  saved_at_s_ = setup_.clock.now_s();
  if (options_.eval.at_start && step_ == 0 && !stop_) {
    evaluate_now();
    started("evaluation");
  }
  if (step_ < setup_.plan.total_steps && !stop_) {
    make_loader();
    staged_ = fetch();
  }
  started("data");
  if (saver_) saver_->finish_reserving();
  do {
    train_steps();
    drain(0);
  } while (recover_if_dropped());
  return finish(stop_ && step_ < setup_.plan.total_steps ? TrainEnd::stopped : TrainEnd::finished);
}

// To the end or to a stop; the last step may be under way still.
void Loop::train_steps() {
  const std::size_t ahead = setup_.backend.device().is_cpu() ? 0 : 1;
  while (step_ < setup_.plan.total_steps && !stop_) {
    run_step();
    if (step_ < setup_.plan.total_steps) staged_ = fetch();
    drain(ahead);
    if (!recover_if_dropped()) adapt_loader();
    do {
      check_weights();
      const std::int64_t every = options_.eval.every_steps;
      if (every > 0 && step_ % every == 0 && !stop_) evaluate_now();
      save(false);
    } while (recover_if_dropped());
  }
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
