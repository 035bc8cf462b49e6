#include "training/trainer/output/validation.h"

#include "runtime/launch/watch/heartbeat.h"
#include "training/evaluation/evaluator.h"
#include "training/trainer/output/metric_values.h"
#include "training/trainer/stopping/expected_end.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace lockstep {

bool BestMetric::improves(const std::vector<Metric>& metrics, std::int64_t step) {
  const Metric& chosen = chosen_metric(metrics, name_);
  const std::optional<double>& best = so_far.value;
  metric_ = chosen.name;
  so_far.last_step = step;
  ++so_far.evaluations_since;
  if (!std::isfinite(chosen.value)) return false;
  if (best && (chosen.lower_is_better ? chosen.value >= *best : chosen.value <= *best))
    return false;
  so_far = {.value = chosen.value, .step = step, .last_step = step, .evaluations_since = 0};
  return true;
}

Validation::Validation(const TrainerSetup& setup, PlacedModel& placed, const Optimizer& optimizer,
                       std::shared_ptr<const Dataset> data, Recorder* recorder)
    : setup_(setup),
      placed_(placed),
      optimizer_(optimizer),
      data_(std::move(data)),
      recorder_(recorder),
      best_(setup.options.checkpoint.best_metric) {}

bool Validation::due(std::int64_t step) const {
  return !setup_.measure_only && data_ && data_->size() > 0 && step_ != step;
}

Validation::Outcome Validation::run(std::int64_t step, std::int64_t micro, double limit_s,
                                    const std::function<void()>& free_memory) {
  enter_phase(Phase::evaluation);
  const double begin_s = setup_.clock.now_s();
  EvaluatorOptions options = evaluator_options(setup_, data_.get());
  options.free_memory = free_memory;
  ExpectedEnd expected(setup_.clock);
  // A few batches give only a rough estimate, so an evaluation first runs for a tenth of its limit.
  // A trial runs for its whole limit, because its purpose is to measure.
  const double enough_s = setup_.trial_evaluation_s > 0 ? limit_s : limit_s / 10;
  if (std::isfinite(limit_s))
    options.goes_on = [&](double done) {
      expected.update(done);
      return expected.gone_s() < enough_s || expected.expected_s() <= limit_s;
    };
  if (setup_.options.eval.batch == 0) options.batch = micro;
  if (batch_ > 0) options.batch = std::min(options.batch, batch_);
  EvaluationOutput output(
      setup_.run.path(), step,
      {.pictures = setup_.options.eval.pictures, .rows = setup_.options.eval.table_rows});
  if (setup_.options.eval.keep > 0) options.output = &output;
  const Evaluation evaluation = [&] {
    ShownAverage shown(setup_.options.ema.evaluate ? optimizer_.average() : nullptr);
    Evaluation found =
        evaluate(setup_.recipe, *placed_.model, *data_, setup_.group, setup_.backend, options);
    shown.end();
    return found;
  }();
  batch_ = evaluation.batch;
  if (evaluation.given_up)
    return {.given_up = true, .seconds = std::max(expected.expected_s(), limit_s)};
  step_ = step;
  if (recorder_ == nullptr) return {};
  if (!evaluation.out_of_memory_ranks.empty())
    recorder_->smaller_evaluation(step, options.batch, evaluation);
  metrics_ = metric_values(evaluation.metrics, setup_.options.checkpoint.best_metric);
  const bool better = best_.improves(evaluation.metrics, step);
  keep_output(output, evaluation, better);
  recorder_->evaluation(step, evaluation, better, setup_.clock.now_s() - begin_s);
  return {.best = better, .seconds = setup_.clock.now_s() - begin_s};
}

std::string Validation::out_of_patience() const {
  if (recorder_ == nullptr) return "";
  const std::string& metric =
      best_.metric().empty() ? setup_.options.checkpoint.best_metric : best_.metric();
  return lockstep::out_of_patience(setup_.options, best_.so_far, metric.empty() ? "metric" : metric,
                                   setup_.plan.steps_per_epoch);
}

// Runs on rank 0. Problems with the output only give warnings, so the run does not fail.
void Validation::keep_output(const EvaluationOutput& output, const Evaluation& evaluation,
                             bool better) {
  for (const std::string& problem : save_output(output, evaluation.metrics, better))
    recorder_->warn(output.step(), problem);
  if (!output.empty()) prune_outputs(setup_.run.path(), setup_.options.eval.keep);
}

nlohmann::json Validation::metrics_of(std::int64_t step) const {
  return step_ == step ? metrics_ : nlohmann::json();
}

}  // namespace lockstep
