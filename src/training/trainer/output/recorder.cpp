// Writes the events that docs/reference/events.md lists.
#include "training/trainer/output/recorder.h"

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "planning/compute.h"
#include "planning/options/interval.h"
#include "planning/precision.h"
#include "planning/words.h"
#include "runtime/run/curves/curves.h"
#include "training/trainer/output/metric_values.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>
#include <utility>

namespace lockstep {
Recorder::Recorder(RunDir& run, const Plan& plan, const TrainOptions& options, Clock& clock,
                   std::vector<std::string> logged)
    : run_(run),
      plan_(plan),
      options_(options),
      logged_(std::move(logged)),
      clock_(clock),
      events_(run.events_path()),
      begin_s_(clock.now_s()),
      times_(plan, begin_s_) {
  if (options.run.record_samples) samples_.emplace(run.path() / "samples.jsonl");
  if (options.log.tensorboard) tensorboard_.emplace(run.path());
}

void Recorder::write(const nlohmann::json& event) {
  const std::lock_guard lock(mutex_);
  if (!tensorboard_) {
    events_.write(event);
    return;
  }
  nlohmann::json stamped = event;
  stamped["time"] = clock_.wall_s();
  events_.write(stamped);
  if (const std::string fault = tensorboard_->write(stamped); !fault.empty())
    events_.write({{"kind", "warning"}, {"step", stamped["step"]}, {"text", fault}});
}

void Recorder::started(std::int64_t step, double quota_s, const std::string& backend) {
  nlohmann::json event{
      {"kind", "start"},
      {"step", step},
      {"total_steps", plan_.total_steps},
      {"steps_per_epoch", plan_.steps_per_epoch},
      {"unit", plan_.unit},
      {"units_per_step", plan_.units_per_step},
      {"eval_every_steps",
       std::llround(evaluation_interval(options_, plan_.steps_per_epoch).mean_steps())},
      {"eval_batches", static_cast<double>(plan_.valid_samples) /
                           static_cast<double>(std::max<std::int64_t>(plan_.batch.global, 1))},
      {"quota_s", quota_s},
      {"ranks", plan_.batch.world_size},
      {"micro", plan_.batch.micro},
      {"precision", precision_word(plan_.precision.type)},
      {"backend", backend}};
  event.update(to_json(plan_.compute));
  write(event);
  times_.start(clock_.now_s());
}

void Recorder::resumed(std::int64_t step, const std::optional<CheckpointInfo>& from,
                       const std::vector<CheckpointInfo>& skipped) {
  nlohmann::json damaged = nlohmann::json::array();
  for (const CheckpointInfo& bad : skipped)
    damaged.push_back({{"path", bad.path.filename().string()}, {"damage", bad.damage}});
  write({{"kind", "resume"},
         {"step", step},
         {"from", from ? from->path.filename().string() : ""},
         {"skipped", damaged}});
  samples_resume(step);
}

void Recorder::parameters(std::int64_t step, const ParameterStorage& storage,
                          const ParameterGroups& groups) {
  const FrozenParameters& frozen = storage.frozen();
  if (frozen.size() == 0 && groups.counts().empty()) return;
  std::int64_t trained_elements = 0, frozen_elements = 0;
  for (const ParameterPlace& place : storage.places()) trained_elements += place.elements;
  for (std::size_t i = 0; i < frozen.size(); ++i) frozen_elements += frozen.tensor(i).numel();
  nlohmann::json list = nlohmann::json::array();
  for (const GroupCount& group : groups.counts()) list.push_back(to_json(group));
  write({{"kind", "parameters"},
         {"step", step},
         {"trained", trained_elements},
         {"frozen", frozen_elements},
         {"groups", list}});
}

void Recorder::first_weights(nlohmann::json report) {
  report.update({{"kind", "init"}, {"step", 0}});
  write(report);
}

void Recorder::start_up(std::int64_t step, const StartUp& start_up) {
  nlohmann::json event = start_up.to_json();
  event["kind"] = "startup";
  event["step"] = step;
  write(event);
}

void Recorder::step(const StepResult& result, const OwnTimes& own, double lr) {
  const double now_s = clock_.now_s();
  times_.add(result, own);
  if (result.skipped && !result.not_finite)
    warn(result.step, cat("the gradient of step ", result.step,
                          " is not finite at this loss scale, which is halved; the step changed no "
                          "weights"));
  if (const auto usual = loss_range_.add(result.loss))
    warn(result.step, cat("the loss of step ", result.step, ", ", general(result.loss, 4),
                          ", is far above that of the steps before, ", general(usual->low, 4),
                          " to ", general(usual->high, 4)));
  if (result.step % options_.log.every_steps != 0 && result.step != plan_.total_steps) return;
  nlohmann::json memory = nlohmann::json::array();
  for (const RankReport& rank : result.ranks)
    memory.push_back({{"allocated", rank.memory.allocated_bytes},
                      {"reserved", rank.memory.reserved_bytes},
                      {"peak", rank.memory.peak_bytes}});
  nlohmann::json event{
      {"kind", "step"},
      {"step", result.step},
      {"epoch", static_cast<double>(result.step) /
                    static_cast<double>(std::max<std::int64_t>(plan_.steps_per_epoch, 1))},
      {"loss", result.loss},
      {"lr", lr},
      {"grad_norm", result.gradient_norm},
      {"memory", memory}};
  event.update(times_.take(now_s));
  if (result.terms.size() > 1) event["terms"] = result.terms;
  for (std::size_t i = 0; i < result.logged.size(); ++i)
    event["logged"][logged_[i]] = result.logged[i];
  if (options_.precision == Precision::fp16) event["loss_scale"] = result.loss_scale;
  write(event);
}

void Recorder::samples(std::int64_t step, const std::vector<std::int64_t>& indexes) {
  if (samples_) tell_of_samples(step, samples_->write(step, indexes));
}

void Recorder::samples_resume(std::int64_t step) {
  if (samples_) tell_of_samples(step, samples_->resume(step));
}

void Recorder::tell_of_samples(std::int64_t step, const std::string& fault) {
  if (!fault.empty()) warn(step, cat("samples are no longer recorded: ", fault));
}

void Recorder::loader_threads(std::int64_t step, std::int64_t threads, double data_share) {
  write({{"kind", "loader"}, {"step", step}, {"threads", threads}, {"data_share", data_share}});
}

void Recorder::buckets(std::int64_t step, const ParameterStorage& storage,
                       const std::string& library, const std::optional<KnownLink>& link) {
  std::vector<std::int64_t> bytes;
  for (const Bucket& bucket : storage.buckets()) bytes.push_back((bucket.end - bucket.begin) * 4);
  // Ranks on CPUs always sum whole buckets (ProcessGroup::reduce_scatter).
  const bool scatters = storage.sharing() != nullptr && !storage.master().is_cpu();
  nlohmann::json event{
      {"kind", "buckets"},  {"step", step},
      {"bytes", bytes},     {"operation", scatters ? "reduce_scatter" : "all_reduce"},
      {"library", library}, {"ranks", plan_.batch.world_size}};
  if (link) {
    event["latency_s"] = link->speed.latency_s;
    event["bytes_per_s"] = link->speed.bytes_per_s;
    event["remembered"] = link->remembered;
  }
  write(event);
}

void Recorder::graph(std::int64_t step, const GraphState& state) {
  write({{"kind", "graph"},
         {"step", step},
         {"captured", state.captured},
         {"seconds", state.seconds},
         {"shapes", state.shapes},
         {"why_not", state.why_not}});
}

void Recorder::repeats_in_less(std::int64_t step, const StepResult& result, const BatchPlan& before,
                               const BatchPlan& now) {
  nlohmann::json ranks = nlohmann::json::array();
  for (std::size_t rank = 0; rank < result.ranks.size(); ++rank)
    if (const Phase phase = result.ranks[rank].out_of_memory; phase != Phase::none)
      ranks.push_back({{"rank", rank},
                       {"device", device_label(plan_.devices.at(rank))},
                       {"phase", phase_name(phase)}});
  nlohmann::json event{{"kind", "memory"},
                       {"step", step},
                       {"ranks", ranks},
                       {"micro", now.micro},
                       {"accumulation", now.accumulation},
                       {"micro_before", before.micro},
                       {"accumulation_before", before.accumulation}};
  if (now.micro == before.micro) event["recompute"] = true;
  write(event);
  samples_resume(step);
}

void Recorder::changes_micro(std::int64_t step, const BatchPlan& before, const BatchPlan& now) {
  write({{"kind", "micro"},
         {"step", step},
         {"micro", now.micro},
         {"accumulation", now.accumulation},
         {"micro_before", before.micro},
         {"accumulation_before", before.accumulation}});
}

void Recorder::not_finite(const nlohmann::json& event) {
  write(event);
  samples_resume(event.at("step").get<std::int64_t>());
}

void Recorder::smaller_evaluation(std::int64_t step, std::int64_t before,
                                  const Evaluation& evaluation) {
  nlohmann::json ranks = nlohmann::json::array();
  for (const int rank : evaluation.out_of_memory_ranks)
    ranks.push_back({{"rank", rank},
                     {"device", device_label(plan_.devices.at(static_cast<std::size_t>(rank)))},
                     {"phase", "evaluation"}});
  write({{"kind", "memory"},
         {"step", step},
         {"ranks", ranks},
         {"eval_batch", evaluation.batch},
         {"eval_batch_before", before}});
}

void Recorder::evaluation(std::int64_t step, const Evaluation& evaluation, bool best,
                          double seconds) {
  const std::vector<Metric>& metrics = evaluation.metrics;
  nlohmann::json values = metric_values(metrics, options_.checkpoint.best_metric);
  values.erase("selection");
  nlohmann::json units = nlohmann::json::object(), better = nlohmann::json::object();
  for (const Metric& metric : metrics) {
    units[metric.name] = metric.unit;
    better[metric.name] = metric.lower_is_better ? "lower" : "higher";
  }
  nlohmann::json event{{"kind", "eval"},     {"step", step},
                       {"metrics", values},  {"units", units},
                       {"better", better},   {"best", best},
                       {"seconds", seconds}, {"warm_up_s", evaluation.warm_up_s}};
  if (nlohmann::json infinite = infinite_metrics(metrics); !infinite.is_null())
    event["infinite"] = std::move(infinite);
  write(event);
  std::error_code ignored;
  // Reading a longer file takes at least a tenth of a second. Its curves are drawn only at the end
  // of the run.
  if (constexpr std::uintmax_t quickly_read = std::uintmax_t{16} << 20;
      std::filesystem::file_size(run_.events_path(), ignored) <= quickly_read)
    draw_curves(step);
  times_.leave_out(seconds);
}

void Recorder::evaluation_given_up(std::int64_t step, double expected_s, double limit_s) {
  write({{"kind", "evaluation_given_up"},
         {"step", step},
         {"expected_s", expected_s},
         {"limit_s", limit_s}});
}

void Recorder::evaluation_left_out(std::int64_t step, const std::string& why) {
  write({{"kind", "evaluation_left_out"}, {"step", step}, {"why", why}});
}

void Recorder::quota(std::int64_t step, double quota_s, const std::string& why) {
  write({{"kind", "quota"}, {"step", step}, {"quota_s", quota_s}, {"why", why}});
}

void Recorder::checkpoint(const CheckpointSaver::Result& result) {
  if (!result.info.damage.empty()) {
    write({{"kind", "checkpoint_failed"}, {"step", result.step}, {"why", result.info.damage}});
    return;
  }
  write({{"kind", "checkpoint"},
         {"step", result.step},
         {"path", result.info.path.filename().string()},
         {"bytes", result.info.size_bytes},
         {"seconds", result.seconds},
         {"metrics", result.info.metrics}});
  for (const std::string& why : result.undeleted) warn(result.step, cat(why, "; training goes on"));
}

void Recorder::make_durable() {
  events_.sync();
  if (samples_) samples_->sync();
  sync_directory(run_.path());
}

void Recorder::warn(std::int64_t step, const std::string& text) {
  write({{"kind", "warning"}, {"step", step}, {"text", text}});
}

void Recorder::draw_curves(std::int64_t step) {
  const std::string fault = try_write_curves(run_.path(), run_.events_path());
  if (!fault.empty()) warn(step, cat("the curves could not be drawn: ", fault));
}

void Recorder::ended(std::int64_t step, const RunEnd& end, const GraphCounts& graphs) {
  const auto& [why, early, by_quota, left_s] = end;
  const RunState state = why.empty() ? RunState::finished : RunState::stopped;
  if (const std::string fault = run_.try_write_state(state, why.empty() ? early : why);
      !fault.empty())
    warn(step,
         cat("the run's state could not be written, so that it will be shown as interrupted: ",
             fault));
  if (events_.failed() > 0)
    warn(step, cat(events_.failed(), " events could not be written to ",
                   run_.events_path().string(), "; what they said is lost"));
  nlohmann::json event{{"kind", "end"},
                       {"step", step},
                       {"seconds", clock_.now_s() - begin_s_},
                       {"unit", plan_.unit}};
  event.update(times_.mean());
  if (graphs.shapes > 0)
    event["graphs"] = {
        {"shapes", graphs.shapes}, {"steps", graphs.by_graph}, {"steps_without", graphs.eager}};
  if (!early.empty()) event["early"] = early;
  if (left_s) event["left_s"] = *left_s;
  if (!why.empty()) event.update({{"kind", "stop"}, {"why", why}, {"by_quota", by_quota}});
  write(event);
  draw_curves(step);
}

}  // namespace lockstep
