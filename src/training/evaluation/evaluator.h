// Evaluates a validation set that is split over the ranks. The metrics do not depend on the number
// of ranks.
#pragma once

#include "backends/backend.h"
#include "core/base/error.h"
#include "training/distributed/process_group.h"
#include "training/recipe/recipe.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace lockstep {

struct EvaluatorOptions {
  std::uint64_t seed = 0;
  // Number of rows that a rank evaluates in one batch. The last batch is filled up with padding
  // rows of weight 0, which repeat its own rows.
  std::int64_t batch = 1;
  at::ScalarType compute_dtype = at::kFloat;
  // Number of threads that read samples; 0: the calling thread reads them.
  std::int64_t threads = 0;
  std::int64_t prefetch = 2;  // number of batches that are read ahead
  // Receives what the recipe makes besides metrics: a table of items, other tables and pictures. At
  // the end, rank 0's object holds the outputs of all ranks. The pointer is null if no outputs are
  // wanted.
  EvaluationOutput* output = nullptr;
  // A function that frees the device memory that training keeps between steps. If one row at a time
  // does not fit into memory, all ranks call the function once and try again. The function is empty
  // if training keeps no memory.
  std::function<void()> free_memory{};
  // A function that each rank calls after each of its batches except the last. done: the fraction
  // of this rank's rows that is evaluated. If the function returns false on any rank, the whole
  // evaluation is given up. If the function is empty, the evaluation always goes on to its end. The
  // function is not called if ranks share a sample (shared_sample.h).
  std::function<bool(double done)> goes_on{};
};

struct Evaluation {
  std::vector<Metric> metrics;
  // The time of this rank's first batch minus the mean time of its other batches; at least 0. The
  // first batch takes longer because it also loads kernels.
  double warm_up_s = 0;
  std::int64_t batch = 0;                // rows per batch in the last try
  std::vector<int> out_of_memory_ranks;  // ranks that ran out of memory in the last failed try
  // True if EvaluatorOptions::goes_on returned false on a rank. Then there are no metrics.
  bool given_up = false;
};

// `evaluate` throws this exception on all ranks if a rank could not evaluate its share because of
// an Error, such as unreadable data. The exception has the message of the lowest rank that failed.
class EvaluationFailed : public Error {
 public:
  using Error::Error;
};

// Evaluates the dataset and returns the metrics. All ranks call it together. Each rank evaluates
// its share of the rows (row_share). If there are fewer samples than ranks, several ranks can share
// a sample (shared_sample.h). This requires that Recipe::evaluates_pieces returns true and that
// each sample has one row. All ranks gather the records in row order, so each rank then holds the
// records of all rows in host memory. While a rank gathers these records, it needs 16 MiB of host
// memory more. A device holds the records of at most two batches. Every rank computes the metrics
// from the same records. If memory runs out on a rank, all ranks try again from the start, with
// half as many rows per batch. Throws in these cases:
//   - Error: the dataset is empty, the recipe returns no metrics, or one row at a time does not fit
//     into memory
//   - EvaluationFailed: the evaluation of a rank's share threw Error
//   - any other exception of a rank: that rank rethrows it, and the other ranks throw Error with
//     its message
Evaluation evaluate(Recipe& recipe, Model& model, const Dataset& dataset, ProcessGroup& group,
                    Backend& backend, const EvaluatorOptions& options);

// Puts the table that Recipe::items makes into `output`. If Recipe::items throws, adds the error
// message to the problems of `output` instead.
void make_items(const Recipe& recipe, const Records& records, EvaluationOutput& output);

// Calls Recipe::evaluate_items. Throws WrongRecords if the result is not exactly one defined tensor
// per row.
std::vector<at::Tensor> evaluated_rows(Recipe& recipe, Model& model, const Batch& batch,
                                       StepContext& context);

}  // namespace lockstep
