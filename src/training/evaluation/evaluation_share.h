// A rank's own share of an evaluation. The rank reads and evaluates its rows, and copies the
// results to the host.
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

// Rows [begin, end) of the validation set. The set has the rows of sample 0, then those of sample
// 1, …
struct RowShare {
  std::int64_t begin = 0, end = 0;
};

// Returns this rank's share of `count` rows. All shares have the same size, except those of the
// last ranks, which may be smaller or empty.
RowShare row_share(const ProcessGroup& group, std::int64_t count);

// A rank's records of its share, or the reason why it has none.
struct OwnRecords {
  at::Tensor values = at::empty({0}, at::kDouble);  // its records, concatenated
  std::vector<std::int64_t> lengths;                // length of each record
  bool out_of_memory = false, given_up = false;
  std::string why;             // the error message of the lack of memory, one line
  std::exception_ptr fault{};  // any other exception
  double warm_up_s = 0;        // see Evaluation::warm_up_s
};

// Evaluates a share in batches. It returns lack of memory and any other exception instead of
// throwing them, because the other ranks must learn of them.
OwnRecords evaluate_alone(Recipe& recipe, Model& model, const Dataset& dataset, Backend& backend,
                          const EvaluatorOptions& options, const RowShare& share);

// The functions below are parts of evaluate_alone. Evaluations in which ranks share a sample use
// them too. Each step of the loader is one batch. Rows after the end of the share are copies of
// rows before it.
std::unique_ptr<Loader> load_rows(const Dataset& dataset, const RowShare& share, Backend& backend,
                                  const EvaluatorOptions& options);
Batch upload_batch(Backend& backend, Batch host);
StepContext evaluation_context(Backend& backend, const EvaluatorOptions& options);
// Runs `work`, which may fail on this rank alone. If it fails, `own` holds the failure.
void try_alone(Backend& backend, OwnRecords& own, const std::function<void()>& work);

}  // namespace lockstep
