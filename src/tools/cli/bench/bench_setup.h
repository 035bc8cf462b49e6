// Sets up the measurements of `lockstep bench`: numbers of devices, batches and steps.
#pragma once

#include "planning/batch/scaling.h"
#include "planning/run_setup.h"
#include "tools/cli/arguments.h"

#include <cstdint>
#include <vector>

namespace lockstep::cli {

struct Bench {
  Scaling scaling = Scaling::strong;
  std::int64_t steps = 0, warm_up = 0, repeats = 0;
  bool keep = false;
  std::vector<int> counts;
  std::vector<Device> devices;  // devices of the largest count
  RunSetup setup;
};

// Reads flags, devices and options, and prepares the data. The plan is not made yet. Throws Error
// for an invalid flag, device or option.
Bench bench_setup(const Parsed& parsed);

// Sets the options for a measurement: training ends after `steps` steps, and the options of
// evaluation, of recorded samples and of profiling are reset. Each step is logged.
void only_train(TrainOptions& train, std::int64_t steps);

// Chooses the batch for each number of devices in bench.counts. Throws Error if the batch is
// impossible for one of these numbers, before anything has run.
std::vector<ScalingBatch> choose_batches(Bench& bench);

// Sets bench.setup.plan for the first `count` devices.
void plan_for(Bench& bench, int count, const ScalingBatch& batch);

}  // namespace lockstep::cli
