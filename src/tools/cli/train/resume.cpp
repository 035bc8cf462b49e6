// Implements `lockstep resume`, which resumes from the newest good checkpoint.
#include "core/base/error.h"
#include "core/base/text/text.h"
#include "planning/batch/micro_batch.h"
#include "planning/batch/resumed_batch.h"
#include "planning/options/evaluation_changes.h"
#include "planning/options/run_length.h"
#include "planning/schedule/resumed_rate.h"
#include "runtime/launch/launch.h"
#include "runtime/run/checkpoint/checkpoint_index.h"
#include "runtime/run/events/json_lines.h"
#include "runtime/run/folder/run_history.h"
#include "runtime/run/groups.h"
#include "tools/cli/bench/measure_memory.h"
#include "tools/cli/commands.h"
#include "tools/cli/context.h"
#include "tools/cli/direct.h"
#include "tools/cli/plan/foresee.h"
#include "tools/cli/plan/resolve.h"
#include "tools/cli/run_root.h"
#include "tools/cli/train/train.h"

#include <unistd.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

namespace lockstep::cli {
namespace {

namespace fs = std::filesystem;

// Copies a folder's contents without its permissions, because the source may be read-only. Links
// are refused: in a stranger's folder they could make other files of this account part of a run.
void copy_files(const fs::path& from, const fs::path& to,
                const std::function<void()>& leave_if_interrupted) {
  const auto refuse = [](const fs::path& path) {
    throw Error(cat("cannot copy ", path.string(), ": it is no regular file or folder"),
                "put the file or folder itself in its place");
  };
  if (!fs::is_directory(fs::symlink_status(from))) refuse(from);
  fs::create_directories(to);
  for (const fs::directory_entry& entry : fs::directory_iterator(from)) {
    leave_if_interrupted();
    const fs::path target = to / entry.path().filename();
    if (!fs::is_directory(entry.symlink_status()) && !fs::is_regular_file(entry.symlink_status()))
      refuse(entry.path());
    if (entry.is_directory()) {
      copy_files(entry.path(), target, leave_if_interrupted);
      continue;
    }
    fs::copy_file(entry.path(), target);
    fs::permissions(target, fs::perms::owner_write, fs::perm_options::add);
  }
}

// Fills a new run with the checkpoint and the recipe files of another one. The new run's list of
// starts is empty.
void copy_run(const RunDir& from, const CheckpointInfo& checkpoint, const RunDir& run,
              const std::function<void()>& leave_if_interrupted) {
  copy_files(checkpoint.path, run.checkpoints() / checkpoint.path.filename(), leave_if_interrupted);
  if (fs::exists(from.path() / "recipe"))
    copy_files(from.path() / "recipe", run.path() / "recipe", leave_if_interrupted);
  nlohmann::json record = from.record();
  record["from"] = {{"run", fs::absolute(from.path()).string()}, {"step", checkpoint.step}};
  record["started"] = system_clock().wall_s();
  record["starts"] = nlohmann::json::array();
  record.erase(group_key);  // only the original run belongs to the group
  run.write_record(record);
}

void check_writable(const RunDir& run) {
  if (access(run.path().c_str(), W_OK) == 0) return;
  throw Error(
      cat("run ", run.path().string(), " cannot be written to"),
      cat("go on in a new run: lockstep resume ", shell_word(run.path().string()), " --into NAME"));
}

// The newest good checkpoint. If there is none, reports the fault of each one.
std::optional<CheckpointInfo> find_checkpoint(const RunDir& run, bool must_be_there) {
  std::vector<CheckpointInfo> damaged;
  auto found =
      newest_good(run.checkpoints(), [&](const CheckpointInfo& bad) { damaged.push_back(bad); });
  if (found) return found;
  for (const CheckpointInfo& bad : damaged)
    say(cat("warning: checkpoint ", bad.path.filename().string(), " is damaged: ", bad.damage));
  if (must_be_there)
    throw Error(cat("run ", run.name(), " has no good checkpoint to go on from"),
                "start a new run with lockstep train");
  say("there is no good checkpoint: starting from the beginning");
  return std::nullopt;
}

// The micro-batch to which the run was reduced when memory ran out. 0 if it was not, or if the
// devices are of another kind.
std::int64_t micro_that_fitted(const RunDir& run, const RunHistory& history,
                               const std::vector<Device>& devices) {
  const nlohmann::json before = run.record().value("devices", nlohmann::json::array());
  for (const nlohmann::json& device : before)
    if (text_or(device, "name", "") != devices[0].name) return 0;
  return history.memory_left;
}

// The micro-batch that the run had after `step` steps. Returns the step since which the run had it,
// and then the micro-batch. If the last start ended before its first event, the run had the planned
// one.
std::pair<std::int64_t, std::int64_t> last_micro(const RunHistory& history, const Plan& last,
                                                 std::int64_t step) {
  const bool is_of_it = integer_or(history.start, "micro", 0) == last.batch.micro;
  const auto [since, micro] = history.micro_at(step);
  if (is_of_it && micro > 0 && fits_share(last.batch, micro)) return {since, micro};
  return {history.start.is_null() ? -1 : step, last.batch.micro};
}

// Sets the batch options for these devices. Returns the micro-batch that the run keeps.
std::int64_t keep_batch(RunSetup& setup, const LastBatch& last,
                        const std::vector<Device>& devices) {
  TrainOptions& train = *setup.train;
  // a change that the user typed
  const std::int64_t due = micro_due(train.batch.micro_changes, last.step);
  if (!setup.recorded_batch) return due;
  KeptBatch kept = batch_to_keep(*setup.recorded_batch, last, train, setup.prepared.facts, devices);
  train.batch = std::move(kept.sizes);
  return due > 0 ? due : kept.micro;
}

// Whether the user gave a length for the run. A limit for this start alone does not count.
bool asks_for_a_length(const RunSetup& setup) {
  const OptionTable& engine = setup.train->table;
  const OptionTable& recipe = setup.options->table;
  const std::vector<OptionInfo> options = recipe.options();
  return is_asked_for(engine, "stop.steps") || is_asked_for(engine, "stop.epochs") ||
         std::any_of(options.begin(), options.end(), [&](const OptionInfo& option) {
           return option.key.starts_with("stop.") && is_asked_for(recipe, option.key);
         });
}

// A run cannot end before the step that it has reached. Notes the reason for its end if the user
// asked for another length.
void check_end(RunSetup& setup, const std::optional<CheckpointInfo>& checkpoint) {
  Plan& plan = setup.plan;
  if (!checkpoint || plan.total_steps > checkpoint->step) return;
  const RunLength length = run_length(plan, *setup.train, setup.options->table, checkpoint->step);
  if (plan.total_steps < checkpoint->step)
    throw Error(cat("the run would end at step ", plan.total_steps, " (", length.ended_by,
                    "), but its checkpoint is of step ", checkpoint->step, " already"),
                length.longer);
  if (asks_for_a_length(setup))
    plan.notes.push_back(cat("no step is left: ", length.ended_by, " ends the run at step ",
                             plan.total_steps, ", which it has reached; to go further, ",
                             length.longer));
}

// The places of a recipe's data, such as "data.path=/x, data.labels=/y".
std::string data_paths(const RecipeOptions& options) {
  std::vector<std::string> paths;
  for (const OptionInfo& option : options.table.options())
    if (const std::string value = options.table.get(option.key);
        option.spec.is_path && !value.empty() && !option.key.starts_with("predict."))
      paths.push_back(cat(option.key, "=", value));
  return join(paths, ", ");
}

int resume_main(const Parsed& parsed) {
  RunDir run = operand_run(parsed);
  if (const DirectRecipe* const direct = find_direct_recipe(text_or(run.record(), "recipe", "")))
    throw Error(
        cat("run ", run.name(), " cannot be resumed: ", direct->name, " makes no checkpoints"),
        run.state() == RunState::finished ? "it has finished" : train_again_hint(*direct));
  return resume_run(parsed, std::move(run), parsed.value("--into"));
}

}  // namespace

std::string prepare_same_data(RunSetup& setup, const RunDir& run,
                              const std::vector<Device>& devices) {
  Facts before = setup.prepared.facts;
  prepare(setup, Purpose::train, devices, run.path());
  std::string evaluates = evaluation_changes(setup.options->table, run.record().at("config"));
  if (!evaluates.empty()) before.valid_samples = setup.prepared.facts.valid_samples;
  check_frozen_data(before, setup.prepared.facts, data_paths(*setup.options));
  return evaluates;
}

void plan_again(RunSetup& setup, const RunDir& run, const std::vector<Device>& devices,
                std::int64_t step, bool may_try) {
  const Plan last = setup.plan;
  const std::string evaluates = prepare_same_data(setup, run, devices);
  const RunHistory history = read_history(run.events_path());
  const std::int64_t shrunk_to = micro_that_fitted(run, history, devices);
  constexpr std::int64_t end = std::numeric_limits<std::int64_t>::max();
  const auto [since, micro] = last_micro(history, last, step);
  const std::int64_t kept = keep_batch(setup,
                                       {.plan = last,
                                        .micro = last_micro(history, last, end).second,
                                        .shrunk_to = shrunk_to,
                                        .step = step,
                                        .micro_then = micro,
                                        .then_since = since},
                                       devices);
  if (may_try && kept == 0) try_micro_out(setup, devices);
  plan_run(setup, devices, {.shrunk_to = shrunk_to, .kept = kept});
  if (!evaluates.empty())
    setup.plan.notes.push_back(cat("evaluations differ from those before: ", evaluates,
                                   "; their numbers do not continue the curve, and "
                                   "checkpoint.best_metric compares them all the same"));
  if (!setup.recorded_batch) return;
  for (std::string& note : notes_on_kept_batch(*setup.recorded_batch, last, setup.plan))
    setup.plan.notes.push_back(std::move(note));
}

Resumption plan_resumption(RunSetup& setup, const RunDir& run, const Then& then,
                           const std::vector<Device>& devices, const ResumeChecks& checks) {
  const Plan before = setup.plan;  // plan of the last start
  check_reserve(*setup.train);
  Resumption resumption{.items = check_predictions(setup, then, run.path(), checks.trains)};
  resumption.checkpoint = find_checkpoint(run, checks.needs_checkpoint);
  plan_again(setup, run, devices, resumption.step(), checks.may_try);
  check_evaluation(setup, then);
  check_end(setup, resumption.checkpoint);
  if (const std::string note =
          resumed_rate_note(before, setup.plan, *setup.train, resumption.step());
      !note.empty())
    setup.plan.notes.push_back(note);
  return resumption;
}

int resume_run(const Parsed& parsed, RunDir run, const std::string& into) {
  const Then then = then_of(parsed);
  const std::vector<Device> devices = training_devices(parsed);
  const bool foreign = parsed.has("--world"), copies = parsed.has("--into");
  // The run is locked before its options and checkpoints are read, because another process could
  // change them meanwhile.
  const bool had_finished = run.state() == RunState::finished;
  if (!copies) {
    check_writable(run);
    run.lock();
  }
  RunSetup setup = resolve_resume(run, parsed.all("--config"), parsed.assignments,
                                  parsed.value("--plugin"), then.bare_keys());
  check_frozen_batch(*setup.train, setup.prepared.facts, devices);
  if (copies) RunDir::check_new(setup.train->run.root, into);
  const bool trains = !had_finished || goes_further(setup, run);
  if (!trains) say_unused_changes(setup, run);
  const Resumption resumption =
      plan_resumption(setup, run, then, devices,
                      {.trains = trains, .may_try = !foreign, .needs_checkpoint = copies});
  foresee(setup, then, resumption.items, resumption.begun());
  say(to_text(setup.plan, false));
  if (copies)
    run = make_run(setup.train->run.root, into, setup.recipe,
                   [&](RunDir& copy, const std::function<void()>& leave_if_interrupted) {
                     copy.lock();
                     copy_run(run, *resumption.checkpoint, copy, leave_if_interrupted);
                     write_start(setup, copy, true);
                   });
  else
    write_start(setup, run, true);
  if (!foreign) return train_run(std::move(setup), run, true, then);
  return hand_over(parsed, run);
}

Command resume_command() {
  Command command{
      .name = "resume",
      .operands = "RUN [key=value …]",
      .summary = "go on with a run, on any number of devices",
      .details = std::string(run_operand_help) +
                 "\n"
                 "Options that decide the curve (seed, global batch, model, data) cannot change; "
                 "the place of the data can.",
      .flags = training_flags(),
      .min_positionals = 1,
      .max_positionals = 1,
      .takes_assignments = true,
      .complete = "run",
      .run = resume_main};
  command.flags.push_back(
      {"--plugin", "LIB", "the recipe's library, in place of the one in the record", "file"});
  command.flags.push_back({"--into", "NAME", "read RUN only, and go on in a new run", ""});
  return command;
}

}  // namespace lockstep::cli
