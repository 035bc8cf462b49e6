// Writes the records of rank 0 while it trains: events, samples, the run's state.
#pragma once

#include "core/base/clock.h"
#include "runtime/run/curves/loss_range.h"
#include "runtime/run/events/events.h"
#include "runtime/run/events/samples.h"
#include "runtime/run/events/start_up.h"
#include "runtime/run/folder/run_dir.h"
#include "runtime/run/formats/tensorboard_log.h"
#include "training/checkpoint/snapshot.h"
#include "training/evaluation/evaluator.h"
#include "training/parameters/parameter_groups.h"
#include "training/recipe/recipe.h"
#include "training/step/step_graphs.h"
#include "training/step/step_metrics.h"
#include "training/trainer/output/link_speed.h"
#include "training/trainer/output/step_times.h"

#include <nlohmann/json.hpp>

#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

// How training ended. why: the reason why it stopped; empty: it finished. early: why it finished
// before its last step; empty: it did not finish early.
struct RunEnd {
  std::string why{}, early{};
  bool by_quota = false;  // stopped by stop.after or stop.budget
  // The seconds of the quota that are left for the work after training. Nothing: there is no limit.
  std::optional<double> left_s{};
};

// Thread-safe: the checkpoint saver reports from its own thread.
class Recorder {
 public:
  // logged: Recipe::logged.
  Recorder(RunDir& run, const Plan& plan, const TrainOptions& options, Clock& clock,
           std::vector<std::string> logged = {});

  void started(std::int64_t step, double quota_s, const std::string& backend);
  void resumed(std::int64_t step, const std::optional<CheckpointInfo>& from,
               const std::vector<CheckpointInfo>& skipped);
  // Records how many parameters are trained, and with which rates. Records nothing if all are
  // trained in the same way.
  void parameters(std::int64_t step, const ParameterStorage& storage,
                  const ParameterGroups& groups);
  void first_weights(nlohmann::json report);  // report: from load_first_weights
  void start_up(std::int64_t step, const StartUp& start_up);
  // Call it when the step metrics are there. So the recorded time of a step lasts until the step
  // was done.
  void step(const StepResult& result, const OwnTimes& own, double lr);
  void samples(std::int64_t step, const std::vector<std::int64_t>& indexes);
  void loader_threads(std::int64_t step, std::int64_t threads, double data_share);
  // How the gradients of several ranks are added up. library: that does it, "NCCL".
  void buckets(std::int64_t step, const ParameterStorage& storage, const std::string& library,
               const std::optional<KnownLink>& link);
  void graph(std::int64_t step, const GraphState& state);
  // Memory ran out. From the step after `step` on there are other micro-batches. If `before` and
  // `now` are the same, blocks are computed again instead.
  void repeats_in_less(std::int64_t step, const StepResult& result, const BatchPlan& before,
                       const BatchPlan& now);
  // batch.micro_changes gives other micro-batches from the step after `step` on.
  void changes_micro(std::int64_t step, const BatchPlan& before, const BatchPlan& now);
  // event: the result of describe_not_finite, with "action".
  void not_finite(const nlohmann::json& event);
  // Memory ran out in an evaluation, and it continued with a smaller batch.
  void smaller_evaluation(std::int64_t step, std::int64_t before, const Evaluation& evaluation);
  void evaluation(std::int64_t step, const Evaluation& evaluation, bool best, double seconds);
  // An evaluation was given up, because it would have taken longer than the time that was left.
  void evaluation_given_up(std::int64_t step, double expected_s, double limit_s);
  // An evaluation was left out, because it does not fit into the quota. why: "an evaluation takes
  // …".
  void evaluation_left_out(std::int64_t step, const std::string& why);
  // More of the quota than before is kept for predictions. quota_s: the seconds left for training.
  void quota(std::int64_t step, double quota_s, const std::string& why);
  void checkpoint(const CheckpointSaver::Result& result);
  // Makes all that was written so far survive a power loss. Called before a checkpoint counts,
  // because the events and samples up to it must survive too.
  void make_durable();
  void warn(std::int64_t step, const std::string& text);
  void ended(std::int64_t step, const RunEnd& end, const GraphCounts& graphs);

 private:
  void write(const nlohmann::json& event);
  void draw_curves(std::int64_t step);
  // Training continues after `step`.
  void samples_resume(std::int64_t step);
  // Writes nothing if `fault` is "".
  void tell_of_samples(std::int64_t step, const std::string& fault);

  RunDir& run_;
  const Plan& plan_;
  const TrainOptions& options_;
  std::vector<std::string> logged_;
  Clock& clock_;
  EventWriter events_;
  std::optional<TensorboardLog> tensorboard_;  // with log.tensorboard
  std::optional<SampleWriter> samples_;
  std::mutex mutex_;
  double begin_s_;
  StepTimes times_;
  LossRange loss_range_;
};

}  // namespace lockstep
