// What was measured of devices' memory is remembered beside the runs, and micro-batches are tried
// out there. What follows from it is decided in plan/micro_batch.
#pragma once

#include "plan/run_setup.h"
#include "run/run_dir.h"

#include <vector>

namespace lockstep::cli {

// What is remembered of these devices with all the same that decides memory: in
// run.root/.cache/micro.json where batch.micro is auto, else in memory.json. A damaged file is
// ignored. setup: prepared.
MeasuredMemory known_memory(const RunSetup& setup, const std::vector<Device>& devices);

// Where batch.micro is auto and nothing is known yet: a few steps on all devices for each
// candidate, with all that training takes; remembers the largest that fits. Throws Error if not
// even one sample does.
void try_micro_out(const RunSetup& setup, const std::vector<Device>& devices);

// Remembers the largest peak that the run's ranks reported. Never throws: it is only a cache.
void remember_memory(const RunSetup& setup, const RunDir& run);

}  // namespace lockstep::cli
