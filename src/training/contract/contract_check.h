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
  bool frozen_statistics = false;  // whether norm.statistics is frozen
  std::int64_t micro = 1;          // rows of a micro-batch in the run
  std::int64_t eval_batch = 1;     // rows per batch of an evaluation
  std::string best_metric;         // checkpoint.best_metric
};

// Each string is a message of one line for the user.
struct ContractReport {
  // Certain faults: training would be wrong, or would fail at its end.
  std::vector<std::string> faults;
  std::vector<std::string> warnings;  // likely faults
  std::vector<std::string> notes;     // checks that could not be made, and why
  std::vector<std::string> tried;     // checks that passed
  bool out_of_memory = false;         // memory ran out, so some checks were not made
};

// All ranks call it together, before training. Every rank returns rank 0's report. The check takes
// two training samples, or all rows of one sample if samples have several rows. It never takes more
// rows than a micro-batch has. It computes the loss of three batches: the rows, each row twice, and
// the rows with an equal number of padding rows. It also passes up to two validation samples
// through evaluation, Recipe::metrics and Recipe::items. If the recipe evaluates in pieces, the
// check evaluates one sample as a whole and in two pieces, and compares the records. Weights,
// buffers, gradients and random states stay as they were.
//
// If Recipe::metrics or Recipe::items throws, the report gets a warning. If another function of the
// recipe throws, the report gets a note. Records of the wrong number or shape are a fault. Waits
// for the device.
ContractReport check_contract(const ContractSetup& setup);

}  // namespace lockstep
