// All jobs of batches as one table, for a spreadsheet or pandas.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/jobs/files/batch_folder.h"

namespace lockstep {

// RFC 4180: a header, then a line per listed job, in the order of the batches and numbers:
//   batch, job (number), name, state, reason, tries; of its last attempt: attempt (its number),
//   started and ended (unix seconds), seconds, cpu_s, max_rss_bytes, exit_code, slot, devices
//   (UUIDs with spaces between), placement, gpu_memory_bytes, gpu_activity_percent;
// Missing values are empty cells. `write` gets a few whole lines at a time, so that a table of a
// million jobs is never in memory. It returns false to stop, if nobody reads on. Ledgers are read
// twice; columns that appear meanwhile are left out. Throws Error if a ledger cannot be read.
void write_jobs_csv(const std::vector<BatchFolder>& batches,
                    const std::function<bool(const std::string&)>& write);

}  // namespace lockstep
