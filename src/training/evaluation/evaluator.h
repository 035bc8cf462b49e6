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
  // Rows that a rank evaluates at once. The last batch is filled up with padding rows of weight 0,
  // which repeat its own rows.
  std::int64_t batch = 1;
  at::ScalarType compute_dtype = at::kFloat;
  // Number of threads that read samples; 0: the calling thread reads them.
  std::int64_t threads = 0;
  std::int64_t prefetch = 2;  // number of batches that are read ahead
  // Takes the recipe's table of items, further tables and pictures. At the end, rank 0 has those of
  // all ranks. The pointer is null if they are not wanted.
  EvaluationOutput* output = nullptr;
  // A function that frees the device memory that training keeps between steps. If one row at a time
  // does not fit into memory, all ranks call the function once and try again. It is empty if there
  // is no such memory.
  std::function<void()> free_memory{};
  // A function that each rank calls after each of its batches except the last. done: the fraction
  // of this rank's rows that is evaluated. If the function returns false on any rank, the whole
  // evaluation is given up. If the function is empty, the evaluation always goes on to its end. The
  // function is not called if ranks share a sample.
  std::function<bool(double done)> goes_on{};
};

struct Evaluation {
  std::vector<Metric> metrics;
  // The time by which this rank's first batch exceeded the mean of its other batches. The first
  // batch also loads kernels.
  double warm_up_s = 0;
  std::int64_t batch = 0;                // rows evaluated at once in the last try
  std::vector<int> out_of_memory_ranks;  // ranks that ran out of memory in the last try that failed
  // EvaluatorOptions::goes_on returned false on a rank, so there are no metrics.
  bool given_up = false;
};

// All ranks throw it if a rank met an Error in its share, for example because data could not be
// read. It has the message of the first rank that failed.
class EvaluationFailed : public Error {
 public:
  using Error::Error;
};

// Evaluates the dataset and returns the metrics. All ranks call it together. Each rank evaluates
// its share of the rows (row_share). If there are fewer samples than ranks, several ranks can share
// a sample (shared_sample.h). This requires Recipe::evaluates_pieces, and one row per sample.
// Records are gathered in row order on the hosts. Each rank then has the records of all rows in
// host memory, and needs 16 MiB more. A device holds the records of at most two batches. Every rank
// computes the metrics from the same records. If memory runs out on a rank, all ranks start again
// and evaluate half as many rows at once. Throws in these cases:
//   - Error: the dataset is empty, there are no metrics, or one row at a time does not fit into
//     memory
//   - EvaluationFailed: a rank met an Error in its share
//   - any other exception of a rank: that rank rethrows it, and the other ranks throw Error with
//     its message
Evaluation evaluate(Recipe& recipe, Model& model, const Dataset& dataset, ProcessGroup& group,
                    Backend& backend, const EvaluatorOptions& options);

// Puts the table that Recipe::items makes into `output`. If Recipe::items throws, adds a problem to
// `output` instead.
void make_items(const Recipe& recipe, const Records& records, EvaluationOutput& output);

// Calls Recipe::evaluate_items. Throws WrongRecords if there is not exactly one tensor per row.
std::vector<at::Tensor> evaluated_rows(Recipe& recipe, Model& model, const Batch& batch,
                                       StepContext& context);

}  // namespace lockstep
