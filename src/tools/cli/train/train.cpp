// Implements `lockstep train`, from options to a trained run.
#include "tools/cli/train/train.h"

#include "built_with.h"
#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/process/host_name.h"
#include "core/base/text/text.h"
#include "core/base/version.h"
#include "core/base/whole_number.h"
#include "core/devices/cpu_model.h"
#include "core/devices/gpus/gpu_probe.h"
#include "planning/batch/micro_batch.h"
#include "runtime/run/checkpoint/checkpoint_index.h"
#include "runtime/run/events/json_lines.h"
#include "runtime/run/groups.h"
#include "runtime/run/job_report.h"
#include "runtime/run/progress/run_times.h"
#include "runtime/run/stop_grace.h"
#include "tools/cli/bench/measure_memory.h"
#include "tools/cli/bench/measured_times.h"
#include "tools/cli/commands.h"
#include "tools/cli/context.h"
#include "tools/cli/direct.h"
#include "tools/cli/interrupts.h"
#include "tools/cli/plan/foresee.h"
#include "tools/cli/plan/resolve.h"
#include "tools/cli/ranks.h"
#include "tools/cli/run_end.h"
#include "tools/cli/train/last_evaluation.h"
#include "tools/cli/train/repeats.h"
#include "tools/cli/train/restart_run.h"
#include "tools/cli/train/run_transcript.h"
#include "tools/monitor/gpu/gpu_log.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string_view>

