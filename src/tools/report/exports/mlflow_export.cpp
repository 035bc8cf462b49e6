// Exports runs and batches as runs of MLflow's file store.
#include <algorithm>
#include <cmath>
#include <system_error>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/base/json/json.h"
#include "core/base/text/text.h"
#include "runtime/run/events/json_lines.h"
#include "runtime/run/folder/run_summary.h"
#include "runtime/run/formats/tensorboard_log.h"
#include "tools/report/exports/event_limits.h"
#include "tools/report/exports/mlflow_writer.h"
#include "tools/report/exports/run_exports.h"
#include "tools/report/exports/start_marks.h"
#include "tools/report/facts/batch_facts.h"
#include "tools/report/facts/result_facts.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

MlflowStatus mlflow_status(RunState state) {
  switch (state) {
    case RunState::running:
      return MlflowStatus::running;
    case RunState::finished:
      return MlflowStatus::finished;
    case RunState::failed:
      return MlflowStatus::failed;
    case RunState::stopped:
    case RunState::interrupted:
      return MlflowStatus::killed;
  }
  return MlflowStatus::killed;
}

MlflowStatus mlflow_status(const std::string& job_state) {
  return job_state == "done"     ? MlflowStatus::finished
         : job_state == "failed" ? MlflowStatus::failed
                                 : MlflowStatus::killed;
}

std::string value_text(const nlohmann::json& value) {
  return value.is_string() ? value.get<std::string>() : to_line(value);
}

std::map<std::string, std::string> options_of_record(const nlohmann::json& record) {
  std::map<std::string, std::string> options;
  if (!record.contains("config") || !record["config"].is_object()) return options;
  for (const auto& [key, value] : record["config"].items()) options[key] = value_text(value);
  return options;
}

// Writes the results of a training or job. Measured or counted numbers become metrics, and all
// other values become parameters. Returns whether there was a metric.
bool add_results(const nlohmann::json& results, double time, MlflowRunWriter& writer,
                 MlflowRunFacts& facts) {
  bool any = false;
  for (const auto& [name, value] : results.items()) {
    if (value.is_null() || value.is_structured()) continue;
    const ResultRole role = role_of_result(name, value);
    const bool measured = role == ResultRole::quantity || role == ResultRole::amount;
    if (!measured || !value.is_number() || name.starts_with("asked.")) {
      facts.parameters.try_emplace(name, value_text(value));
      continue;
    }
    writer.add(name, time, 0, value.get<double>());
    any = true;
  }
  return any;
}

// Writes the run's events. Returns the starts of the run.
StartMarks add_events(const RunDir& run, double& last, MlflowRunWriter& writer,
                      WrittenExport& written) {
  StartMarks starts;
  std::string unit = "samples";
  for_each_effective_line(run.events_path(), [&](const std::string& line) {
    const nlohmann::json event = parse_object(line);
    last = std::max(last, number_or(event, "time", last));
    starts.event(event);
    const std::string kind = text_or(event, "kind", "");
    if (kind == "start") unit = text_or(event, "unit", unit);
    const std::vector<TensorboardScalar> scalars = scalars_of_event(event, unit);
    if (scalars.empty()) return;
    ++(kind == "step" ? written.steps : written.evaluations);
    for (const TensorboardScalar& scalar : scalars)
      writer.add(scalar.first, number_or(event, "time", 0), integer_or(event, "step", 0),
                 scalar.second);
  });
  return starts;
}

std::string relative_place(const fs::path& experiment, const std::string& id) {
  return cat(experiment.filename().string(), "/", id);
}

std::string id_of_job(const std::string& batch, const JobFacts& job) {
  return hash128_hex(cat("job ", batch, " ", job.name, " ", job.key));
}

