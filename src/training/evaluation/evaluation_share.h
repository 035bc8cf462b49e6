// A rank's own share of an evaluation: its rows are read, evaluated, and brought to the host.
#pragma once

#include "training/data/loader.h"
#include "training/evaluation/evaluator.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace lockstep {

// Rows [begin, end) of the validation set: those of sample 0, then those of sample 1, …
struct RowShare {
  std::int64_t begin = 0, end = 0;
};

// This rank's of `count` rows: as many as every rank's, but for the last ranks, which may have
// none.
RowShare row_share(const ProcessGroup& group, std::int64_t count);

// A rank's records of its share, or why it has none.
struct OwnRecords {
  at::Tensor values = at::empty({0}, at::kDouble);  // its records, one behind the other
  std::vector<std::int64_t> lengths;                // of each of them
  bool out_of_memory = false, given_up = false;
  std::string why;             // what the lack of memory said, one line
  std::exception_ptr fault{};  // any other
  double warm_up_s = 0;        // as Evaluation has it
};

// Evaluates a share, in batches. Lack of memory and any other exception of this rank are in what it
// returns: the other ranks must hear of them.
OwnRecords evaluate_alone(Recipe& recipe, Model& model, const Dataset& dataset, Backend& backend,
                          const EvaluatorOptions& options, const RowShare& share);

// Its parts, for samples that ranks share.
// A step of the loader is a batch. Rows behind the share's end are copies of those before.
std::unique_ptr<Loader> load_rows(const Dataset& dataset, const RowShare& share, Backend& backend,
                                  const EvaluatorOptions& options);
Batch upload_batch(Backend& backend, Batch host);
StepContext evaluation_context(Backend& backend, const EvaluatorOptions& options);
// Runs `work`, which may fail on this rank alone; what it said is in `own` then.
void try_alone(Backend& backend, OwnRecords& own, const std::function<void()>& work);

}  // namespace lockstep
