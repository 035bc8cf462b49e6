// The measurements of `lockstep bench`: numbers of devices, batches, steps.
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
  std::vector<Device> devices;  // for the largest count
  RunSetup setup;
};

// Reads flags, devices and options, and prepares everything except the plan. Throws Error.
Bench bench_setup(const Parsed& parsed);

// Limits the options to `steps` steps without periodic work, for measurements.
void only_train(TrainOptions& train, std::int64_t steps);

// Chooses the batch for every count. Throws Error if one is impossible, before anything has run.
std::vector<ScalingBatch> choose_batches(Bench& bench);

// Sets bench.setup.plan for the first `count` devices.
void plan_for(Bench& bench, int count, const ScalingBatch& batch);

}  // namespace lockstep::cli