void write_job(const JobFacts& job, const Trial& batch, const fs::path& experiment, bool replace,
               WrittenExport& written) {
  MlflowRunWriter writer(experiment, id_of_job(batch.path, job), replace);
  MlflowRunFacts facts{.name = job.name,
                       .status = mlflow_status(job.state),
                       .started = job.begin,
                       .ended = job.end,
                       .parameters = {},
                       .tags = {{"mlflow.runName", job.name},
                                {"mlflow.source.name", "lockstep"},
                                {"mlflow.source.type", "LOCAL"},
                                {"mlflow.user", ""},
                                {"lockstep.batch", batch.name},
                                {"lockstep.state", job.state},
                                {"lockstep.devices", job.devices ? join(*job.devices, ", ") : ""}}};
  const nlohmann::json parameters = parse_json(job.parameters);
  if (parameters.is_object())
    for (const auto& [name, value] : parameters.items()) facts.parameters[name] = value_text(value);
  if (job.end > job.begin) writer.add("job_s", job.end, 0, job.seconds());
  add_results(job.results, job.end, writer, facts);
  writer.finish(facts);
  written.left_out += writer.left_out();
  ++written.runs;
}

bool is_over(const JobFacts& job) { return job.state != "waiting" && job.state != "running"; }

}  // namespace

WrittenExport export_mlflow(const RunDir& run, const fs::path& folder, bool replace) {
  check_mlflow_folder(folder);
  const nlohmann::json record = run.record();
  const RunSummary summary = summarize(run);
  const std::string id =
      hash128_hex(cat(run.name(), " ", to_line(record.value("started", nlohmann::json())), " ",
                      text_or(record, "host", "")));
  const fs::path experiment =
      mlflow_experiment_folder(folder, text_or(record, "recipe", "lockstep"), summary.started);
  MlflowRunWriter writer(experiment, id, replace);
  WrittenExport written{.what = relative_place(experiment, id)};
  double last = summary.started;
  const StartMarks starts = add_events(run, last, writer, written);
  MlflowRunFacts facts{.name = run.name(),
                       .status = mlflow_status(summary.state),
                       .started = summary.started,
                       .parameters = options_of_record(record),
                       .tags = {{"mlflow.runName", run.name()},
                                {"mlflow.source.name", "lockstep"},
                                {"mlflow.source.type", "LOCAL"},
                                {"mlflow.user", ""},
                                {"lockstep.version", text_or(record, "lockstep", "")},
                                {"lockstep.state", to_string(summary.state)},
                                {"lockstep.devices", summary.devices},
                                {"lockstep.host", text_or(record, "host", "")}}};
  constexpr std::size_t longest_tag = 5000;
  if (std::string marks = text_of_marks(starts.all());
      !starts.all().empty() && marks.size() <= longest_tag)
    facts.tags["lockstep.starts"] = std::move(marks);
  if (record.contains("results") && record["results"].is_object()) {
    const double seconds = number_or(record, "seconds", NAN);
    if (std::isfinite(seconds)) last = std::max(last, summary.started + seconds);
    if (add_results(record["results"], last, writer, facts)) ++written.evaluations;
    if (std::isfinite(seconds) && !record["results"].contains("wall_s"))
      writer.add("wall_s", last, 0, seconds);
  }
  if (summary.state != RunState::running) facts.ended = last;
  writer.finish(facts);
  written.left_out = writer.left_out();
  return written;
}

WrittenExport export_mlflow(const BatchFolder& batch, const fs::path& folder, bool replace) {
  check_mlflow_folder(folder);
  const Trial facts = read_batch_facts(batch);
  double begin = INFINITY;
  for (const JobFacts& job : facts.jobs)
    if (is_over(job) && job.begin > 0) begin = std::min(begin, job.begin);
  if (std::isinf(begin))
    throw Error(
        cat("no job of the batch ", facts.name, " is over yet: there is nothing to export"));
  const fs::path experiment = mlflow_experiment_folder(folder, facts.name, begin);
  WrittenExport written{.what = experiment.filename().string()};
  std::error_code ignored;
  for (const JobFacts& job : facts.jobs)  // all are checked before the first is written
    if (is_over(job) && !replace && fs::exists(experiment / id_of_job(facts.path, job), ignored))
      throw Error(
          cat("jobs of the batch ", facts.name, " are in ", experiment.string(), " already"),
          "replace them with --force");
  for (const JobFacts& job : facts.jobs)
    if (is_over(job)) write_job(job, facts, experiment, replace, written);
  return written;
}

}  // namespace lockstep
