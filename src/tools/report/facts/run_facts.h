// Reads facts and measurements of a run directory.
#pragma once

#include "runtime/run/folder/run_dir.h"
#include "tools/report/facts/facts.h"

namespace lockstep {

// Accepts runs in any state and of earlier versions. Missing values are unknown. Reasons to doubt
// known values are in `cautions`. Throws Error if run.json is damaged or the folder cannot be read.
Trial read_run_facts(const RunDir& run);

}  // namespace lockstep
