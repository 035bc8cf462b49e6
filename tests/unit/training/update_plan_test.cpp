// The plan that is made of each parameter's gradient once a step was seen.
#include "training/plan/update_plan.h"

#include "planning/batch/buckets.h"

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

namespace lockstep {
namespace {

constexpr std::int64_t large = smallest_bucket_bytes / 4, small = large - 1;
constexpr UpdateFacts bf16{.low_precision = true},
    low_sums{.low_precision = true, .reads_low_sums = true};

struct PlanCase {
  std::string name;
  ParameterObservation seen;
  UpdateFacts facts;
  FirstGradient first;
  bool sum_in_reduce_buffer;
};
std::ostream& operator<<(std::ostream& out, const PlanCase& one) { return out << one.name; }

class UpdatePlanOf : public ::testing::TestWithParam<PlanCase> {};

TEST_P(UpdatePlanOf, AParameter) {
  const UpdatePlan plan = make_update_plan(std::vector{GetParam().seen}, GetParam().facts);
  EXPECT_TRUE(plan.observed);
  EXPECT_FALSE(plan.deferred);
  EXPECT_EQ(plan.groups, 1U);
  ASSERT_EQ(plan.parameters.size(), 1U);
  EXPECT_EQ(plan.parameters[0].first, GetParam().first);
  EXPECT_EQ(plan.parameters[0].sum_in_reduce_buffer, GetParam().sum_in_reduce_buffer);
  EXPECT_EQ(plan.reads_reduce_buffer(), GetParam().sum_in_reduce_buffer);
}

using enum FirstGradient;
constexpr GradientObservation rows_alone{.gradients = 1, .needs_zeros = true, .is_sparse = true};
constexpr ParameterObservation once{.gradient = {.gradients = 1}, .elements = large},
    twice{.gradient = {.gradients = 2}, .elements = large},
    none{.gradient = {.needs_zeros = true}, .elements = large},
    added{.gradient = {.gradients = 1, .needs_zeros = true}, .elements = large},
    tied{.gradient = {.gradients = 2}, .elements = large, .tensors = 2},
    rows{.gradient = rows_alone, .elements = large},
    few_rows{.gradient = rows_alone, .elements = small};

INSTANTIATE_TEST_SUITE_P(
    Parameters, UpdatePlanOf,
    ::testing::Values(
        PlanCase{"one gradient", once, bf16, overwrites_reduce_buffer, false},
        PlanCase{"micro-batches", twice, bf16, overwrites, false},
        PlanCase{"no gradient", none, bf16, adds_to_zeros, false},
        PlanCase{"an operation that only adds", added, bf16, adds_to_zeros, false},
        PlanCase{"two tensors", tied, bf16, adds_to_zeros, false},
        PlanCase{"fp32", once, {}, adds_to_zeros, false},
        PlanCase{"exact", once, {.low_precision = true, .exact = true}, adds_to_zeros, false},
        PlanCase{"sums in bf16", once, low_sums, overwrites_reduce_buffer, true},
        PlanCase{"fp32, sums in bf16", once, {.reads_low_sums = true}, adds_to_zeros, true},
        PlanCase{"few rows, added up in f32", rows, low_sums, adds_to_zeros, false},
        PlanCase{"a small table", few_rows, low_sums, adds_to_zeros, true},
        PlanCase{"a table, sharded",
                 rows,
                 {.low_precision = true, .sharded = true, .reads_low_sums = true},
                 adds_to_zeros,
                 true}),
    [](const auto& one) { return "Case" + std::to_string(one.index); });

TEST(UpdatePlan, BeforeWarmUpTakesNothingForGranted) {
  const UpdatePlan plan = plan_before_warm_up(3);
  EXPECT_FALSE(plan.observed);
  EXPECT_EQ(plan.parameters, std::vector<ParameterPlan>(3));
  EXPECT_EQ(plan.parameters[0].first, FirstGradient::adds_to_zeros);
}

// Parameters: 0 a table, 1 used by both blocks, 2 of the first block, 3 a head, 4 an input layer.
const BlockUse two_blocks{
    .blocks = {7, 3}, .parameters = {{1, 2}, {1}}, .is_early = {true, true, true, false, true}};
const std::vector<bool> one_table{true, false, false, false, false};

std::vector<std::size_t> groups_of(const UpdatePlan& plan) {
  std::vector<std::size_t> groups;
  for (const ParameterPlan& one : plan.parameters) groups.push_back(one.group);
  return groups;
}

TEST(UpdatePlan, HasGroupsInTheOrderOfUseAndATableBehindItsReader) {
  UpdatePlan plan = plan_before_warm_up(5);
  defer_update(plan, two_blocks, one_table, Deferral::sparse_behind_reader);
  EXPECT_TRUE(plan.deferred);
  EXPECT_EQ(groups_of(plan), (std::vector<std::size_t>{3, 1, 1, 2, 0}));
  EXPECT_EQ(plan.block_groups, 3U);
  EXPECT_EQ(plan.groups, 4U);
  EXPECT_EQ(plan.sparse_parameter(3), 0U);
  EXPECT_EQ(plan.group_of_block(7), 1U);
  EXPECT_EQ(plan.group_of_block(3), 2U);
  EXPECT_EQ(plan.group_of_block(99), 2U) << "an unknown block waits for all";
}

TEST(UpdatePlan, ThatGathersOtherRowsUpdatesAlike) {
  UpdatePlan plan = plan_before_warm_up(2), other = plan;
  other.parameters[1].rows_of_ranks = {3, 4};
  EXPECT_TRUE(plan.updates_like(other));
  EXPECT_FALSE(plan == other);
  other.parameters[1].sum_in_reduce_buffer = true;
  EXPECT_FALSE(plan.updates_like(other));
}

TEST(UpdatePlan, UpdatesATableFirstThatIsReadOtherwise) {
  UpdatePlan plan = plan_before_warm_up(5);
  defer_update(plan, two_blocks, one_table, Deferral::sparse_first);
  EXPECT_EQ(groups_of(plan), (std::vector<std::size_t>{0, 1, 1, 2, 0}));
  EXPECT_EQ(plan.groups, plan.block_groups);
}

TEST(UpdatePlan, UpdatesAllFirstThatIsInNoBlock) {
  UpdatePlan plan = plan_before_warm_up(5);
  defer_update(plan, two_blocks, one_table, Deferral::all_first);
  EXPECT_EQ(groups_of(plan), (std::vector<std::size_t>{0, 1, 1, 0, 0}));
  EXPECT_EQ(plan.block_groups, 2U);
  EXPECT_EQ(plan.group_of_block(3), 1U);
}

}  // namespace
}  // namespace lockstep
