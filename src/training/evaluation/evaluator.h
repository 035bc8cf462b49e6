// Evaluates a validation set, split over the ranks, with the same result on any number of them.
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
  // Rows that a rank evaluates at once. The last batch is filled up with copies of its own rows,
  // and these copies have weight 0.
  std::int64_t batch = 1;
  at::ScalarType compute_dtype = at::kFloat;
  std::int64_t threads = 0;   // number of threads that read samples; 0: only the caller's thread
  std::int64_t prefetch = 2;  // batches read ahead
  // Takes the recipe's table of items, further tables and pictures. In the end rank 0 has them.
  // Null: they are not wanted.
  EvaluationOutput* output = nullptr;
  // Frees the device memory that training keeps between steps. If one sample at a time does not fit
  // into the remaining memory, all ranks call this once and try again. Empty: there is no such
  // memory.
  std::function<void()> free_memory{};
  // Called on each rank independently after each of its batches. done: the share of its rows that
  // is evaluated. If it returns false, all ranks give up the evaluation. Empty: the evaluation goes
  // on to its end. Not called where ranks share a sample.
  std::function<bool(double done)> goes_on{};
};

struct Evaluation {
  std::vector<Metric> metrics;
  // The time that this rank's first batch took beyond the mean of the others. The first batch loads
  // kernels.
  double warm_up_s = 0;
  std::int64_t batch = 0;                // samples evaluated at once when it ended
  std::vector<int> out_of_memory_ranks;  // ranks on which more samples at once did not fit
  bool given_up = false;  // EvaluatorOptions::goes_on ended it; then there are no metrics
};

// All ranks throw it if some ranks could not evaluate their share, for example because data could
// not be read. It has the message of the first of these ranks.
class EvaluationFailed : public Error {
 public:
  using Error::Error;
};

// All ranks call it together. The N rows are those of sample 0, then those of sample 1, and so on.
// Most samples have one row. Rank r evaluates rows [r * per, (r + 1) * per), per = ceil(N / ranks).
// This range may be empty, and each row is read once. If there are fewer samples than ranks and the
// recipe makes pieces (Recipe::evaluates_pieces), several ranks share a sample, and each of them
// reads it. Records are gathered in row order, on the hosts. Each rank then has the records of all
// rows in host memory, and needs 16 MiB more. A device never holds the records of more than two
// batches. Every rank computes the metrics from the same records. If memory runs out on a rank, all
// ranks start again and evaluate half as many rows at once. Throws Error if the dataset or a list
// of metrics is empty, or if one sample does not fit. Throws EvaluationFailed if a rank met an
// Error in its share. If a rank met another exception, that rank throws it, and the other ranks
// throw an Error that says so.
Evaluation evaluate(Recipe& recipe, Model& model, const Dataset& dataset, ProcessGroup& group,
                    Backend& backend, const EvaluatorOptions& options);

// Writes Recipe::items into `output`. If the recipe cannot make the table, `output` gets a problem
// instead.
void make_items(const Recipe& recipe, const Records& records, EvaluationOutput& output);

// Calls Recipe::evaluate_items and checks that there is one tensor per row. Throws Error.
std::vector<at::Tensor> evaluated_rows(Recipe& recipe, Model& model, const Batch& batch,
                                       StepContext& context);

}  // namespace lockstep
