#include "cli/direct.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/files.h"
#include "base/host_name.h"
#include "base/text.h"
#include "base/version.h"
#include "cli/context.h"
#include "cli/train.h"
#include "launch/launch.h"
#include "plan/train_options.h"
#include "run/run_dir.h"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace lockstep::cli {
namespace {

// Of both is said why not, rather than that the nearest is another.
void refuse_engine(const DirectRecipe& recipe, const DirectOptions& options, const Parsed& parsed) {
  for (const char* flag : {"--devices", "--then", "--force", "--world", "--resume", "--plugin"})
    if (parsed.has(flag))
      throw Error(cat(recipe.name, " trains in one process without the engine: it has no ", flag));
  const TrainOptions engine;
  for (const std::string& word : parsed.assignments) {
    const std::string key = trim(word.substr(0, word.find('=')));
    if (!options.table.has(key) && engine.table.has(key))
      throw Error(cat(key, " is an option of the engine, without which ", recipe.name, " trains"),
                  cat("lockstep config ", recipe.name, " lists its options"));
  }
}

nlohmann::json record_of(const DirectRecipe& recipe, const DirectOptions& options) {
  return {{"recipe", recipe.name},
          {"config", options.table.to_json()},
          {"lockstep", version()},
          {"host", host_name()},
          {"git", git_state(std::filesystem::current_path())},
          {"started", system_clock().wall_s()}};
}

int code_of(const DirectResult& result) {
  if (result.status == DirectResult::Status::success) return exit_finished;
  say(cat("skipped: ", result.why));
  return exit_skipped;
}

// A job of a batch: the folder is its own, and the batch keeps the rest.
int train_into(const std::string& folder, const DirectOptions& options) {
  make_directories(folder);
  const char* const name = std::getenv("LOCKSTEP_JOB");
  return code_of(options.train({.folder = std::filesystem::absolute(folder),
                                .name = name != nullptr && *name != '\0' ? name : "job",
                                .say = say}));
}

int train_as_run(const DirectRecipe& recipe, const DirectOptions& options, const Parsed& parsed) {
  nlohmann::json record = record_of(recipe, options);
  RunDir run = make_run(options.run_root, parsed.value("--name"), recipe.name,
                        [&](RunDir& fresh, const std::function<void()>&) {
                          fresh.lock();
                          fresh.write_record(record);
                          fresh.write_state(RunState::running, "");
                        });
  try {
    const DirectResult result =
        options.train({.folder = run.path(), .name = run.name(), .say = say});
    record["result"] = result.record;
    run.write_record(record);
    run.write_state(RunState::finished, result.why.empty() ? "" : "skipped: " + result.why);
    say(cat("run ", run.path().string()));
    return code_of(result);
  } catch (const Error& error) {
    run.try_write_state(RunState::failed, error.what());
    throw;
  }
}

}  // namespace

std::unique_ptr<DirectOptions> resolve_direct(const DirectRecipe& recipe, const Parsed& parsed) {
  std::unique_ptr<DirectOptions> options = recipe.make_options();
  refuse_engine(recipe, *options, parsed);
  const std::vector<std::string> files = parsed.all("--config");
  const std::array tables = {&options->table};
  apply_config(tables, std::vector<std::filesystem::path>(files.begin(), files.end()),
               parsed.assignments);
  options->check();
  options->table.make_paths_absolute(std::filesystem::current_path());
  return options;
}

int train_direct(const DirectRecipe& recipe, const Parsed& parsed) {
  const std::unique_ptr<DirectOptions> options = resolve_direct(recipe, parsed);
  const char* const folder = std::getenv("LOCKSTEP_OUT");
  if (folder != nullptr && *folder != '\0') return train_into(folder, *options);
  return train_as_run(recipe, *options, parsed);
}

}  // namespace lockstep::cli
