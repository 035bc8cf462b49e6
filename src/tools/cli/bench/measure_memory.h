// Stores measured device memory in the folder of runs, and tries micro-batches. The plan chooses
// the micro-batch from these values.
#pragma once

#include "planning/run_setup.h"
#include "runtime/run/folder/run_dir.h"

#include <vector>

namespace lockstep::cli {

// Returns the stored values for these devices and for settings that need the same memory. The file
// is run.root/.cache/micro.json if batch.micro is auto, else memory.json; a damaged file is
// ignored. memory.json holds values of GPUs only, and is not used with exact=true. setup: must be
// prepared.
MeasuredMemory known_memory(const RunSetup& setup, const std::vector<Device>& devices);

// If batch.micro is auto and no value is stored, tries candidates for the micro-batch. Each try
// trains a few steps on all devices, as the run itself would. Stores the largest candidate that
// fits. Throws Error if not even one sample fits.
void try_micro_out(const RunSetup& setup, const std::vector<Device>& devices);

// Stores the largest peak that the run's ranks reported. Never throws, because the file is only a
// cache.
void remember_memory(const RunSetup& setup, const RunDir& run);

}  // namespace lockstep::cli
