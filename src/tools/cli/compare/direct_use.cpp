// Implements `lockstep evaluate` and `predict` for results that a recipe trained in the tool. The
// results belong to a run or to a whole batch.
#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "runtime/launch/launch.h"
#include "runtime/run/events/json_lines.h"
#include "runtime/run/folder/run_dir.h"
#include "tools/cli/batch/batch.h"
#include "tools/cli/context.h"
#include "tools/cli/direct.h"
#include "tools/cli/output.h"
#include "tools/cli/run_root.h"
#include "tools/jobs/files/batch_shares.h"

#include <algorithm>

namespace lockstep::cli {
namespace {

namespace fs = std::filesystem;

struct Models {
  const DirectRecipe* recipe = nullptr;
  fs::path folder;  // folder of the run or the batch
  std::vector<fs::path> folders;
};

std::optional<fs::path> folder_of(const Parsed& parsed, const char* file) {
  const std::string& operand = parsed.positionals.at(0);
  std::error_code ignored;
  for (const fs::path& path : {fs::path(run_root(parsed)) / operand, fs::path(operand)})
    if (fs::exists(path / file, ignored)) return path;
  return std::nullopt;
}

Models models_of_batch(const Parsed& parsed) {
  const BatchFolder batch = open_batch(parsed);
  Ledger ledger = ledger_to_read(batch);
  Models models{.folder = batch.path};
  for (const DirectRecipe& recipe : direct_recipes()) {
    if (!recipe.use) continue;
    for (const DirectJob& job : jobs_of_recipe(batch, ledger, recipe).jobs)
      if (job.state == to_string(JobState::done)) models.folders.push_back(job.folder);
    if (models.folders.empty()) continue;
    models.recipe = &recipe;
    return models;
  }
  throw Error(cat(batch.path.string(), " is a batch without a job whose model could be used"));
}

// Throws Error if the run has no model. The record has a result once training ends, whatever the
// run's state is later.
void check_has_model(const RunDir& run, const DirectRecipe& recipe) {
  const RunState state = run.state();
  if (state == RunState::finished || run.record().contains("result")) return;
  const std::string why = run.state_reason();
  throw Error(cat("run ", run.name(), " has no model: it is ", to_string(state),
                  why.empty() ? "" : cat(" (", why, ")")),
              state == RunState::running ? "wait until it has finished" : train_again_hint(recipe));
}

std::optional<Models> models_of(const Parsed& parsed) {
  if (folder_of(parsed, "batch.json")) return models_of_batch(parsed);
  if (!folder_of(parsed, "run.json")) return std::nullopt;
  const RunDir run = RunDir::open(parsed.positionals[0], run_root(parsed));
  const DirectRecipe* const recipe = find_direct_recipe(text_or(run.record(), "recipe", ""));
  if (recipe == nullptr) return std::nullopt;
  if (!recipe->use) throw Error(cat(recipe->name, " can neither evaluate nor predict"));
  check_has_model(run, *recipe);
  return Models{recipe, run.path(), {run.path()}};
}

// Takes out=FILE out of the assignments.
fs::path take_out(std::vector<std::string>& assignments, const fs::path& otherwise) {
  fs::path out = otherwise;
  std::erase_if(assignments, [&](const std::string& word) {
    if (!word.starts_with("out=")) return false;
    out = word.substr(4);
    return true;
  });
  return fs::absolute(out);
}

}  // namespace

std::optional<int> use_direct(const Parsed& parsed, bool predicts) {
  const std::optional<Models> models = models_of(parsed);
  if (!models) return std::nullopt;
  for (const auto& [flag, values] : parsed.values)
    if (flag != "--force")
      throw Error(cat(models->recipe->name, " works in one process without the engine: it has no ",
                      flag, " here"));
  if (parsed.positionals.size() > 1)
    throw Error(cat("there is no input ", parsed.positionals[1], " to take"),
                "say where the data lies with key=value");
  DirectUse use{
      .predicts = predicts, .folders = models->folders, .assignments = parsed.assignments};
  std::erase_if(use.assignments,
                [](const std::string& word) { return word.starts_with("run.root="); });
  if (predicts) {
    use.out = take_out(use.assignments, models->folder / "predicted.csv");
    std::error_code ignored;
    if (fs::exists(use.out, ignored) && !parsed.has("--force"))
      throw Error(cat(use.out.string(), " is there already"),
                  "--force overwrites it; out=FILE names another");
  }
  const std::unique_ptr<DirectOptions> options = models->recipe->make_options();
  for (const std::string& word : use.assignments) {
    const std::string key = trim(word.substr(0, word.find('=')));
    if (options->table.has(key)) continue;
    const std::string near = nearest(key, options->table.keys());
    throw Error(cat("there is no option ", key),
                near.empty() ? cat("lockstep config ", models->recipe->name, " lists them")
                             : cat("did you mean ", near, "?"));
  }
  const std::string text = models->recipe->use(use);
  if (predicts)
    say(text);
  else
    print(text);
  return exit_finished;
}

}  // namespace lockstep::cli
