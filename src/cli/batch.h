// What the subcommands of lockstep batch share.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "jobs/batch_folder.h"
#include "jobs/ledger.h"
#include "plan/direct_recipe.h"
#include "run/run_lock.h"

namespace lockstep::cli {

Command batch_run_command();
Command batch_resume_command();
Command batch_add_command();
Command batch_analyze_command();
// "batch RECIPE" of every recipe that has batches.
std::vector<Command> batch_recipe_commands();

// The jobs of a batch that are lockstep train RECIPE, without those that a search left out.
DirectBatchEnd jobs_of_recipe(const BatchFolder& batch, Ledger& ledger, const DirectRecipe& recipe);
// What the recipes of the batch's jobs make of what these wrote; "" where they make nothing of it.
std::string gathered(const BatchFolder& batch, Ledger& ledger);

// What recipes say of what a job of theirs came to, of the first that is done: lines, "" mostly.
std::string cautions_of(const BatchFolder& batch, Ledger& ledger);

// What jobs ask of GPUs, as far as it is known before they are written down.
struct GpuNeeds {
  std::int64_t jobs = 0;       // that cannot run without one
  bool any = false;            // some job asks for one, if need be without
  std::string on_cpu, on_gpu;  // as DirectBatch has them
  bool is_resumed = false;     // by a command without --devices-like
};
// Before anything is written. Throws Error where jobs cannot run without a GPU and there is none,
// unless they are only shown, and where --expect is about GPUs that no job asks for.
void check_gpus(const Parsed& parsed, const GpuNeeds& needs);
// Jobs that the machine, or --devices-like, runs at once, and the cores that they share. gpus: as a
// job file has it.
struct JobRoom {
  int jobs = 0, cores = 0;
};
JobRoom room_for_jobs(const Parsed& parsed, double cpus, const std::string& gpus);

// Folders of batches in the folder of runs, by name.
std::vector<std::filesystem::path> batches_in(const std::filesystem::path& root);

// Of a path, or of a name in the folder of runs. Throws Error naming the nearest.
BatchFolder open_batch(const Parsed& parsed);
BatchFolder open_batch(const Parsed& parsed, const std::string& name);
// What to call it by in a command to type: its path from here, quoted where a shell needs it.
std::string batch_word(const BatchFolder& batch);
// Whether a scheduler runs it, as far as can be seen from here.
std::optional<LockHolder> batch_holder(const BatchFolder& batch);

}  // namespace lockstep::cli
