// Common functions of the subcommands of lockstep batch.
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
// Runs the jobs of a file that the command `made_by` has just made from the data. Skipped jobs run
// again, because they may not be skipped now.
int run_made_jobs(const Parsed& parsed, const std::string& made_by);
Command batch_resume_command();
Command batch_add_command();
Command batch_analyze_command();
// "batch RECIPE" for every recipe that supports batches.
std::vector<Command> batch_recipe_commands();

// The jobs of a batch that run lockstep train RECIPE, except those that a search left out.
DirectBatchEnd jobs_of_recipe(const BatchFolder& batch, Ledger& ledger, const DirectRecipe& recipe);
// The outputs that recipes make from the results of the batch's jobs; "" if they make none.
std::string gathered(const BatchFolder& batch, Ledger& ledger);

// Recipes' cautions about the results of their jobs, taken from the first finished job: lines,
// usually "".
std::string cautions_of(const BatchFolder& batch, Ledger& ledger);

// The GPU needs of the jobs, as far as they are known before the jobs are recorded.
struct GpuNeeds {
  std::int64_t jobs = 0;       // jobs that cannot run without a GPU
  bool any = false;            // some job asks for a GPU, even if it can run without
  std::string on_cpu, on_gpu;  // as in DirectBatch
  bool is_resumed = false;     // from a command without --devices-like
};
// Call both before anything is written. Throws Error if the value of a flag for the place of jobs,
// such as --slots, is invalid.
void check_place_flags(const Parsed& parsed);
// Throws Error if jobs cannot run without a GPU and there is none, unless the jobs are only shown.
// Also throws if --expect is about GPUs but no job requests one.
void check_gpus(const Parsed& parsed, const GpuNeeds& needs);
// How many jobs run at once on this machine, or on the one that --devices-like describes, and the
// cores that they share. gpus: as in a job file.
struct JobRoom {
  int jobs = 0, cores = 0;
};
JobRoom room_for_jobs(const Parsed& parsed, double cpus, const std::string& gpus);

// Folders of batches in the folder of runs, sorted by name.
std::vector<std::filesystem::path> batches_in(const std::filesystem::path& root);

// Opens a batch by path, or by name in the folder of runs. Throws Error naming the nearest.
BatchFolder open_batch(const Parsed& parsed);
BatchFolder open_batch(const Parsed& parsed, const std::string& name);
// The batch's name in a command to type: its path from here, quoted if the shell requires it.
std::string batch_word(const BatchFolder& batch);
// Other programs' flags for the number of jobs at once, except those that recipes translate.
std::vector<TriedFlag> tried_slots();
// The scheduler that runs the batch, as far as it is visible from here.
std::optional<LockHolder> batch_holder(const BatchFolder& batch);

}  // namespace lockstep::cli
