// Writes the events of a run, the sample numbers of its steps (run.record_samples) and its end
// state, on rank 0.
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

// Says how training ended. `why` is the reason if training stopped, and empty if training finished.
// `early` is the reason if training finished before its last step, else empty.
struct RunEnd {
  std::string why{}, early{};
  bool by_quota = false;  // stop.after or stop.budget stopped training
  // The seconds of the quota (Quota) that are left for the work after training, or nothing if there
  // is no quota.
  std::optional<double> left_s{};
};

// Events may be written from several threads, because the checkpoint saver reports from its own
// thread.
class Recorder {
 public:
  // logged: the result of Recipe::logged.
  Recorder(RunDir& run, const Plan& plan, const TrainOptions& options, Clock& clock,
           std::vector<std::string> logged = {});

  void started(std::int64_t step, double quota_s, const std::string& backend);
  void resumed(std::int64_t step, const std::optional<CheckpointInfo>& from,
               const std::vector<CheckpointInfo>& skipped);
  // Records the numbers of trained and frozen elements, and the entries of optimizer.groups.
  // Records nothing if no parameter is frozen and optimizer.groups is empty.
  void parameters(std::int64_t step, const ParameterStorage& storage,
                  const ParameterGroups& groups);
  void first_weights(nlohmann::json report);  // report: the result of load_first_weights
  void start_up(std::int64_t step, const StartUp& start_up);
  // Call it when the step metrics are on the host. Then the recorded time of a step includes all of
  // its work.
  void step(const StepResult& result, const OwnTimes& own, double lr);
  void samples(std::int64_t step, const std::vector<std::int64_t>& indexes);
  void loader_threads(std::int64_t step, std::int64_t threads, double data_share);
  // Records how the gradients of several ranks are summed. library: the library that sums, such as
  // "NCCL".
  void buckets(std::int64_t step, const ParameterStorage& storage, const std::string& library,
               const std::optional<KnownLink>& link);
  void graph(std::int64_t step, const GraphState& state);
  // Records that memory ran out, and that training continues after `step` with smaller
  // micro-batches. If `before` and `now` have the same micro-batch, all blocks are recomputed in
  // backward instead.
  void repeats_in_less(std::int64_t step, const StepResult& result, const BatchPlan& before,
                       const BatchPlan& now);
  // Records that batch.micro_changes sets another micro-batch size, beginning with the step after
  // `step`.
  void changes_micro(std::int64_t step, const BatchPlan& before, const BatchPlan& now);
  // event: the result of describe_not_finite, with "action" added.
  void not_finite(const nlohmann::json& event);
  // Records that memory ran out in an evaluation, which then continued with a smaller batch.
  // before: rows per batch before memory ran out.
  void smaller_evaluation(std::int64_t step, std::int64_t before, const Evaluation& evaluation);
  void evaluation(std::int64_t step, const Evaluation& evaluation, bool best, double seconds);
  // Records that an evaluation was given up, because it would have taken longer than limit_s.
  void evaluation_given_up(std::int64_t step, double expected_s, double limit_s);
  // Records that an evaluation was left out, because its time does not fit into the quota. why:
  // TimeAhead::no_evaluation.
  void evaluation_left_out(std::int64_t step, const std::string& why);
  // Records that more of the quota is now kept for predictions. quota_s: the seconds that are left
  // for training.
  void quota(std::int64_t step, double quota_s, const std::string& why);
  void checkpoint(const CheckpointSaver::Result& result);
  // Writes all events and samples so far to the disk, so that they survive a power loss. The saver
  // calls it before a checkpoint gets its final name, because the records up to this checkpoint
  // must survive too.
  void make_durable();
  void warn(std::int64_t step, const std::string& text);
  void ended(std::int64_t step, const RunEnd& end, const GraphCounts& graphs);

 private:
  void write(const nlohmann::json& event);
  void draw_curves(std::int64_t step);
  // Records, in the file of sample numbers, that training continues after `step`.
  void samples_resume(std::int64_t step);
  // Writes a warning that samples are no longer recorded, unless `fault` is "".
  void tell_of_samples(std::int64_t step, const std::string& fault);

  RunDir& run_;
  const Plan& plan_;
  const TrainOptions& options_;
  std::vector<std::string> logged_;
  Clock& clock_;
  EventWriter events_;
  std::optional<TensorboardLog> tensorboard_;  // only if log.tensorboard is true
  std::optional<SampleWriter> samples_;
  std::mutex mutex_;
  double begin_s_;
  StepTimes times_;
  LossRange loss_range_;
};

}  // namespace lockstep
