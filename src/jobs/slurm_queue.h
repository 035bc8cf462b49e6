// Slurm's commands, and what was handed to Slurm for a batch.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "jobs/batch_folder.h"

namespace lockstep {

// Throws Error: there is no sbatch here.
void check_sbatch();

struct SlurmSubmission {
  std::string job;                   // of the array
  std::vector<std::int64_t> shares;  // of its tasks 0, 1, 2, …
};

// Hands the script to Slurm. after: arrays that must have ended before. The id of the array. Throws
// Error: Slurm refused it (its own message is on standard error), or the answer is no id.
std::string submit_to_slurm(const BatchFolder& batch, const std::string& script,
                            const std::vector<std::int64_t>& shares,
                            const std::vector<std::string>& after);

// All that were handed over, oldest first: BATCH/slurm/submissions.jsonl.
std::vector<SlurmSubmission> submissions_of(const BatchFolder& batch);

// A task of the batch that Slurm knows.
struct SlurmTask {
  std::string job;    // of the array
  std::string state;  // as squeue has it: "PENDING", "RUNNING", …
};
// By share; nothing where Slurm cannot be asked.
std::optional<std::map<std::int64_t, SlurmTask>> slurm_tasks(const BatchFolder& batch);

// Tasks of the batch that have not begun leave the queue.
void cancel_pending(const BatchFolder& batch);

}  // namespace lockstep
