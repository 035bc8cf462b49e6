// Exact mode's sum of gradients over micro-batches and ranks: bitwise the same on any number of
// ranks, because it is one binary tree over the step's leaves (planning/batch/exact_sum.h).
#pragma once

#include "planning/batch/exact_sum.h"
#include "training/distributed/process_group.h"
#include "training/gradients/gradient_buffers.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace lockstep {

// In every step, on every rank: for each leaf zeroed gradients, a backward pass, `push`; then
// `finish`. Owns flat fp32 buffers as large as GradientBuffers::flat, as many as ExactSum::buffers
// says. The optimizer must not be sharded. One thread, on the training stream.
class ExactReducer {
 public:
  // accumulation: leaves of a rank in a step.
  ExactReducer(GradientBuffers& gradients, ProcessGroup& group, std::int64_t accumulation);

  // GradientBuffers::flat holds the gradients of the next leaf.
  void push();
  // Instead of what is left of the step's leaves, on a rank that has none to give: `finish` sends
  // something, and what comes of it means nothing.
  void skip_rest();
  // Afterwards GradientBuffers::flat holds those of the whole step. All ranks.
  void finish();
  // After a step that was not carried through: as if it had not begun.
  void reset();

 private:
  // The k-th sums of all ranks that have so many: each rank gets what lies in its own shard.
  struct Exchange {
    std::vector<std::int64_t> take, give;  // elements, by rank
    at::Tensor taken;                      // [sum of take]
  };
  void plan_exchanges(const std::vector<std::vector<SumNode>>& sums);
  at::Tensor own_sum(std::size_t k);
  void add_up();

  ParameterStorage& storage_;
  GradientBuffers& gradients_;
  ProcessGroup& group_;
  std::int64_t accumulation_;
  CarryChain chain_;
  std::vector<at::Tensor> stack_;          // unused with one leaf a rank: the gradients are its sum
  std::vector<std::int64_t> shard_sizes_;  // of each rank
  Shard own_shard_;
  std::vector<Exchange> exchanges_;
  std::vector<at::Tensor> partial_;  // what all ranks' sums, by leaves, hold of the own shard
  std::vector<SumStep> steps_;
};

}  // namespace lockstep
