// Writes all jobs of batches as one table, for a spreadsheet or pandas.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/jobs/files/batch_folder.h"

namespace lockstep {

// Writes CSV as in RFC 4180: a header, then a line per job of the latest job list. Lines are in the
// order of the batches and of the jobs' numbers. The columns are:
//   - of the job: batch, job (its number), name, state, reason, tries
//   - of its last attempt: attempt (its number), started and ended (unix seconds), seconds, cpu_s,
//     max_rss_bytes, exit_code, slot, devices (UUIDs, separated by spaces), placement,
//     gpu_memory_bytes, gpu_activity_percent
//   - parameter.NAME and result.NAME for each parameter and each reported result
// Missing values are empty cells. `write` gets a few whole lines at a time, so a table of a million
// jobs is never in memory. `write` returns false to stop, if nobody reads the table any more.
// Ledgers are read twice. Columns that appear only in the second reading are left out. Throws Error
// if a ledger cannot be read.
void write_jobs_csv(const std::vector<BatchFolder>& batches,
                    const std::function<bool(const std::string&)>& write);

}  // namespace lockstep
