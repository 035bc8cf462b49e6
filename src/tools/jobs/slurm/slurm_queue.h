// Runs Slurm's commands, and records the submissions of a batch to Slurm.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/jobs/files/batch_folder.h"

namespace lockstep {

// Throws Error if sbatch is not in PATH.
void check_sbatch();

struct SlurmSubmission {
  std::string job;                   // id of the job array
  std::vector<std::int64_t> shares;  // the shares that its tasks 0, 1, 2, … run
};

// Submits the script to Slurm and records the submission. after: ids of job arrays that must end
// before this one begins. Returns the id of the new array. Throws Error if Slurm rejects the
// script, or if its answer is not an id. Slurm's own message is then on standard error.
std::string submit_to_slurm(const BatchFolder& batch, const std::string& script,
                            const std::vector<std::int64_t>& shares,
                            const std::vector<std::string>& after);

// Returns all submissions from BATCH/slurm/submissions.jsonl, the oldest first.
std::vector<SlurmSubmission> submissions_of(const BatchFolder& batch);

// A task of the batch that is in Slurm's queue.
struct SlurmTask {
  std::string job;    // id of the job array
  std::string state;  // as in squeue: "PENDING", "RUNNING", …
};
// Returns the tasks in Slurm's queue by share. Returns nothing if Slurm cannot be queried.
std::optional<std::map<std::int64_t, SlurmTask>> slurm_tasks(const BatchFolder& batch);

// Removes those tasks of the batch from Slurm's queue that have not begun.
void cancel_pending(const BatchFolder& batch);

}  // namespace lockstep
