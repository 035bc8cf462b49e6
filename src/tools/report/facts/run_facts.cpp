#include "tools/report/facts/run_facts.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/base/text/text.h"
#include "runtime/run/events/json_lines.h"
#include "runtime/run/folder/run_files.h"
#include "runtime/run/folder/run_summary.h"
#include "runtime/run/labels.h"
#include "tools/report/facts/gpu_facts.h"
#include "tools/report/facts/json_member.h"
#include "tools/report/facts/metric_facts.h"
#include "tools/report/facts/option_kinds.h"
#include "tools/report/facts/result_facts.h"
#include "tools/report/facts/run_log.h"

namespace lockstep {
namespace {

using nlohmann::json;

// The text of a key. Null if the record lacks it or has an empty text.
json known_text(const json& object, const char* key) {
  const std::string text = text_or(object, key, "");
  return text.empty() ? json() : json(text);
}
json known_count(const json& object, const char* key) {
  const double number = number_or(object, key, NAN);
  return number > 0 ? json(number) : json();
}

bool is_path_like(const json& value) {
  if (value.is_array()) return std::any_of(value.begin(), value.end(), is_path_like);
  return value.is_string() && value.get_ref<const std::string&>().starts_with('/');
}

void add_options(const json& config, Trial& trial) {
  if (!config.is_object() || config.empty()) return;
  trial.set("options", FactKind::work, "listed");
  for (const auto& [key, value] : config.items())
    if (const std::optional<FactKind> kind = option_kind(key))
      (is_path_like(value) ? trial.paths : trial.facts)[key] = {*kind, value};
}

// Adds the values that options stand for (Prepared::used).
void add_stood_for(const json& used, Trial& trial) {
  if (!used.is_object()) return;
  for (const auto& [key, value] : used.items()) trial.stood_for[key] = value;
}

json init_hash(const json& record) {
  const json init = member_or_null(record, "init");
  if (!init.is_object()) return "of the recipe";
  std::string hashes;
  for (const char* part : {"files", "average"}) {
    const json files = member_or_null(init, part);
    for (const json& file : files.is_array() ? files : json::array({files}))
      hashes += text_or(file, "xxh3", "");
  }
  return hashes.empty() ? json() : json(hash128_hex(hashes));
}

void add_plan(const json& record, Trial& trial) {
  const json plan = member_or_null(record, "plan"), facts = member_or_null(record, "facts"),
             batch = member_or_null(plan, "batch"), parameters = member_or_null(plan, "parameters");
  if (!plan.is_object()) return;
  const auto work = FactKind::work, means = FactKind::means;
  trial.set("init", work, init_hash(record));
  json trained = known_count(parameters, "trained");
  trial.set("parameters", work, trained.is_null() ? known_count(facts, "parameters") : trained);
  if (const json frozen = known_count(parameters, "frozen"); !frozen.is_null())
    trial.set("frozen_parameters", work, frozen);
  trial.set("train_samples", work, known_count(plan, "train_samples"));
  trial.set("valid_samples", work, member_or_null(plan, "valid_samples"));
  trial.set("global_batch", work, known_count(batch, "global"));
  trial.set("planned_steps", FactKind::amount, known_count(plan, "total_steps"));
  const json flops = known_count(member_or_null(plan, "compute"), "flops_per_step");
  trial.set("flops_per_step", FactKind::note, flops);
  if (const double global = trial.number("global_batch"); flops.is_number() && global > 0)
    trial.set("flops_per_sample", work, flops.get<double>() / global);
  trial.set("peak_flops", FactKind::place,
            known_count(member_or_null(plan, "compute"), "peak_flops"));
  trial.set("micro_batch", means, known_count(batch, "micro"));
  trial.set("accumulation", means, known_count(batch, "accumulation"));
  trial.set("recomputed_blocks", means, member_or_null(plan, "recomputed_blocks"));
  const json precision = member_or_null(plan, "precision");
  trial.set("precision", means, known_text(precision, "type"));
  trial.set("tf32", means, member_or_null(precision, "tf32"));
}

json code_of(const json& record) {
  const json git = member_or_null(record, "git");
  const std::string commit = text_or(git, "commit", "");
  if (commit.empty()) return nullptr;
  return cat(commit.substr(0, 12), is_true(git, "dirty") ? ", with changes" : "");
}

json device_ids(const json& devices) {
  json ids = json::array();
  for (const json& device : devices)
    if (const std::string id = text_or(device, "uuid", ""); !id.empty()) ids.push_back(id);
  std::sort(ids.begin(), ids.end());
  return ids.empty() ? json() : ids;
}

// The devices of all starts, as texts without repetition.
std::vector<std::string> devices_of_starts(const json& record) {
  std::vector<std::string> texts;
  const json starts = member_or_null(record, "starts");
  for (const json& start : starts.is_array() ? starts : json::array()) {
    const json devices = member_or_null(start, "devices");
    if (!devices.is_array() || devices.empty()) continue;
    std::string text = devices_text(devices);
    if (std::find(texts.begin(), texts.end(), text) == texts.end())
      texts.push_back(std::move(text));
  }
  return texts;
}

void add_place(const json& record, Trial& trial) {
  const auto place = FactKind::place, means = FactKind::means;
  const json devices = member_or_null(record, "devices");
  if (devices.is_array() && !devices.empty()) {
    const std::vector<std::string> all = devices_of_starts(record);
    trial.set("devices", place, all.size() > 1 ? json(all) : json(devices_text(devices)));
    if (all.size() < 2) trial.set("device_count", FactKind::note, devices.size());
    trial.set("device_ids", place, device_ids(devices));
    if (text_or(devices[0], "kind", "") == "cuda")
      trial.set("driver", place, known_text(record, "driver"));
  }
  trial.set("cpu", place, known_text(record, "cpu"));
  trial.set("cores", place, known_count(record, "cores"));
  trial.set("host", place, known_text(record, "host"));
  trial.set("lockstep", means, known_text(record, "lockstep"));
  if (record.contains("torch")) trial.set("torch", means, known_text(record, "torch"));
  if (const std::string plugin = text_or(record, "plugin", ""); !plugin.empty())
    trial.set("plugin", means, std::filesystem::path(plugin).filename().string());
  trial.set("code", means, code_of(record));
}

// The number of samples in `steps` steps. The last step of an epoch may have fewer samples. Batch
// and epoch sizes belong to the run, so later starts do not change them.
json samples_done(const json& record, std::int64_t steps) {
  const json plan = member_or_null(record, "plan");
  const std::int64_t global = integer_or(member_or_null(plan, "batch"), "global", 0),
                     per_epoch = integer_or(plan, "steps_per_epoch", 0),
                     samples = integer_or(plan, "epoch_size", integer_or(plan, "train_samples", 0));
  if (global <= 0) return nullptr;
  const bool dropped = is_true(member_or_null(record, "config"), "data.drop_last");
  if (per_epoch <= 0 || samples <= 0 || dropped) return steps * global;
  return steps / per_epoch * samples + std::min(steps % per_epoch * global, samples);
}

// The step of another run from which this one was resumed (resume --into), or 0. Work before that
// step belongs to the other run.
std::int64_t step_of_origin(const json& record) {
  return integer_or(member_or_null(record, "from"), "step", 0);
}

void add_amounts(const json& record, const RunLog& log, Trial& trial) {
  const auto amount = FactKind::amount;
  const json plan = member_or_null(record, "plan");
  const std::int64_t before = step_of_origin(record), steps = std::max(log.step, before) - before;
  trial.set("steps", amount, steps);
  if (const double per_epoch = number_or(plan, "steps_per_epoch", 0); per_epoch > 0)
    trial.set("epochs", amount, std::round(static_cast<double>(steps) / per_epoch * 1e6) / 1e6);
  json samples = samples_done(record, before + steps);
  if (samples.is_number())
    samples = samples.get<std::int64_t>() - samples_done(record, before).get<std::int64_t>();
  trial.set("samples", amount, samples);
  const std::string unit = text_or(plan, "unit", "samples");
  const double per_sample = number_or(member_or_null(record, "facts"), "units_per_sample", 0);
  if (unit != "samples" && per_sample > 0 && samples.is_number())
    trial.set(unit, amount, samples.get<double>() * per_sample);
  // The values come from the log. The plan is that of the last start, which may have made no step.
  const auto set_those = [&](const char* fact, const auto& values) {
    if (!values.empty())
      trial.set(fact, FactKind::means, values.size() > 1 ? json(values) : json(values[0]));
  };
  set_those("micro_batch", log.micro);
  set_those("precision", log.precisions);
  // The value of one start says nothing about the steps of others.
  if (log.peak_flops.size() > 1) trial.set("peak_flops", FactKind::place, nullptr);
  if (const json graphs = member_or_null(log.ended, "graphs"); graphs.is_object())
    trial.set("graphs", FactKind::means, integer_or(graphs, "steps", 0) > 0);
}

// Bytes that all starts read from disk. Null unless all of them recorded the number.
json read_bytes(const json& starts) {
  if (!starts.is_array() || starts.empty()) return nullptr;
  double sum = 0;
  for (const json& start : starts) sum += number_or(start, "read_bytes", NAN);
  return std::isfinite(sum) ? json(sum) : json();
}

std::optional<double> number_of(const json& event, const char* key) {
  const double value = number_or(event, key, NAN);
  return std::isnan(value) ? std::nullopt : std::optional(value);
}

void add_times(const RunLog& log, Trial& trial) {
  const std::optional<double> step_s = log.step_s();
  trial.measure({.name = "step_s", .title = "step time", .unit = "s"}, step_s);
  // The last step of an epoch may have fewer samples.
  const double steps = trial.number("steps"), samples = trial.number("samples");
  if (step_s && steps > 0 && samples > 0)
    trial.measure({.name = "sample_s", .title = "time per sample", .unit = "s"},
                  *step_s * steps / samples);
  if (log.train_s > 0)
    trial.measure({.name = "train_s", .title = "training time", .unit = "s", .total = true},
                  log.train_s);
  trial.measure({.name = "start_up_s", .title = "start-up", .unit = "s"}, log.start_up_s);
  trial.measure({.name = "memory_bytes",
                 .title = "memory of the largest rank, peak",
                 .unit = "bytes",
                 .aspect = Aspect::memory},
                log.peak_bytes);
  const auto share = [&](const char* name, const char* title, double LoggedSteps::*of) {
    trial.measure({.name = name, .title = title, .scale = Scale::difference, .aspect = Aspect::use},
                  log.share(of));
  };
  share("data_share", "share of waiting for data", &LoggedSteps::data_share);
  share("wait_share", "share of waiting for ranks", &LoggedSteps::wait_share);
}

void add_cautions(const RunDir& run, const RunLog& log, Trial& trial) {
  const RunState state = run.state();
  if (state != RunState::finished) trial.cautions.push_back(cat("its state is ", to_string(state)));
  if (const std::int64_t before = step_of_origin(run.record()); before > 0)
    trial.cautions.push_back(cat("it went on from step ", before,
                                 " of another run: work and time are those of the steps since"));
  if (log.starts > 1)
    trial.cautions.push_back(cat("it was started ", log.starts,
                                 " times: what was done after the "
                                 "checkpoints that it went on from is left out"));
  if (log.bad_lines > 0)
    trial.cautions.push_back(cat(log.bad_lines, " damaged lines in events.jsonl are left out"));
  if (log.not_finite > 0)
    trial.cautions.push_back(cat("the loss of ", log.not_finite, " logged steps was not finite"));
  const bool steps = !log.steps.empty() || !log.evals.empty() || trial.find("wall_s") != nullptr;
  if (!steps) trial.cautions.push_back("it has no steps: nothing was measured");
}

}  // namespace

Trial read_run_facts(const RunDir& run) {
  const json record = run.record();
  Trial trial{.name = run.name(),
              .path = std::filesystem::absolute(run.path()).lexically_normal().string(),
              .source = "run",
              .state = to_string(run.state())};
  trial.set("recipe", FactKind::work, known_text(record, "recipe"));
  trial.set("data", FactKind::work, known_text(record, "data_hash"));
  if (const json contents = known_text(record, "data_contents"); !contents.is_null())
    trial.set("data.contents", FactKind::work, contents);
  add_options(member_or_null(record, "config"), trial);
  add_stood_for(member_or_null(record, "used"), trial);
  add_plan(record, trial);
  add_place(record, trial);
  trial.set("started", FactKind::note, member_or_null(record, "started"));
  const RunLabels labels = read_labels(run.path(), record);
  if (!labels.tags.empty()) trial.set("tags", FactKind::note, labels.tags);
  if (!labels.note.empty()) trial.set("note", FactKind::note, labels.note);
  const RunLog log = read_run_log(run.events_path());
  if (const json results = member_or_null(record, "results"); results.is_object()) {
    add_results(results, trial);
    if (trial.value("devices").is_null())
      trial.set("devices", FactKind::place, known_text(results, "device"));
    if (trial.find("wall_s") == nullptr)  // the results may already contain it
      trial.measure({.name = "wall_s", .title = "time", .unit = "s", .total = true},
                    number_of(record, "seconds"));
  }
  if (member_or_null(record, "plan").is_object()) add_amounts(record, log, trial);
  trial.set("read_bytes", FactKind::place, read_bytes(member_or_null(record, "starts")));
  add_times(log, trial);
  add_metrics(log, text_or(member_or_null(record, "config"), "checkpoint.best_metric", ""), trial);
  try {
    if (open_run_file(run.path(), "gpu.csv"))
      add_gpu_facts(read_gpu_use({run.path() / "gpu.csv"}, log.trained), trial);
  } catch (const Error& error) {
    trial.cautions.push_back(cat("gpu.csv is left out: ", error.what()));
  }
  add_cautions(run, log, trial);
  return trial;
}

}  // namespace lockstep
