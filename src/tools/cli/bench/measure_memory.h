// Remembers measured device memory beside the runs, and tries micro-batches out. Conclusions from
// it are drawn in plan/micro_batch.
#pragma once

#include "planning/run_setup.h"
#include "runtime/run/folder/run_dir.h"

#include <vector>

namespace lockstep::cli {

// Remembered values for these devices, with everything equal that decides memory. They are in
// run.root/.cache/micro.json if batch.micro is auto, else in memory.json. A damaged file is
// ignored. setup: prepared.
MeasuredMemory known_memory(const RunSetup& setup, const std::vector<Device>& devices);

// If batch.micro is auto and nothing is known yet, trains a few steps on all devices for each
// candidate, with everything that training uses. Remembers the largest that fits. Throws Error if
// not even one sample does.
void try_micro_out(const RunSetup& setup, const std::vector<Device>& devices);

// Remembers the largest peak that the run's ranks reported. Never throws: it is only a cache.
void remember_memory(const RunSetup& setup, const RunDir& run);

}  // namespace lockstep::cli
