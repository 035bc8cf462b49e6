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
  // Rows a rank evaluates at once. The last batch is filled up with weight-0 copies of its own
  // rows.
  std::int64_t batch = 1;
  at::ScalarType compute_dtype = at::kFloat;
  std::int64_t threads = 0;   // that read samples; 0: none beside the caller's
  std::int64_t prefetch = 2;  // batches read ahead
  // Takes the recipe's table of items, tables and pictures, which rank 0 has in the end. Null:
  // nobody wants them.
  EvaluationOutput* output = nullptr;
  // Gives back what training keeps on the device between steps. Called once, by all ranks, where
  // one sample at once does not fit beside that; then it is tried again. Empty: there is nothing.
  std::function<void()> free_memory{};
  // Called on each rank by itself after each of its batches, with the share of its rows that is
  // evaluated: false gives the evaluation up, on all ranks. Empty: it goes on to its end. Ranks
  // that share a sample do not ask.
  std::function<bool(double done)> goes_on{};
};

struct Evaluation {
  std::vector<Metric> metrics;
  // Time that this rank's first batch took beyond the mean of the others: kernels are loaded once.
  double warm_up_s = 0;
  std::int64_t batch = 0;                // samples evaluated at once in the end
  std::vector<int> out_of_memory_ranks;  // on which more at once did not fit
  bool given_up = false;                 // by EvaluatorOptions::goes_on; there are no metrics then
};

// Thrown by all ranks where some could not evaluate their share, such as one whose data cannot be
// read: says what the first of them said.
class EvaluationFailed : public Error {
 public:
  using Error::Error;
};

// All ranks call it together. The N rows are those of sample 0, then those of sample 1, and so on,
// mostly one each. Rank r evaluates rows [r * per, (r + 1) * per), per = ceil(N / ranks), which may
// be none; each is read once. Where there are fewer samples than ranks and the recipe makes pieces
// (Recipe::evaluates_pieces), ranks share a sample, which each of them reads. Records are gathered
// in this order, on the hosts: those of all rows are in the memory of each rank then, and 16 MiB
// beside them; a device never holds those of more than two batches. The metrics are computed on
// every rank from the same records. Where memory runs out on a rank, all evaluate half as many at
// once, from the beginning. Throws Error if the dataset is empty or a metric list is, or if one
// sample does not fit; EvaluationFailed where a rank met an Error in its share. Where it met
// another exception it throws that, and the other ranks an Error that says so.
Evaluation evaluate(Recipe& recipe, Model& model, const Dataset& dataset, ProcessGroup& group,
                    Backend& backend, const EvaluatorOptions& options);

// Recipe::items into `output`; a table that the recipe cannot make is a problem there.
void make_items(const Recipe& recipe, const Records& records, EvaluationOutput& output);

// Recipe::evaluate_items, checked: a tensor per row. Throws Error.
std::vector<at::Tensor> evaluated_rows(Recipe& recipe, Model& model, const Batch& batch,
                                       StepContext& context);

}  // namespace lockstep
