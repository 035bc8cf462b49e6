// Recipes that train in the tool itself (planning/direct_recipe.h).
#pragma once

#include "planning/direct_recipe.h"
#include "tools/cli/arguments.h"
#include "tools/cli/words/foreign_names.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::cli {

// Reads the recipe's options and applies and checks preset, files and assignments. Throws Error;
// for flags and options of the engine, it says that such a recipe has none. flags: flags of the
// command, which hints may name.
std::unique_ptr<DirectOptions> resolve_direct(const DirectRecipe& recipe, const Parsed& parsed,
                                              const FlagsHere& flags = {.names = {"--name"}});
// Whether the key is like "params.lambda_l2", where `params` is the recipe's option of pairs.
bool is_pair(const DirectOptions& options, const std::string& key);

// Says what to do about a run that did not reach its end, since such a recipe makes no checkpoints.
std::string train_again_hint(const DirectRecipe& recipe);

// lockstep train RECIPE. Outputs go into a run, or into the folder that the environment variable
// LOCKSTEP_OUT names, which is a batch job's own folder. Returns the exit code.
int train_direct(const DirectRecipe& recipe, const Parsed& parsed);

// Evaluates or predicts if the operand is a run of such a recipe, or a batch of its jobs. Returns
// the exit code, or nothing for other operands.
std::optional<int> use_direct(const Parsed& parsed, bool predicts);

// Jobs of a batch with the same options, except those in which jobs differ anyway.
struct DirectSetting {
  std::string words;  // "leaves=63 rate=0.1": the options that differ between settings; "" if there
                      // is only one
  std::int64_t jobs = 0;
  std::vector<std::string> one_job;  // the assignments of the middle job
  double cpus = 1;                   // for each job
  std::string gpus;                  // for each job, as in a job file
  std::function<bool(const std::filesystem::path& folder)> is_alike;  // as in DirectBatch
};

// The job file of `lockstep batch RECIPE key=value …`: one `lockstep train` per job.
struct DirectJobs {
  std::string name;  // of the batch
  std::string toml;
  std::string made_by;  // the command that runs these jobs in this batch
  std::int64_t jobs = 0;
  std::filesystem::path run_root;
  std::vector<std::string> notes;  // for people
  std::string on_cpu, on_gpu;      // as in DirectBatch
  std::vector<DirectSetting> settings;
};
// Makes the jobs. If the value of an option that is not a list is a list, "127,255", all jobs run
// with each value. program: the path of lockstep. name: returns the batch's name from everything
// except the job file. It is called once the job file is known to be valid. Jobs find the name in
// LOCKSTEP_BATCH. Throws Error as resolve_direct does, if such values change which jobs exist, and
// if every job would be skipped.
DirectJobs direct_jobs(const DirectRecipe& recipe, const Parsed& parsed, const std::string& program,
                       const std::function<std::string(const DirectJobs&)>& name);
// Whether two job files of direct_jobs have the same jobs. They may differ in options that their
// jobs only record, and in the list of what has no job.
bool have_same_jobs(const std::string& toml, const std::string& other);
// Whether `toml` has all jobs of `earlier`, and its further jobs are exactly those that `earlier`
// left out.
bool takes_up_left_out(const std::string& toml, const std::string& earlier);

}  // namespace lockstep::cli
