// lockstep batch slurm, and what other commands do for batches that it made.
#pragma once

#include <string>

#include "cli/arguments.h"
#include "jobs/batch_folder.h"
#include "jobs/ledger.h"

namespace lockstep::cli {

Command batch_slurm_command();
Command batch_slurm_task_command();  // what a task runs

// `lockstep batch resume` of such a batch: hands in again what is left.
int resume_under_slurm(const Parsed& parsed, const BatchFolder& batch);
// Throws Error where the batch is such a one, naming what to do instead.
void refuse_slurm(const BatchFolder& batch, const std::string& command);
// "8 shares: 3 run, 2 wait in Slurm's queue".
std::string shares_text(const BatchFolder& batch);

}  // namespace lockstep::cli
