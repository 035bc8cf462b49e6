// Functions that the subcommands of `lockstep batch` share.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "planning/direct_recipe.h"
#include "runtime/run/folder/run_lock.h"
#include "tools/cli/arguments.h"
#include "tools/jobs/files/batch_folder.h"
#include "tools/jobs/ledger/ledger.h"

namespace lockstep::cli {

Command batch_run_command();
// Runs the jobs of a job file that the command `made_by` has just made from the data. Jobs that an
// earlier start skipped run again, because the data may have changed.
int run_made_jobs(const Parsed& parsed, const std::string& made_by);
Command batch_resume_command();
Command batch_add_command();
Command batch_analyze_command();
// Returns the command "batch RECIPE" for each recipe that supports batches.
std::vector<Command> batch_recipe_commands();

// Returns the jobs of a batch that run `lockstep train RECIPE`. Jobs that --search cancelled are
// left out.
DirectBatchEnd jobs_of_recipe(const BatchFolder& batch, Ledger& ledger, const DirectRecipe& recipe);
// Lets the recipes make joint outputs, which combine the results of the batch's jobs. Returns text
// about these outputs, or "" if there are none.
std::string gathered(const BatchFolder& batch, Ledger& ledger);

// Returns warnings of recipes about the results of their jobs, a line each, or "". Each recipe
// checks only its first finished job.
std::string cautions_of(const BatchFolder& batch, Ledger& ledger);

// The GPU needs of the jobs, as far as they are known before the jobs are recorded.
struct GpuNeeds {
  std::int64_t jobs = 0;       // number of jobs that cannot run without a GPU
  bool any = false;            // whether some job requests a GPU, even if it can run without one
  std::string on_cpu, on_gpu;  // options for messages, as in DirectBatch
  // whether the command resumes a batch; such a command has no --devices-like
  bool is_resumed = false;
};
// Call check_place_flags and check_gpus before anything is written. check_place_flags checks the
// flags that decide where jobs run, such as --slots. Throws Error if a value is invalid.
void check_place_flags(const Parsed& parsed);
// Throws Error if jobs need a GPU and there is none, unless the command only shows the jobs. Also
// throws Error if --expect is about GPUs but no job requests one.
void check_gpus(const Parsed& parsed, const GpuNeeds& needs);
// How many jobs run at once on this machine, and the number of cores that they share. With
// --devices-like, the numbers are for the machine that the flag describes. cpus, gpus: needs of one
// job, as in a job file.
struct JobRoom {
  int jobs = 0, cores = 0;
};
JobRoom room_for_jobs(const Parsed& parsed, double cpus, const std::string& gpus);

// Returns the folders of batches in the folder of runs, sorted by name.
std::vector<std::filesystem::path> batches_in(const std::filesystem::path& root);

// Opens a batch by path, or by name in the folder of runs. Throws Error if there is no such batch;
// the error suggests the nearest name.
BatchFolder open_batch(const Parsed& parsed);
BatchFolder open_batch(const Parsed& parsed, const std::string& name);
// Returns the word that names the batch in a command for the user to type. It is the path from the
// current folder, quoted if the shell requires it.
std::string batch_word(const BatchFolder& batch);
// Returns flags of other programs for the number of concurrent jobs, such as -j, with hints.
std::vector<TriedFlag> tried_slots();
// Returns the process that runs the batch. Returns nothing if no such process is visible from this
// machine.
std::optional<LockHolder> batch_holder(const BatchFolder& batch);

}  // namespace lockstep::cli
