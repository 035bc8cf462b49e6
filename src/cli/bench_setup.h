// What `lockstep bench` is to measure: numbers of devices, batches, steps.
#pragma once

#include "cli/arguments.h"
#include "plan/run_setup.h"
#include "plan/scaling.h"

#include <cstdint>
#include <vector>

namespace lockstep::cli {

struct Bench {
  Scaling scaling = Scaling::strong;
  std::int64_t steps = 0, warm_up = 0, repeats = 0;
  bool keep = false;
  std::vector<int> counts;
  std::vector<Device> devices;  // as many as the largest count
  RunSetup setup;
};

// Flags, devices and options, prepared but for the plan. Throws Error.
Bench bench_setup(const Parsed& parsed);

// `steps` steps and nothing that comes now and then: for runs that measure.
void only_train(TrainOptions& train, std::int64_t steps);

// The batch of every count; throws Error where one cannot be, before anything has run.
std::vector<ScalingBatch> choose_batches(Bench& bench);

// Makes bench.setup.plan for the first `count` devices.
void plan_for(Bench& bench, int count, const ScalingBatch& batch);

}  // namespace lockstep::cli
