#include "planning/batch/exact_sum.h"

#include "core/base/check.h"
#include "planning/batch/buckets.h"
#include "planning/plan.h"

#include <algorithm>
#include <numeric>

namespace lockstep {

int CarryChain::push() {
  stack_.push_back({.level = 0, .index = next_++});
  int sums = 0;
  while (stack_.size() > 1) {
    const SumNode top = stack_.back();
    const SumNode& below = stack_[stack_.size() - 2];
    if (top.index % 2 == 0 || below.level != top.level || below.index != top.index - 1) break;
    stack_.pop_back();
    stack_.back() = {.level = top.level + 1, .index = top.index / 2};
    ++sums;
  }
  return sums;
}

std::vector<SumNode> partial_sums(std::int64_t begin, std::int64_t end) {
  CarryChain chain(begin);
  for (std::int64_t leaf = begin; leaf < end; ++leaf) chain.push();
  return chain.stack();
}

std::size_t highest_stack(std::int64_t begin, std::int64_t end) {
  CarryChain chain(begin);
  std::size_t highest = 0;
  for (std::int64_t leaf = begin; leaf < end; ++leaf)
    if (chain.push() == 0) highest = std::max(highest, chain.stack().size());
  return highest;
}

namespace {

// Plans the sum of the partial sums under `node`. The sum goes into the slot of the first one,
// whose index is returned.
class Finish {
 public:
  Finish(const std::vector<SumNode>& partial, std::int64_t leaves)
      : partial_(partial), leaves_(leaves) {}

  std::size_t add_up(SumNode node) {
    LOCKSTEP_CHECK(next_ < partial_.size());
    if (partial_[next_] == node) return next_++;
    LOCKSTEP_CHECK(node.level > 0);
    const SumNode left{.level = node.level - 1, .index = node.index * 2},
        right{.level = node.level - 1, .index = node.index * 2 + 1};
    const std::size_t into = add_up(left);
    if (right.begin() < leaves_) steps_.push_back({.into = into, .from = add_up(right)});
    return into;
  }
  const std::vector<SumStep>& steps() const { return steps_; }
  bool all_used() const { return next_ == partial_.size(); }

 private:
  const std::vector<SumNode>& partial_;
  std::int64_t leaves_;
  std::size_t next_ = 0;
  std::vector<SumStep> steps_;
};

}  // namespace

std::vector<SumStep> finish_sum(const std::vector<SumNode>& partial, std::int64_t leaves) {
  LOCKSTEP_CHECK(leaves > 0);
  SumNode root;
  while ((std::int64_t{1} << root.level) < leaves) ++root.level;
  Finish finish(partial, leaves);
  finish.add_up(root);
  LOCKSTEP_CHECK(finish.all_used());
  return finish.steps();
}

std::vector<Shard> cut_shards(std::int64_t elements, std::int64_t ranks) {
  LOCKSTEP_CHECK(elements >= 0 && ranks > 0);
  const std::int64_t units = (elements + arena_alignment - 1) / arena_alignment;
  const std::int64_t size = (units + ranks - 1) / ranks * arena_alignment;
  std::vector<Shard> shards;
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    const std::int64_t begin = std::min(elements, rank * size);
    shards.push_back({.begin = begin, .end = std::min(elements, begin + size)});
  }
  return shards;
}

ExactSum plan_exact_sum(std::int64_t world_size, std::int64_t leaf_samples,
                        std::int64_t accumulation, std::int64_t elements) {
  LOCKSTEP_CHECK(world_size > 0 && leaf_samples > 0 && accumulation > 0);
  ExactSum plan{.leaf_samples = leaf_samples, .leaves = world_size * accumulation};
  std::size_t stack = 0;
  std::int64_t all_sums = 0;
  for (std::int64_t rank = 0; rank < world_size; ++rank) {
    const std::int64_t begin = rank * accumulation, end = begin + accumulation;
    stack = std::max(stack, highest_stack(begin, end));
    const auto sums = static_cast<std::int64_t>(partial_sums(begin, end).size());
    plan.partial_sums = std::max(plan.partial_sums, sums);
    all_sums += sums;
  }
  plan.buffers = accumulation > 1 ? static_cast<std::int64_t>(stack) : 0;
  if (world_size == 1) return plan;
  plan.buffers += (all_sums + world_size - 1) / world_size;
  const double bytes = 4.0 * static_cast<double>(elements);
  const double others = static_cast<double>(world_size - 1) / static_cast<double>(world_size);
  plan.sent_bytes = bytes * others * static_cast<double>(plan.partial_sums + 1);
  return plan;
}

std::int64_t choose_leaf_samples(std::int64_t global, std::int64_t largest,
                                 std::int64_t world_size) {
  constexpr std::int64_t usual_ranks = 8;
  LOCKSTEP_CHECK(world_size > 0 && global > 0 && global % world_size == 0);
  for (const std::int64_t leaves : {usual_ranks, std::lcm(usual_ranks, world_size), world_size}) {
    if (global % leaves != 0) continue;
    const std::int64_t leaf = largest_divisor(global / leaves, largest);
    if (global / leaf % world_size == 0) return leaf;
  }
  LOCKSTEP_CHECK(false);
}

}  // namespace lockstep
