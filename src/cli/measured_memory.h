// Peak memory of earlier runs, which replaces a recipe's formula once it is known.
#pragma once

#include "plan/run_setup.h"
#include "run/run_dir.h"

#include <vector>

namespace lockstep::cli {

// Replaces the formula's bytes a sample if a run of the same recipe, model options and precision
// was measured on this kind of device. Reads run.root/.cache/memory.json; a damaged file is
// ignored.
void use_measured_memory(MemoryEstimate& memory, const RunSetup& setup,
                         const std::vector<Device>& devices);

// Remembers the largest peak that the run's ranks reported. Never throws: it is only a cache.
void remember_memory(const RunSetup& setup, const RunDir& run);

}  // namespace lockstep::cli
