// Slurm's commands, and the submissions of a batch to Slurm.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/jobs/files/batch_folder.h"

namespace lockstep {

// Throws Error if there is no sbatch here.
void check_sbatch();

struct SlurmSubmission {
  std::string job;                   // id of the array
  std::vector<std::int64_t> shares;  // by its tasks 0, 1, 2, …
};

// Submits the script to Slurm. after: arrays that must end before it begins. Returns the id of the
// array. Throws Error if Slurm refuses the script (its own message is on standard error), or if the
// answer is no id.
std::string submit_to_slurm(const BatchFolder& batch, const std::string& script,
                            const std::vector<std::int64_t>& shares,
                            const std::vector<std::string>& after);

// All submissions, oldest first, from BATCH/slurm/submissions.jsonl.
std::vector<SlurmSubmission> submissions_of(const BatchFolder& batch);

// A task of the batch that Slurm knows.
struct SlurmTask {
  std::string job;    // id of the array
  std::string state;  // as in squeue: "PENDING", "RUNNING", …
};
// The tasks by share. Nothing if Slurm cannot be queried.
std::optional<std::map<std::int64_t, SlurmTask>> slurm_tasks(const BatchFolder& batch);

// Removes tasks of the batch that have not begun from the queue.
void cancel_pending(const BatchFolder& batch);

}  // namespace lockstep
