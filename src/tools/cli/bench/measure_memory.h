// Remembers measured device memory in the folder of runs, and tries micro-batches. plan/micro_batch
// decides from these values.
#pragma once

#include "planning/run_setup.h"
#include "runtime/run/folder/run_dir.h"

#include <vector>

namespace lockstep::cli {

// Returns remembered values for these devices, measured with equal values of everything that
// decides memory. They are in run.root/.cache/micro.json if batch.micro is auto, else in
// memory.json. A damaged file is ignored. setup: prepared.
MeasuredMemory known_memory(const RunSetup& setup, const std::vector<Device>& devices);

// If batch.micro is auto and nothing is known yet, trains a few steps on all devices with each
// candidate, using everything that training uses. Remembers the largest candidate that fits. Throws
// Error if not even one sample fits.
void try_micro_out(const RunSetup& setup, const std::vector<Device>& devices);

// Remembers the largest peak that the run's ranks reported. Never throws: it is only a cache.
void remember_memory(const RunSetup& setup, const RunDir& run);

}  // namespace lockstep::cli
