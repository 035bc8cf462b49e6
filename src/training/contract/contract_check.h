// Tries a recipe on a few samples, and checks its results against the contract of
// training/recipe/recipe.h.
#pragma once

#include "backends/backend.h"
#include "training/distributed/process_group.h"
#include "training/recipe/recipe.h"
#include "training/update/model_buffers.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

struct ContractSetup {
  Recipe& recipe;
  Model& model;
  ModelBuffers& buffers;
  const DatasetPair& data;
  ProcessGroup& group;
  Backend& backend;
  std::uint64_t seed = 0;
  at::ScalarType compute_dtype = at::kFloat;
  bool frozen_statistics = false;  // norm.statistics
  std::int64_t micro = 1;          // rows of a micro-batch of the run
  std::int64_t eval_batch = 1;     // rows that evaluation takes at once
  std::string best_metric;         // checkpoint.best_metric
};

// Each string is one line for people to read.
struct ContractReport {
  std::vector<std::string> faults;    // certain: training would be wrong, or fail at its end
  std::vector<std::string> warnings;  // likely faults
  std::vector<std::string> notes;     // what could not be tried, and why
  std::vector<std::string> tried;     // checks that passed
  bool out_of_memory = false;         // true: memory ran out, so some checks were not made
};

// All ranks call it together, before training. Every rank returns rank 0's report. Computes the
// loss of two training samples, or of the parts of one, with and without padding. Computes each of
// these losses twice. Passes two validation samples through evaluation, metrics and the table of
// items. Leaves weights, buffers, gradients and random states as they were. An exception of the
// recipe becomes a note, unless it is about records of the wrong shape. Waits for the device.
ContractReport check_contract(const ContractSetup& setup);

}  // namespace lockstep
