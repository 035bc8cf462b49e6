#include "training/plan/update_plan.h"

#include "core/base/check.h"
#include "planning/batch/buckets.h"

#include <algorithm>

namespace lockstep {
namespace {

FirstGradient first_gradient(const ParameterObservation& seen, const UpdateFacts& facts) {
  if (!facts.low_precision || facts.exact || seen.tensors != 1 || seen.gradient.needs_zeros)
    return FirstGradient::adds_to_zeros;
  return seen.gradient.gradients == 1 ? FirstGradient::overwrites_reduce_buffer
                                      : FirstGradient::overwrites;
}

// Whether the sum can stay in the reduce buffer. Rows of a large sparse parameter are summed in f32
// instead (SparseAllGather).
bool leaves_sum(const ParameterObservation& seen, const UpdateFacts& facts) {
  return facts.reads_low_sums && !facts.exact &&
         (facts.sharded || !seen.gradient.is_sparse || !fills_a_bucket(seen.elements));
}

}  // namespace

bool UpdatePlan::reads_reduce_buffer() const {
  return std::any_of(parameters.begin(), parameters.end(),
                     [](const ParameterPlan& one) { return one.sum_in_reduce_buffer; });
}

std::size_t UpdatePlan::group_of_block(std::int64_t block) const {
  const auto found = std::find(blocks.begin(), blocks.end(), block);
  const auto group = static_cast<std::size_t>(found - blocks.begin()) + 1;
  return std::min(group, block_groups - 1);
}

std::size_t UpdatePlan::sparse_parameter(std::size_t group) const {
  LOCKSTEP_CHECK(group >= block_groups);
  const auto found = std::find_if(parameters.begin(), parameters.end(),
                                  [group](const ParameterPlan& one) { return one.group == group; });
  return static_cast<std::size_t>(found - parameters.begin());
}

bool UpdatePlan::updates_like(UpdatePlan other) const {
  if (other.parameters.size() != parameters.size()) return false;
  for (std::size_t i = 0; i < parameters.size(); ++i)
    other.parameters[i].rows_of_ranks = parameters[i].rows_of_ranks;
  return other == *this;
}

UpdatePlan plan_before_warm_up(std::size_t parameters) {
  UpdatePlan plan;
  plan.parameters.resize(parameters);
  return plan;
}

UpdatePlan make_update_plan(std::span<const ParameterObservation> seen, const UpdateFacts& facts) {
  UpdatePlan plan = plan_before_warm_up(seen.size());
  plan.observed = true;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    plan.parameters[i].first = first_gradient(seen[i], facts);
    plan.parameters[i].sum_in_reduce_buffer = leaves_sum(seen[i], facts);
  }
  return plan;
}

void defer_update(UpdatePlan& plan, const BlockUse& use, const std::vector<bool>& large_sparse,
                  Deferral how) {
  LOCKSTEP_CHECK(!use.blocks.empty());
  const std::size_t last = use.blocks.size();
  std::vector<ParameterPlan>& all = plan.parameters;
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i].group = use.is_early[i] || how == Deferral::all_first ? 0 : last;
  // in this order, the first block that uses a parameter wins
  for (std::size_t b = last; b > 0; --b)
    for (const std::size_t i : use.parameters[b - 1]) all[i].group = b;
  plan.block_groups = 1;
  for (const ParameterPlan& one : all)
    plan.block_groups = std::max(plan.block_groups, one.group + 1);
  plan.groups = plan.block_groups;
  if (how == Deferral::sparse_behind_reader)
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i].group == 0 && large_sparse[i]) all[i].group = plan.groups++;
  plan.blocks = use.blocks;
  plan.deferred = true;
}

}  // namespace lockstep
