#include "training/trainer/output/checkpoints.h"

#include "planning/precision.h"
#include "runtime/run/events/json_lines.h"
#include "training/trainer/loop/failures.h"

#include <utility>

namespace lockstep {

Checkpoints::Checkpoints(const TrainerSetup& setup, PlacedModel& placed, Optimizer& optimizer)
    : setup_(setup), placed_(placed), optimizer_(optimizer) {}

StartingPoint choose_start(const TrainerSetup& setup) {
  StartingPoint start;
  if (setup.resume) start.from = choose_checkpoint(setup.run, setup.group, {}, start.skipped);
  return start;
}

void Checkpoints::restore_or_start(StartingPoint& start) {
  if (!start.from) {
    // With a shared update, rank 0's first weights were sent before the parameters were placed.
    if (placed_.storage->sharing() == nullptr) setup_.group.broadcast(placed_.storage->master(), 0);
    placed_.buffers->share(setup_.group, /*mean=*/false);
    placed_.storage->cast_weights();
    if (optimizer_.average() != nullptr) optimizer_.average()->restart();
    return;
  }
  const nlohmann::json state = restore(*start.from, trained());
  check_leaf(state, setup_.plan);
  const std::string precision = precision_word(setup_.options.precision);
  if (text_or(state, "precision", precision) != precision) optimizer_.restart_loss_scale();
  start.step = state.at("step").get<std::int64_t>();
  start.spent_s = state.value("elapsed_s", 0.0);
  start.best = best_from_json(state);
}

void Checkpoints::open(Recorder* recorder, std::function<void(double)> written) {
  if (recorder == nullptr || setup_.measure_only) return;
  const auto& options = setup_.options.checkpoint;
  const Retention retention{.keep = options.keep,
                            .keep_every_s = options.keep_every.seconds,
                            .best_metric = options.keep_best ? "selection" : "",
                            .lower_is_better = true};
  saver_ = std::make_unique<CheckpointSaver>(
      setup_.run.checkpoints(), retention, setup_.backend,
      [recorder, written = std::move(written)](const CheckpointSaver::Result& result) {
        recorder->checkpoint(result);
        written(result.seconds);
      },
      [recorder] { recorder->make_durable(); });
  saver_->reserve(trained());
}

void Checkpoints::finish_reserving() {
  if (saver_) saver_->finish_reserving();
}

nlohmann::json Checkpoints::state_of(std::int64_t step, double elapsed_s,
                                     const BestSoFar& best) const {
  nlohmann::json state{
      {"step", step},
      {"epoch", static_cast<double>(step) / static_cast<double>(setup_.plan.steps_per_epoch)},
      {"seed", setup_.options.seed},
      {"global_batch", setup_.plan.batch.global},
      {"precision", precision_word(setup_.options.precision)},
      {"elapsed_s", elapsed_s}};
  state.update(to_json(best));
  if (setup_.plan.exact) state["leaf_samples"] = setup_.plan.exact->leaf_samples;
  return state;
}

void Checkpoints::save(std::int64_t step, double elapsed_s, const BestSoFar& best,
                       nlohmann::json metrics) {
  if (saver_)
    saver_->save(trained(), step, state_of(step, elapsed_s, best), std::move(metrics));
  else
    give_shards(trained(), setup_.backend);
}

std::string Checkpoints::finish() {
  return setup_.group.share("unsaved", saver_ ? saver_->finish() : "");
}

}  // namespace lockstep
