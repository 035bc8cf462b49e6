// The report of a run, for other commands.
#pragma once

#include "run/run_dir.h"

namespace lockstep::cli {

// Of a run that this program has ended: RUN/report.html, report.md and report.json. Throws Error
// where they cannot be written.
void write_run_report(const RunDir& run);

}  // namespace lockstep::cli