namespace lockstep::cli {
namespace {

nlohmann::json device_records(const std::vector<Device>& devices) {
  nlohmann::json list = nlohmann::json::array();
  for (const Device& device : devices)
    list.push_back({{"kind", device.kind == DeviceKind::cuda ? "cuda" : "cpu"},
                    {"name", device.name},
                    {"uuid", device.uuid},
                    {"index", device.index}});
  return list;
}

// Reads --world=FILE. A worker that another launcher started passes this flag. The file is a JSON
// array with a device per rank.
std::vector<Device> devices_of_world(const std::string& file) {
  const nlohmann::json list = nlohmann::json::parse(read_file(file));
  std::vector<Device> devices;
  for (const nlohmann::json& device : list) devices.push_back(device_from_json(device));
  return devices;
}

}  // namespace

std::vector<Device> training_devices(const Parsed& parsed) {
  std::vector<Device> devices = parsed.has("--world") ? devices_of_world(parsed.value("--world"))
                                                      : devices_for(parsed.value("--devices"));
  check_can_run(devices);
  return devices;
}

namespace {

// Options that evaluations and predictions do not use.
constexpr std::array<std::string_view, 6> training_keys{"optimizer.",  "schedule.", "batch.",
                                                        "checkpoint.", "ema.decay", "on_nan"};

// The recipe of a run. "" if the record is unreadable. An unreadable run is resumed only if the
// user names it.
std::string recipe_of(const RunDir& run) {
  try {
    return text_or(run.record(), "recipe", "");
  } catch (const Error&) {
    return "";
  }
}

void check_resume_flag(const Parsed& parsed) {
  const std::string value = parsed.value("--resume", "never");
  if (value != "auto" && value != "never")
    throw Error(cat("--resume must be auto or never, but is ", value),
                "to go on with a given run: lockstep resume RUN; to begin with the weights of a "
                "file: init.from=FILE");
}

}  // namespace

std::optional<RunDir> run_to_resume(const Parsed& parsed, const RunSetup& setup) {
  check_resume_flag(parsed);
  if (parsed.value("--resume") != "auto") return std::nullopt;
  const std::string name = parsed.value("--name");
  for (RunDir& run : list_runs(setup.train->run.root)) {
    if (!name.empty() && run.name() != name) continue;
    if (name.empty() && recipe_of(run) != setup.recipe) continue;
    return std::move(run);
  }
  return std::nullopt;
}

namespace {

// If the run needs no training, runs the following steps with the options of this command. Returns
// nothing if it needs training.
std::optional<int> only_then(const Parsed& parsed, const RunDir& run, const Then& then,
                             const std::vector<Device>& devices) {
  if (run.state() != RunState::finished) return std::nullopt;
  const RunSetup setup = resolve_resume(run, parsed.all("--config"), parsed.assignments,
                                        parsed.value("--plugin"), then.bare_keys());
  if (goes_further(setup, run)) return std::nullopt;
  say(cat("run ", run.name(), " has finished"));
  say_unused_changes(setup, run);
  if (then.repeated && is_then_done(run, join(then.steps, ","))) return exit_finished;
  if (parsed.has("--world")) {
    print_result_of_run(std::filesystem::absolute(run.path()).string());
    return exit_finished;
  }
  check_predictions(setup, then, run.path(), /*trains=*/false);
  check_evaluation(setup, then);
  const double after_s = setup.train->stop.after.seconds;
  return run_then(setup, run, devices, then,
                  {.ends_s = after_s > 0 ? begin_s() - earlier_s() + after_s : 0});
}

// Whether a finished run has no following steps left to do.
bool is_all_done(const RunDir& run, const Then& then) {
  return then.steps.empty() || (then.repeated && is_then_done(run, join(then.steps, ",")));
}

// Whether data is missing at the recorded place and the command names no other place.
bool is_recorded_data_gone(const RunSetup& setup, const RunDir& run) {
  const nlohmann::json now = setup.options->table.to_json(), before = run.record().at("config");
  bool gone = false;
  for (const OptionInfo& option : setup.options->table.options()) {
    if (!option.spec.is_path || !option.key.starts_with("data.")) continue;
    const nlohmann::json value = now.at(option.key);
    if (value != before.value(option.key, nlohmann::json())) return false;
    const nlohmann::json paths = value.is_array() ? value : nlohmann::json::array({value});
    for (const nlohmann::json& text : paths) {
      std::filesystem::path path = text.get<std::string>();
      while (path.string().find_first_of("*?[") != std::string::npos) path = path.parent_path();
      std::error_code ignored;
      gone = gone || (!path.empty() && !std::filesystem::exists(path, ignored));
    }
  }
  return gone;
}

// Prepares the steps that follow a finished run. Missing data only causes a warning, because
// predictions do not need it. If the folder of runs is not writable, any error is only a warning.
void check_same_data(RunSetup& setup, const RunDir& run, const std::vector<Device>& devices) try {
  setup.train->precision = Precision::fp32;  // no training, so any device works
  prepare_same_data(setup, run, devices);
} catch (const Error& error) {
  const bool can_prepare = access(setup.train->run.root.c_str(), W_OK) == 0;
  if (can_prepare && !is_recorded_data_gone(setup, run)) throw;
  say(cat("warning: the data are not compared with those of the run ", run.name(), ": ",
          error.what()));
}

// Checks that the run found by --resume auto accepts the options of this command. If not, the error
// names the run and a remedy.
void check_goes_on(const Parsed& parsed, const RunDir& run, const Then& then,
                   const std::vector<Device>& devices) {
  try {
    RunSetup setup = resolve_resume(run, parsed.all("--config"), parsed.assignments,
                                    parsed.value("--plugin"), then.bare_keys());
    if (run.state() != RunState::finished || goes_further(setup, run))
      return check_frozen_batch(*setup.train, setup.prepared.facts, devices);
    if (!is_all_done(run, then)) check_same_data(setup, run, devices);
  } catch (const Error& error) {
    throw Error(cat("--resume auto goes on with the run ", run.name(),
                    parsed.has("--name") ? "" : cat(", the newest of ", parsed.positionals[0]),
                    ": ", error.what()),
                error.hint() == new_run_hint ? cat(new_run_hint, ": --name NEW")
                                             : cat(error.hint(), error.hint().empty() ? "" : "; ",
                                                   "to begin another: --name NEW"));
  }
}

// group: the name of the group of a command with --seeds, or empty.
int train_once(const Parsed& parsed, const std::string& group) {
  const Then then = then_of(parsed);
  const bool foreign = parsed.has("--world");
  const std::vector<Device> devices = training_devices(parsed);
  RunSetup setup = resolve_options(parsed.positionals[0], parsed.value("--plugin"),
                                   parsed.all("--config"), parsed.assignments, devices,
                                   then.bare_keys(), {.devices = parsed.value("--devices")});
  if (std::optional<RunDir> run = run_to_resume(parsed, setup)) {
    check_goes_on(parsed, *run, then, devices);
    if (const auto code = only_then(parsed, *run, then, devices)) return *code;
    return resume_run(parsed, std::move(*run), "");
  }
  RunDir::check_new(setup.train->run.root, parsed.value("--name"));
  check_reserve(*setup.train);
  const ItemLoad items = check_predictions(setup, then, {}, /*trains=*/true);
  prepare(setup, Purpose::train, devices, {});
  check_evaluation(setup, then);
  if (!foreign) try_micro_out(setup, devices);
  plan_run(setup, devices);
  foresee(setup, then, items, {});
  check_new_batch(setup.plan, *setup.train, names_data(setup.options->table));
  say(to_text(setup.plan, false));
  RunDir run = make_run(setup.train->run.root, parsed.value("--name"), setup.recipe,
                        [&](RunDir& fresh, const std::function<void()>&) {
                          fresh.lock();
                          write_start(setup, fresh, false);
                          if (!group.empty()) join_group(fresh, group);
                        });
  if (!foreign) return train_run(std::move(setup), run, false, then);
  return hand_over(parsed, run);
}

int train_main(const Parsed& parsed) {
  if (const DirectRecipe* direct = find_direct_recipe(parsed.positionals[0]))
    return train_direct(*direct, parsed);
  check_resume_flag(parsed);
  return parsed.has("--seeds") ? train_repeats(parsed, train_once) : train_once(parsed, "");
}

}  // namespace

namespace {

// The socket on which a worker waits for the lock of its run.
int lock_socket(const Parsed& parsed) {
  const std::string text = parsed.value("--lock-socket");
  const auto fd = whole_number<int>(text);
  if (!fd) throw Error(cat("--lock-socket must be a descriptor, but is \"", text, "\""));
  return *fd;
}

}  // namespace

bool goes_further(const RunSetup& setup, const RunDir& run) {
  const nlohmann::json now = setup.train->table.to_json(), before = run.record().at("config");
  for (const char* key : {"stop.steps", "stop.epochs", "stop.patience", "stop.patience_epochs"})
    if (before.contains(key) && before[key] != now[key]) return true;
  return false;
}

void say_unused_changes(const RunSetup& setup, const RunDir& run) {
  const nlohmann::json record = run.record(), now = setup.train->table.to_json(),
                       before = record.at("config"), planned = record.at("plan").at("batch");
  const auto is_planned = [&](const std::string& key) {
    constexpr std::string_view group = "batch.";
    const auto size =
        key.starts_with(group) ? planned.find(key.substr(group.size())) : planned.end();
    return size != planned.end() && *size == now[key];
  };
  std::vector<std::string> unused;
  for (const std::string& key : setup.train->table.keys()) {
    const bool is_of_training =
        std::any_of(training_keys.begin(), training_keys.end(),
                    [&](std::string_view part) { return key.starts_with(part); });
    if (is_of_training && is_asked_for(setup.train->table, key) && before.contains(key) &&
        before[key] != now[key] && !is_planned(key))
      unused.push_back(cat(key, "=", setup.train->table.get(key)));
  }
  if (!unused.empty())
    say(cat("without effect, because nothing is left to train: ", join(unused, ", "),
            "; a larger stop.steps or stop.epochs trains on with ",
            unused.size() == 1 ? "it" : "them"));
}

std::vector<Flag> then_flags() {
  return {{"--then", "LIST", "afterwards: evaluate, predict, report, or some of them with commas",
           "word evaluate|predict|report|evaluate,predict|evaluate,report"},
          {"--force", "", "--then predict replaces outputs that are there already"}};
}

std::vector<Flag> resume_auto_flags() {
  return {
      {"--name", "NAME", "the run's name (default: recipe and time)", ""},
      {"--resume", "auto", "go on with the run (--name, or the recipe's newest) where there is one",
       "word auto|never"}};
}

std::vector<Flag> training_flags() {
  std::vector<Flag> flags = {
      {"--config", "FILE", "TOML or .json file of options; later files overlay earlier ones",
       "file"},
      {"--devices", "LIST", "all, cpu, cpu:4, 0,1 or UUIDs (default all)", "devices"},
      {"--world", "FILE", "the devices of ranks that somebody else starts", "", true},
      {"--lock-socket", "FD", "where rank 0 of that world takes the run's lock", "", true}};
  const std::vector<Flag> then = then_flags();
  flags.insert(flags.begin() + 2, then.begin(), then.end());
  return flags;
}

RunDir make_run(const std::filesystem::path& root, const std::string& name,
                const std::string& recipe, const FillRun& fill) {
  const NotedInterrupts interrupts;
  const auto leave_if_interrupted = [&] {
    if (!interrupts.came()) return;
    say("interrupted before the run had begun: nothing is left of it");
    throw ToldAlready{exit_interrupted};
  };
  return RunDir::create(root, name, recipe, [&](RunDir& run) {
    fill(run, leave_if_interrupted);
    leave_if_interrupted();
  });
}

int hand_over(const Parsed& parsed, RunDir& run) {
  if (parsed.has("--lock-socket")) run.pass_lock_on(lock_socket(parsed));
  print_result_of_run(std::filesystem::absolute(run.path()).string());
  return exit_finished;
}

void write_start(const RunSetup& setup, RunDir& run, bool resuming) {
  nlohmann::json record = resuming ? run.record() : nlohmann::json::object();
  record.update(setup_to_json(setup));
  const double now = system_clock().wall_s();
  const nlohmann::json devices = device_records(setup.plan.devices);
  if (!resuming) {
    record["started"] = now;
    record["git"] = git_state(std::filesystem::current_path());
    record["starts"] = nlohmann::json::array();
    record["kept"] = nlohmann::json::array();
    for (const std::filesystem::path& file : setup.prepared.keep) {
      std::filesystem::create_directories(run.path() / "recipe");
      std::filesystem::copy_file(file, run.path() / "recipe" / file.filename(),
                                 std::filesystem::copy_options::overwrite_existing);
      record["kept"].push_back(file.filename().string());
    }
  }
  record["lockstep"] = version();
  record["torch"] = LOCKSTEP_TORCH_VERSION;
  record["host"] = host_name();
  record["cpu"] = cpu_model();
  record["cores"] = host_info().cores;
  if (!setup.prepared.data_hash.empty()) record["data_hash"] = setup.prepared.data_hash;
  if (!setup.prepared.data_contents.empty()) record["data_contents"] = setup.prepared.data_contents;
  record.erase("used");
  if (!setup.prepared.used.empty()) record["used"] = setup.prepared.used;
  record["devices"] = devices;
  record["driver"] = probe().driver_version();
  record["starts"].push_back({{"time", now}, {"devices", devices}, {"resumed", resuming}});
  if (resuming) record["resuming"] = true;
  record.erase(then_done_key);
  run.write_record(record);
  run.write_state(RunState::running, "");
  remove_leftovers(run.checkpoints());
}

namespace {

constexpr const char* gpu_log_name = "gpu.csv";

// Only the worker knows whether the recipe's code can predict. A recipe that predicts also has
// options for it.
bool may_predict(const RunSetup& setup) {
  const std::vector<std::string> keys = setup.options->table.keys();
  return std::any_of(keys.begin(), keys.end(),
                     [](const std::string& key) { return key.starts_with("predict."); });
}

void say_what_next(const RunSetup& setup, const RunDir& run) {
  const std::string name = shell_word(run.path().string());
  say(cat(last_evaluation_text(run.path()), "\ntry next:\n  lockstep runs ", name,
          setup.plan.valid_samples > 0 ? "\n  lockstep evaluate " + name : "",
          may_predict(setup) ? "\n  lockstep predict " + name : ""));
}

// An upper bound: weights, two moments and an average in fp32. No optimizer stores more.
double most_checkpoint_bytes(const RunSetup& setup) {
  return 16.0 * static_cast<double>(setup.prepared.facts.parameters);
}

// Facts about a start, except how its ranks ended.
struct Told {
  std::string why;  // the reason for a stop
  bool by_quota = false;
  bool signalled = false;
  double ends_s = 0;  // the end of the time quota, see TrainingEnd
  RunTimes times{};
};

LaunchOutcome launch_training(const RunSetup& setup, const RunDir& run, bool resuming,
                              StopGrace& grace, GpuLog* gpu_log, Told& told) {
  Ranks ranks{.arguments = {"train", "--run", std::filesystem::absolute(run.path()).string()},
              .devices = setup.plan.devices,
              .log_dir = run.make_logs()};
  if (resuming) ranks.arguments.push_back("--resume");
  ranks.hang_after = setup.train->stop.hang_after;
  ranks.log_limit_bytes = static_cast<std::uint64_t>(setup.train->log.limit_mb) << 20;
  ranks.stops_after_step = true;
  ranks.on_signal = [&] { told.signalled = true; };
  ranks.stop_grace_s = [&] { return grace.seconds(); };
  ranks.on_event = [&](const nlohmann::json& event) {
    grace.on_event(event);
    const std::string kind = event.value("kind", "");
    told.times.on_event(event);
    if (kind == "stop") {
      told.why = event.value("why", "");
      told.by_quota = event.value("by_quota", false);
    }
    if ((kind == "stop" || kind == "end") && event.contains("left_s"))
      told.ends_s = system_clock().now_s() + number_or(event, "left_s", 0);
    if (kind == "step" && gpu_log) gpu_log->begin_counting();
  };
  return run_ranks(ranks);
}

// Null if there are no GPUs, or if log.gpu_every is 0.
std::unique_ptr<GpuLog> log_gpus(const RunSetup& setup, const RunDir& run) {
  const double every_s = setup.train->log.gpu_every.seconds;
  if (every_s <= 0 || setup.plan.devices[0].kind != DeviceKind::cuda) return nullptr;
  return std::make_unique<GpuLog>(GpuLogSpec{
      .file = run.path() / gpu_log_name, .devices = setup.plan.devices, .every_s = every_s});
}

void say_activity(const RunDir& run, GpuLog* gpu_log) {
  if (gpu_log == nullptr) return;
  const std::string text = gpu_activity_text(gpu_log->stop(), run.path() / gpu_log_name);
  if (!text.empty()) say(text);
}

}  // namespace

namespace {

// Trains, and restarts after failures as often as `restart` allows. setup: the setup of the last
// start.
LaunchOutcome train_with_restarts(RunSetup& setup, RunDir& run, bool resuming, GpuLog* gpu_log,
                                  Told& told) {
  Restarts restarts(setup.train->restart);
  StopGrace grace(setup.train->stop.grace.seconds, most_checkpoint_bytes(setup));
  grace.learn_from(run);
  LaunchOutcome outcome = launch_training(setup, run, resuming, grace, gpu_log, told);
  while (const auto* failed = std::get_if<RankFailed>(&outcome)) {
    if (setup.train->restart == 0 || is_users_error(*failed)) break;
    const std::int64_t step = newest_good_step(run);
    if (!restarts.once_more(step)) break;
    say(cat("warning: ", failure_text(*failed), "; starting again from step ", step, " (restart ",
            restarts.count(), " of ", setup.train->restart, ")"));
    try {
      setup = start_again(run, setup);
    } catch (const Error& error) {
      say(cat("warning: the run cannot start again: ", error.what()));
      break;
    }
    outcome = launch_training(setup, run, /*resuming=*/true, grace, gpu_log, told);
  }
  return outcome;
}

// Runs the following steps, except after a signal, which ends the whole command.
int then_unless_signalled(const RunSetup& setup, const RunDir& run, const Then& then,
                          const Told& told) {
  if (then.steps.empty())  // a signal also skips the repeats that follow
    return told.signalled && then.repeated ? exit_interrupted : exit_finished;
  if (!told.signalled)
    return run_then(setup, run, setup.plan.devices, then,
                    {.how = Trained::to_the_end, .ends_s = told.ends_s});
  say(cat("--then ", join(then.steps, ","), " is left out: a signal came"));
  return exit_interrupted;
}

// Bytes that all finished ranks have read from disk, as counted by the kernel.
double children_read_bytes() {
  constexpr double block_bytes = 512;
  rusage use = {};
  return ::getrusage(RUSAGE_CHILDREN, &use) == 0 ? block_bytes * static_cast<double>(use.ru_inblock)
                                                 : 0;
}

// Adds the bytes to the record of this start. A failure is ignored, because the run does not need
// them.
void note_read_bytes(const RunDir& run, double bytes) try {
  nlohmann::json record = run.record();
  record.at("starts").back()["read_bytes"] = bytes;
  run.write_record(record);
} catch (const std::exception&) {
}

}  // namespace

namespace {

// The time that all starts have used if stop.budget ended this one. 0 if another cause ended it.
double spent_budget_s(const RunDir& run, const Told& told) {
  if (!told.by_quota || !told.why.starts_with("stop.budget")) return 0;
  const auto checkpoint = newest_good(run.checkpoints(), [](const CheckpointInfo&) {});
  return checkpoint ? elapsed_s(*checkpoint) : 0;
}

// Does the work of train_run while its messages are recorded.
int train_to_the_end(RunSetup setup, RunDir& run, bool resuming, const Then& then) {
  const double read_before = children_read_bytes();
  const std::unique_ptr<GpuLog> gpu_log = log_gpus(setup, run);
  Told told;
  const LaunchOutcome outcome = train_with_restarts(setup, run, resuming, gpu_log.get(), told);
  say_activity(run, gpu_log.get());
  note_read_bytes(run, children_read_bytes() - read_before);
  const GoOn go_on = go_on_with(
      run.path(), setup, then,
      {.spent_s = spent_budget_s(run, told), .predicts = told.by_quota && !told.signalled});
  const int code = report_outcome(outcome, run, told.why, go_on);
  report_training_to_batch(run);
  if (code == exit_finished || code == exit_stopped)
    remember_times(setup, {.parts = told.times.mean(), .run = run.name()});
  if (code == exit_stopped && told.by_quota && !told.signalled) {
    const int after =
        run_then(setup, run, setup.plan.devices, then,
                 {.how = Trained::until_quota, .ends_s = told.ends_s, .go_on = go_on.command});
    if (after == exit_finished && then.has("predict"))
      say(cat("predicted before the end of the run; ", go_on.text()));
    return after == exit_finished ? exit_stopped : after;
  }
  if (code != exit_finished) return code;
  remember_memory(setup, run);
  if (const std::string compared = forecast_and_truth(setup); !compared.empty()) say(compared);
  say(cat("run ", run.path().string()));
  const int after = then_unless_signalled(setup, run, then, told);
  if (after == exit_finished) say_what_next(setup, run);
  return after;
}

}  // namespace

int train_run(RunSetup setup, RunDir& run, bool resuming, const Then& then) {
  RunTranscript transcript(run, resuming ? "resumed" : "started", to_text(setup.plan, false));
  try {
    return train_to_the_end(std::move(setup), run, resuming, then);
  } catch (const Error& error) {
    transcript.add(error);
    throw;
  }
}

Command train_command() {
  Command command{.name = "train",
                  .operands = "RECIPE [key=value …]",
                  .summary = "train a model on all devices",
                  .details =
                      "Prints the plan, then trains with one process per device. Ctrl-C stops with "
                      "a checkpoint; a second Ctrl-C stops at once. A recipe without the engine "
                      "makes no checkpoints: Ctrl-C ends it. --then predict runs after the end and "
                      "after a stop by quota; with --then a bare KEY that is no option means "
                      "predict.KEY or evaluate.KEY.",
                  .flags = training_flags(),
                  .min_positionals = 1,
                  .max_positionals = 1,
                  .takes_assignments = true,
                  .complete = "recipe",
                  .run = train_main};
  for (const Flag& flag : resume_auto_flags()) command.flags.push_back(flag);
  command.flags.push_back({"--seeds", "N",
                           "make N runs NAME-s1, NAME-s2, … with seed, seed + 1, …; compare "
                           "--groups NAME takes them as repeats",
                           ""});
  command.flags.push_back({"--plugin", "LIB", "shared library with the recipe", "file"});
  return command;
}

}  // namespace lockstep::cli
