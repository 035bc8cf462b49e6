// Commands for recipes that train in the tool itself, without the engine
// (planning/direct_recipe.h).
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

// Reads and checks the recipe's options: preset, files, then assignments. Throws Error if an option
// is unknown or invalid. For a flag or option of the engine, the error says that such a recipe does
// not use the engine. flags: the flags of the command, which hints may name.
std::unique_ptr<DirectOptions> resolve_direct(const DirectRecipe& recipe, const Parsed& parsed,
                                              const FlagsHere& flags = {.names = {"--name"}});
// Whether the key names one pair of an option that holds pairs. For example, "params.lambda_l2"
// names a pair of the option `params`.
bool is_pair(const DirectOptions& options, const std::string& key);

// Returns a hint for a run that did not reach its end. The run must be trained again, because such
// a recipe makes no checkpoints.
std::string train_again_hint(const DirectRecipe& recipe);

// Runs `lockstep train RECIPE`. In a job of a batch, outputs go into the job's folder, which the
// environment variable LOCKSTEP_OUT names. Outside a batch, they go into a run. Returns the exit
// code.
int train_direct(const DirectRecipe& recipe, const Parsed& parsed);

// If the operand is a run of such a recipe or a batch of its jobs, evaluates or predicts, and
// returns the exit code. Returns nothing for any other operand.
std::optional<int> use_direct(const Parsed& parsed, bool predicts);

// The jobs of a batch with one combination of the option values that the user listed. These jobs
// differ only in options that the recipe itself changes from job to job.
struct DirectSetting {
  // The options that differ between settings, such as "leaves=63 rate=0.1". "" if there is only one
  // setting.
  std::string words;
  std::int64_t jobs = 0;
  std::vector<std::string> one_job;  // the assignments of one of these jobs, the one in the middle
  double cpus = 1;                   // CPU cores of each job
  std::string gpus;                  // GPUs of each job, as in a job file
  std::function<bool(const std::filesystem::path& folder)> is_alike;  // as in DirectBatch
};

// The job file of `lockstep batch RECIPE key=value …`: one `lockstep train` per job.
struct DirectJobs {
  std::string name;  // name of the batch
  std::string toml;
  std::string made_by;  // the command that runs these jobs in this batch
  std::int64_t jobs = 0;
  std::filesystem::path run_root;
  std::vector<std::string> notes;  // notes that the command prints
  std::string on_cpu, on_gpu;      // as in DirectBatch
  std::vector<DirectSetting> settings;
};
// Makes the job file. An option that takes one value may get a list, such as "127,255"; all jobs
// then run once for each value. program: the path of lockstep. name: a function that returns the
// batch's name. It is called when the jobs are known to be valid, but before the job file exists.
// Jobs find the name in LOCKSTEP_BATCH. Throws Error as resolve_direct does. Also throws Error if a
// list changes which jobs exist, and if every job would be skipped.
DirectJobs direct_jobs(const DirectRecipe& recipe, const Parsed& parsed, const std::string& program,
                       const std::function<std::string(const DirectJobs&)>& name);
// Whether two job files of direct_jobs have the same jobs. Differences in options that jobs only
// record do not count. Differences in the list of parts of the data without a job do not count
// either.
bool have_same_jobs(const std::string& toml, const std::string& other);
// Whether `toml` has all jobs of `earlier`, and each of its other jobs is one that `earlier` left
// out.
bool takes_up_left_out(const std::string& toml, const std::string& earlier);

}  // namespace lockstep::cli
