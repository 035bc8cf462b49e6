// Recipes that train in the tool itself (plan/direct_recipe.h).
#pragma once

#include "cli/arguments.h"
#include "cli/foreign_names.h"
#include "plan/direct_recipe.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::cli {

// The recipe's options with preset, files and assignments applied and checked. Throws Error, which
// says of flags and options of the engine that such a recipe has none. flags: of the command, which
// hints may name.
std::unique_ptr<DirectOptions> resolve_direct(const DirectRecipe& recipe, const Parsed& parsed,
                                              const FlagsHere& flags = {.names = {"--name"}});
// "params.lambda_l2", where `params` is the recipe's option of pairs.
bool is_pair(const DirectOptions& options, const std::string& key);

// lockstep train RECIPE. Outputs go into a run, or into the folder that the environment variable
// LOCKSTEP_OUT names, where a job of a batch has its own. Returns the exit code.
int train_direct(const DirectRecipe& recipe, const Parsed& parsed);

// evaluate and predict, where the operand is a run of such a recipe or a batch of its jobs: the
// exit code. Nothing where it is something else.
std::optional<int> use_direct(const Parsed& parsed, bool predicts);

// Jobs of a batch that have the same options but for those in which jobs differ anyway.
struct DirectSetting {
  std::string words;  // "leaves=63 rate=0.1": what other settings have otherwise; "": there is one
  std::int64_t jobs = 0;
  std::vector<std::string> one_job;  // the assignments of the job in the middle
  std::function<bool(const std::filesystem::path& folder)> is_alike;  // as DirectBatch has it
};

// The job file of `lockstep batch RECIPE key=value …`: one `lockstep train` for each job.
struct DirectJobs {
  std::string name;  // of the batch
  std::string toml;
  std::int64_t jobs = 0;
  std::filesystem::path run_root;
  std::vector<std::string> notes;  // for people
  double cpus = 1;                 // of each job
  std::string gpus;                // likewise, as a job file has it
  std::string on_cpu, on_gpu;      // as DirectBatch has them
  std::vector<DirectSetting> settings;
};
// The value of an option that is no list may be one, "127,255": all jobs run with each of them.
// program: the path of lockstep. name: gives the batch's by all else but the job file, once that is
// known to be good; jobs find it as LOCKSTEP_BATCH. Throws Error: as resolve_direct, where such
// values change which jobs there are, and where every job would be skipped.
DirectJobs direct_jobs(const DirectRecipe& recipe, const Parsed& parsed, const std::string& program,
                       const std::function<std::string(const DirectJobs&)>& name);

}  // namespace lockstep::cli
