// Evaluates one rank's share of the validation set, and copies the results to the host.
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

// Rows [begin, end) of the validation set. All rows of sample 0 come first, then all rows of sample
// 1, and so on.
struct RowShare {
  std::int64_t begin = 0, end = 0;
};

// Returns this rank's share of `count` rows. All shares have the same size, except that the shares
// of the last ranks may be smaller or empty.
RowShare row_share(const ProcessGroup& group, std::int64_t count);

// The records (Recipe::evaluate) of a rank's share, or the reason why the rank has no records.
// `given_up` is true if EvaluatorOptions::goes_on returned false.
struct OwnRecords {
  at::Tensor values = at::empty({0}, at::kDouble);  // the records, flattened and concatenated
  std::vector<std::int64_t> lengths;                // length of each record
  bool out_of_memory = false, given_up = false;
  std::string why;             // the error message if memory ran out, one line
  std::exception_ptr fault{};  // an exception that does not mean out of memory
  double warm_up_s = 0;        // see Evaluation::warm_up_s
};

// Evaluates a share in batches. Does not throw, because the rank must still report a failure to the
// other ranks. The result says whether memory ran out, and holds any other exception.
OwnRecords evaluate_alone(Recipe& recipe, Model& model, const Dataset& dataset, Backend& backend,
                          const EvaluatorOptions& options, const RowShare& share);

// The functions below are parts of evaluate_alone. evaluate_shared (shared_sample.h) uses them too.
// load_rows returns a loader of the share's rows. Each of its steps is one batch. The last batch
// may be filled up with padding rows, which repeat its own rows.
std::unique_ptr<Loader> load_rows(const Dataset& dataset, const RowShare& share, Backend& backend,
                                  const EvaluatorOptions& options);
Batch upload_batch(Backend& backend, Batch host);
StepContext evaluation_context(Backend& backend, const EvaluatorOptions& options);
// Runs `work`. If `work` throws an exception, records it in `own` and does not rethrow it.
void try_alone(Backend& backend, OwnRecords& own, const std::function<void()>& work);

}  // namespace lockstep
