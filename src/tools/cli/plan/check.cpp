// Implements `lockstep check`. It checks whether a recipe keeps its contract with the engine,
// without training.
#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "planning/batch/micro_batch.h"
#include "planning/direct_recipe.h"
#include "runtime/run/checkpoint/checkpoint_index.h"
#include "tools/cli/commands.h"
#include "tools/cli/context.h"
#include "tools/cli/plan/resolve.h"
#include "tools/cli/ranks.h"
#include "tools/cli/run_end.h"
#include "tools/cli/run_root.h"
#include "tools/cli/train/train.h"

#include <algorithm>
#include <filesystem>
#include <optional>

namespace lockstep::cli {
namespace {

bool is_recipe(const std::string& name) {
  return std::any_of(recipes().begin(), recipes().end(),
                     [&](const RecipeInfo& info) { return info.name == name; });
}

// Makes a plan that is never run. The length is arbitrary, and no micro-batch is measured, because
// that would train.
void plan_without_training(RunSetup& setup) {
  TrainOptions& train = *setup.train;
  if (train.batch.micro == micro_auto) train.batch.micro = 0;
  if (train.stop.steps == 0 && train.stop.epochs == 0) train.stop.steps = 1;
}

// An operand that is neither a run nor a recipe is reported as a misspelt recipe.
RunDir run_to_check(const Parsed& parsed) {
  const std::string& operand = parsed.positionals[0];
  std::error_code ignored;
  if (!std::filesystem::exists(std::filesystem::path(run_root(parsed)) / operand, ignored) &&
      !std::filesystem::exists(operand, ignored))
    try {
      find_recipe(operand);
    } catch (const Error& error) {
      const bool is_direct = find_direct_recipe(operand) != nullptr;
      throw Error(cat(error.what(), is_direct ? "" : ", nor a run"), error.hint());
    }
  return operand_run(parsed);
}

RunSetup check_setup(const Parsed& parsed, const std::vector<Device>& devices) {
  const std::string plugin = parsed.value("--plugin");
  if (!plugin.empty() || is_recipe(parsed.positionals[0])) {
    RunSetup setup =
        resolve_options(parsed.positionals[0], plugin, parsed.all("--config"), parsed.assignments,
                        devices, {}, flags_here(check_command(), parsed));
    plan_without_training(setup);
    prepare_and_plan(setup, Purpose::train, devices, {});
    return setup;
  }
  const RunDir run = run_to_check(parsed);
  RunSetup setup = resolve_resume(run, parsed.all("--config"), parsed.assignments);
  plan_without_training(setup);
  const std::vector<CheckpointInfo> all = list_checkpoints(run.checkpoints(), /*thorough=*/false);
  plan_again(setup, run, devices, all.empty() ? 0 : all.back().step, /*may_try=*/false);
  return setup;
}

std::string check_text(const nlohmann::json& result) {
  std::string text;
  const auto add = [&](const char* key, const char* word) {
    for (const nlohmann::json& line : result.at(key))
      text += cat(word, line.get<std::string>(), "\n");
  };
  add("tried", "in order     ");
  add("notes", "not checked  ");
  add("warnings", "warning      ");
  add("faults", "fault        ");
  return trim(text);
}

// Checks on one device only, because the recipe returns the same on all.
int check_main(const Parsed& parsed) {
  std::vector<Device> devices = devices_for(parsed.value("--devices"));
  devices.resize(1);
  check_can_run(devices);
  const RunSetup setup = check_setup(parsed, devices);
  const TemporaryDirectory folder;
  const RunDir run = RunDir::create(folder.path(), "check", setup.recipe, [&](RunDir& fresh) {
    fresh.write_record(setup_to_json(setup));
  });
  std::optional<nlohmann::json> result;
  const LaunchOutcome outcome = run_ranks({.arguments = {"check", "--run", run.path().string()},
                                           .devices = devices,
                                           .log_dir = folder.path(),
                                           .on_event = [&](const nlohmann::json& event) {
                                             if (event.value("kind", "") == "checked")
                                               result = event;
                                           }});
  if (const int code = report_reading(outcome); code != exit_finished) return code;
  LOCKSTEP_CHECK(result);
  result->erase("kind");
  print(parsed.has("--json") ? json_text(*result) : check_text(*result));
  return result->at("faults").empty() && result->at("notes").empty() ? exit_finished : exit_failed;
}

}  // namespace

Command check_command() {
  return {.name = "check",
          .operands = "RECIPE|RUN [key=value …]",
          .summary = "try whether a recipe keeps its contract, without training",
          .details =
              "Takes a few samples through the recipe's loss, its weights, evaluation, metrics and "
              "table of items, on one device, with a fresh model. Names terms of the loss that are "
              "means instead of sums, padding that counts, weights that do not follow from the "
              "batch, and records of the wrong shape. Exit code 1: there is a fault, or something "
              "could not be tried.",
          .flags = {{"--devices", "LIST", "the first of these is used (default all)", "devices"},
                    {"--config", "FILE",
                     "TOML or .json file of options; later files overlay earlier ones", "file"},
                    {"--plugin", "LIB", "shared library with the recipe", "file"},
                    {"--json", "", "as JSON"}},
          .min_positionals = 1,
          .max_positionals = 1,
          .takes_assignments = true,
          .complete = "recipe",
          .run = check_main};
}

}  // namespace lockstep::cli
