// The loop over steps: the data, the step, its metrics, and work that is due after it.
#include "training/trainer/loop/loop.h"

#include "runtime/launch/watch/heartbeat.h"

#include <utility>

namespace lockstep {

TrainEnd Loop::run() {
  start();
  do {
    train_steps();
    drain(0);
  } while (recover_if_dropped());
  const bool stopped = stop_->stops() && !stop_->is_early_finish() && !at_end();
  return finish(stopped ? TrainEnd::stopped : TrainEnd::finished);
}

// Trains until the end or a stop. The last step may then still be in progress. On a GPU one step
// stays in progress, so that the host is always ahead of the device.
void Loop::train_steps() {
  const std::size_t ahead = steps_ahead();
  step_begin_s_ = setup_.clock.now_s();
  while (!at_end() && !stop_->stops()) {
    enter_phase(Phase::data, step_ + 1);  // waits for ranks whose data is late
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
  // The time of a single slow step must not end a trial. A trial does not enforce its quota.
  const bool is_trial = setup_.trial_evaluation_s > 0;
  stop_->ask(report, setup_.group.rank(), is_trial ? 0 : ahead_->next_steps_s());
  saves_.ask(report, setup_.group.rank());
  if (is_due(options_.log.every_steps, step_ + 1)) report.memory = setup_.backend.memory();
  enter_phase(Phase::forward, step_ + 1);
  const double lr = learning_rate(setup_.plan.schedule, step_);
  running_.push_back(runner_.run(feed_->take(), lr, report));
  ++step_;
  if (const auto news = runner_.take_graph_news(); news && recorder_)
    recorder_->graph(step_, *news);
  if (recorder_ && options_.run.record_samples) recorder_->samples(step_, feed_->samples());
}

void Loop::fetch() {
  if (feed_->change_due(step_) && all_happened())
    if (const BatchPlan batch = feed_->take_change(step_); batch.micro != feed_->batch().micro) {
      if (recorder_) recorder_->changes_micro(step_, feed_->batch(), batch);
      change_batch(batch);
    }
  feed_->fetch();
}

// Reads the results of finished steps until at most `keep` steps are in progress.
void Loop::drain(std::size_t keep) {
  while (running_.size() > keep && !dropped_.any()) {
    on_result(running_.front().get());
    running_.pop_front();
  }
}

// Waits for all steps in progress and for their update of the weights. Returns false if a step was
// dropped.
bool Loop::all_happened() {
  drain(0);
  runner_.flush_update();
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
  buffers_.check();
  if (recorder_ && setup_.start_up) recorder_->start_up(result.step, *setup_.start_up);
  predictions_->started_up(step_);
}

}  // namespace lockstep
