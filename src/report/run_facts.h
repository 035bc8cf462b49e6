// The facts and measurements of a run directory.
#pragma once

#include "report/facts.h"
#include "run/run_dir.h"

namespace lockstep {

// Of runs of any state and of earlier versions: what is not there is not known, and what makes the
// rest doubtful is told in `cautions`. Throws Error where run.json is damaged or the folder cannot
// be read.
Trial read_run_facts(const RunDir& run);

}  // namespace lockstep
