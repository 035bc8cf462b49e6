// `lockstep batch slurm`, and functions of other commands for batches under Slurm.
#pragma once

#include <string>

#include "tools/cli/arguments.h"
#include "tools/jobs/files/batch_folder.h"
#include "tools/jobs/ledger/ledger.h"

namespace lockstep::cli {

Command batch_slurm_command();
Command batch_slurm_task_command();  // the command that each Slurm task runs

// Carries out `lockstep batch resume` for a batch under Slurm. Submits the remaining work again.
int resume_under_slurm(const Parsed& parsed, const BatchFolder& batch);
// If the batch is under Slurm, throws Error that names the command to use instead.
void refuse_slurm(const BatchFolder& batch, const std::string& command);
// Returns text such as "8 shares: 3 run, 2 wait in Slurm's queue". A share is the part of the jobs
// that one task runs.
std::string shares_text(const BatchFolder& batch);

}  // namespace lockstep::cli
