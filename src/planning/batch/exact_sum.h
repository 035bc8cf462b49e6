// The order in which exact mode adds up gradients: one binary tree over the leaves of a step, the
// same on any number of ranks. Arithmetic only.
#pragma once

#include "planning/batch/shard.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lockstep {

// A leaf is a micro-batch; a step has `leaves` of them, numbered by the places of their samples in
// the global batch. Node (level, index) of the tree is the sum of leaves
// [index << level, (index + 1) << level), as far as these exist. It is the sum of the nodes
// (level - 1, 2 index) and (level - 1, 2 index + 1). If the latter is empty, it is the former.
struct SumNode {
  int level = 0;
  std::int64_t index = 0;
  std::int64_t begin() const { return index << level; }  // its first leaf
  friend bool operator==(const SumNode&, const SumNode&) = default;
};

// The sums that a rank keeps while its own leaves arrive, one after the other. They form a stack:
// whenever the two on top are siblings, the rank adds them. So the stack is never higher than about
// twice the logarithm of the number of the rank's leaves.
class CarryChain {
 public:
  explicit CarryChain(std::int64_t first_leaf) : next_(first_leaf) {}
  // Takes up the next leaf, whose gradient is there. Returns how often the sum on top must now be
  // added to the one below it and dropped. 0: it stays on top, as a sum of its own.
  int push();
  std::int64_t next() const { return next_; }                   // leaf that the next push takes up
  const std::vector<SumNode>& stack() const { return stack_; }  // bottom first; in order of leaves

 private:
  std::int64_t next_;
  std::vector<SumNode> stack_;
};

// The sums that a rank is left with after its leaves [begin, end), in order of leaves.
std::vector<SumNode> partial_sums(std::int64_t begin, std::int64_t end);

// The most sums that a rank keeps at once on its way through leaves [begin, end). A leaf that is
// added at once needs no place of its own.
std::size_t highest_stack(std::int64_t begin, std::int64_t end);

// An addition of two sums in a list: adds slot `from` to slot `into`.
struct SumStep {
  std::size_t into = 0, from = 0;
  friend bool operator==(const SumStep&, const SumStep&) = default;
};

// The additions that turn the partial sums of all ranks into the whole sum in slot 0. partial: one
// list in order of leaves, which covers [0, leaves) without overlap.
std::vector<SumStep> finish_sum(const std::vector<SumNode>& partial, std::int64_t leaves);

// The shards of the gradients. Each rank adds up one shard for all ranks. The shards lie side by
// side, as equal as `arena_alignment` lets them be. The last ones may be empty.
std::vector<Shard> cut_shards(std::int64_t elements, std::int64_t ranks);

// The exact sum as a plan describes it.
struct ExactSum {
  std::int64_t leaf_samples = 0, leaves = 0;  // samples of a leaf; leaves of a step
  std::int64_t partial_sums = 0;              // partial sums of the rank that has the most
  // The number of flat fp32 buffers [elements] that a rank keeps for the exact sum besides the
  // gradients, rounded up.
  std::int64_t buffers = 0;
  double sent_bytes = 0;  // bytes that the rank that sends the most sends in a step
};
ExactSum plan_exact_sum(std::int64_t world_size, std::int64_t leaf_samples,
                        std::int64_t accumulation, std::int64_t elements);

// The number of samples of a leaf, for a run in which the user did not choose it. It is the largest
// divisor of `global` up to `largest` with which a step has a multiple of 8 leaves, so that 1, 2, 4
// and 8 ranks choose the same. If 8 does not divide `global`, or some rank would not have a whole
// number of leaves, the number of leaves is a multiple of both 8 and the ranks, or else of the
// ranks alone. `global` is a multiple of world_size.
std::int64_t choose_leaf_samples(std::int64_t global, std::int64_t largest,
                                 std::int64_t world_size);

}  // namespace lockstep
