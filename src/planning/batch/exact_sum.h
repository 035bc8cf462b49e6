// The order in which exact mode adds up gradients: one binary tree over the leaves of a step, the
// same on any number of ranks. Arithmetic only.
#pragma once

#include "planning/batch/shard.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lockstep {

// A leaf is a micro-batch; a step has `leaves` of them, numbered by the places of their samples in
// the global batch. Node (level, index) of the tree is the sum of leaves [index << level,
// (index + 1) << level) as far as there are so many: node (level - 1, 2 index) plus node
// (level - 1, 2 index + 1), or the former alone where the latter is empty.
struct SumNode {
  int level = 0;
  std::int64_t index = 0;
  std::int64_t begin() const { return index << level; }  // its first leaf
  friend bool operator==(const SumNode&, const SumNode&) = default;
};

// The sums that a rank keeps while its own leaves arrive, one after the other. They are a stack:
// whenever the two on top are siblings, the rank adds them. So the stack is never higher than about
// twice the logarithm of the rank's leaves.
class CarryChain {
 public:
  explicit CarryChain(std::int64_t first_leaf) : next_(first_leaf) {}
  // The next leaf's gradient is there. Returns how often, from now on, the sum on top is added to
  // the one below it and dropped; 0: it stays on top, as a sum of its own.
  int push();
  std::int64_t next() const { return next_; }                   // leaf that the next push takes up
  const std::vector<SumNode>& stack() const { return stack_; }  // bottom first; by leaves

 private:
  std::int64_t next_;
  std::vector<SumNode> stack_;
};

// The sums that a rank is left with after its leaves [begin, end), by leaves.
std::vector<SumNode> partial_sums(std::int64_t begin, std::int64_t end);

// How many sums a rank keeps at once, at most, on its way through leaves [begin, end). A leaf that
// is added at once needs no place of its own.
std::size_t highest_stack(std::int64_t begin, std::int64_t end);

// An addition of two sums in a list: slot `into` becomes itself plus slot `from`.
struct SumStep {
  std::size_t into = 0, from = 0;
  friend bool operator==(const SumStep&, const SumStep&) = default;
};

// How the partial sums of all ranks, in one list by leaves, become the whole in slot 0. They cover
// [0, leaves) without overlap.
std::vector<SumStep> finish_sum(const std::vector<SumNode>& partial, std::int64_t leaves);

// The shards of the gradients that the ranks add up for all: one a rank, side by side, as equal as
// `arena_alignment` lets them be. A late one may be empty.
std::vector<Shard> cut_shards(std::int64_t elements, std::int64_t ranks);

// The exact sum as a plan describes it.
struct ExactSum {
  std::int64_t leaf_samples = 0, leaves = 0;  // samples; a step
  std::int64_t partial_sums = 0;              // of the rank that has the most
  // Flat fp32 buffers [elements] that a rank keeps for it beside the gradients, rounded up.
  std::int64_t buffers = 0;
  double sent_bytes = 0;  // by the rank that sends the most, in a step
};
ExactSum plan_exact_sum(std::int64_t world_size, std::int64_t leaf_samples,
                        std::int64_t accumulation, std::int64_t elements);

// The leaf of a run that nobody chose one for: the largest divisor of `global` up to `largest`
// that leaves a multiple of 8 leaves a step, so that 1, 2, 4 and 8 ranks choose the same. Where
// that does not give every rank a whole number of them, or does not divide: a multiple of both 8
// and the ranks, else of the ranks. `global` is a multiple of world_size.
std::int64_t choose_leaf_samples(std::int64_t global, std::int64_t largest,
                                 std::int64_t world_size);

}  // namespace lockstep
