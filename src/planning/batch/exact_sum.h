// The order in which exact mode adds gradients: a binary tree over the exact-mode micro-batches
// ("leaves") of a step. The tree does not depend on the number of ranks. This code is pure
// arithmetic.
#pragma once

#include "planning/batch/shard.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lockstep {

// A node of the tree. A leaf is a micro-batch. The leaves of a step are numbered in the order of
// their samples in the global batch. Node (level, index) is the sum of leaves [index << level,
// (index + 1) << level), as far as these leaves exist. The node is the sum of its children (level -
// 1, 2 index) and (level - 1, 2 index + 1). If the second child is empty, the node equals the
// first.
struct SumNode {
  int level = 0;
  std::int64_t index = 0;
  std::int64_t begin() const { return index << level; }  // its first leaf
  friend bool operator==(const SumNode&, const SumNode&) = default;
};

// The sums that a rank keeps while it computes its own leaves one after the other. They form a
// stack. Whenever the two sums on top are siblings in the tree, the rank adds them. So the height
// of the stack is at most about twice the logarithm of the rank's number of leaves.
class CarryChain {
 public:
  explicit CarryChain(std::int64_t first_leaf) : next_(first_leaf) {}
  // Pushes the next leaf, whose gradient is complete. Returns how many times the caller must then
  // add the top sum to the one below it and drop the top. If 0, the leaf stays on top as a separate
  // sum.
  int push();
  std::int64_t next() const { return next_; }  // the leaf that the next push adds
  // from bottom to top, in order of leaves
  const std::vector<SumNode>& stack() const { return stack_; }

 private:
  std::int64_t next_;
  std::vector<SumNode> stack_;
};

// The sums that a rank has after its leaves [begin, end), in order of leaves.
std::vector<SumNode> partial_sums(std::int64_t begin, std::int64_t end);

// The largest number of sums that a rank keeps at once during leaves [begin, end). A leaf that is
// added to another sum immediately needs no buffer and does not count.
std::size_t highest_stack(std::int64_t begin, std::int64_t end);

// One addition in a list of sums: adds slot `from` to slot `into`.
struct SumStep {
  std::size_t into = 0, from = 0;
  friend bool operator==(const SumStep&, const SumStep&) = default;
};

// The additions that turn the partial sums of all ranks into the total in slot 0. partial: the sums
// of all ranks in order of leaves. They cover [0, leaves) without overlap.
std::vector<SumStep> finish_sum(const std::vector<SumNode>& partial, std::int64_t leaves);

// Cuts the gradients into one shard per rank. Each rank adds up its shard for all ranks. The shards
// are consecutive. All have the same size, a multiple of `arena_alignment`, except the last ones,
// which may be shorter or empty.
std::vector<Shard> cut_shards(std::int64_t elements, std::int64_t ranks);

// The exact sum, as a plan records it.
struct ExactSum {
  std::int64_t leaf_samples = 0, leaves = 0;  // samples of a leaf; leaves of a step
  std::int64_t partial_sums = 0;              // the largest number of partial sums on a rank
  // The number of extra flat fp32 buffers [elements] that a rank keeps for the exact sum, rounded
  // up.
  std::int64_t buffers = 0;
  double sent_bytes = 0;  // bytes that a rank sends in a step; the largest of all ranks
};
ExactSum plan_exact_sum(std::int64_t world_size, std::int64_t leaf_samples,
                        std::int64_t accumulation, std::int64_t elements);

// Chooses the number of samples of a leaf for a run whose user did not set it. The result is the
// largest divisor of `global` up to `largest` with which a step has a multiple of 8 leaves. So 1,
// 2, 4 and 8 ranks get the same leaves. Each rank must also have a whole number of leaves. If both
// conditions cannot be met, the number of leaves is a multiple of both 8 and world_size. If
// `global` does not allow that either, it is a multiple of world_size only. `global` must be a
// multiple of world_size.
std::int64_t choose_leaf_samples(std::int64_t global, std::int64_t largest,
                                 std::int64_t world_size);

}  // namespace lockstep
