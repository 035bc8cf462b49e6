// Writes the report of a run, for commands other than `lockstep report`.
#pragma once

#include "runtime/run/folder/run_dir.h"

namespace lockstep::cli {

// Writes RUN/report.html, report.md and report.json for a run that this program has ended. Throws
// Error if they cannot be written.
void write_run_report(const RunDir& run);

}  // namespace lockstep::cli
