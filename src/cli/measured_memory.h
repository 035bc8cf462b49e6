// Peak memory of earlier runs, which replaces a recipe's formula once it is known.
#pragma once

#include "plan/run_setup.h"
#include "run/run_dir.h"

#include <string>
#include <vector>

namespace lockstep::cli {

// Replaces the formula's bytes a sample if a run was measured on this kind of device with all the
// same that decides memory (plan/memory_key.h). Reads run.root/.cache/memory.json; a damaged file
// is ignored.
void use_measured_memory(MemoryEstimate& memory, const RunSetup& setup,
                         const std::vector<Device>& devices);

// The largest value of these fields of a rank's memory in the run's events: "peak", "reserved".
double largest_peak(const RunDir& run, const std::vector<std::string>& fields);

// The bytes a sample that follow from a peak at this micro-batch; false where none do.
bool use_peak(MemoryEstimate& memory, const RunSetup& setup, const std::vector<Device>& devices,
              double micro, double peak_bytes);

// Remembers the largest peak that the run's ranks reported. Never throws: it is only a cache.
void remember_memory(const RunSetup& setup, const RunDir& run);

}  // namespace lockstep::cli
