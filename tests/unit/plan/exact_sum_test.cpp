// The tree of exact sums: the same whatever the number of ranks.
#include "plan/exact_sum.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace lockstep {
namespace {

using ::testing::ElementsAre;

// The sum as a rank makes it of its grains, written out with brackets.
std::vector<std::string> sums_of(std::int64_t begin, std::int64_t end) {
  std::vector<std::string> stack;
  CarryChain chain(begin);
  for (std::int64_t grain = begin; grain < end; ++grain) {
    stack.push_back(std::to_string(grain));
    for (int sums = chain.push(); sums > 0; --sums) {
      const std::string top = stack.back();
      stack.pop_back();
      stack.back() = "(" + stack.back() + "+" + top + ")";
    }
    EXPECT_EQ(stack.size(), chain.stack().size());
  }
  return stack;
}

// The whole, as `ranks` make it that have equal shares of the grains.
std::string whole(std::int64_t grains, std::int64_t ranks) {
  std::vector<SumNode> nodes;
  std::vector<std::string> sums;
  const std::int64_t share = grains / ranks;
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    for (const SumNode& node : partial_sums(rank * share, (rank + 1) * share))
      nodes.push_back(node);
    for (const std::string& sum : sums_of(rank * share, (rank + 1) * share)) sums.push_back(sum);
  }
  EXPECT_EQ(nodes.size(), sums.size());
  for (const SumStep& step : finish_sum(nodes, grains))
    sums[step.into] = "(" + sums[step.into] + "+" + sums[step.from] + ")";
  return sums[0];
}

TEST(ExactSumTest, IsTheSameTreeOnAnyNumberOfRanks) {
  for (std::int64_t grains = 1; grains <= 96; ++grains) {
    const std::string alone = whole(grains, 1);
    for (std::int64_t ranks = 2; ranks <= grains; ++ranks)
      if (grains % ranks == 0) EXPECT_EQ(whole(grains, ranks), alone) << grains << " " << ranks;
  }
}

TEST(ExactSumTest, IsABalancedTree) {
  EXPECT_EQ(whole(1, 1), "0");
  EXPECT_EQ(whole(3, 1), "((0+1)+2)");
  EXPECT_EQ(whole(6, 2), "(((0+1)+(2+3))+(4+5))");
  EXPECT_EQ(whole(8, 4), "(((0+1)+(2+3))+((4+5)+(6+7)))");
}

TEST(ExactSumTest, LeavesARankWithFewSums) {
  EXPECT_THAT(partial_sums(4, 8), ElementsAre(SumNode{.level = 2, .index = 1}));
  EXPECT_THAT(partial_sums(3, 6),
              ElementsAre(SumNode{.level = 0, .index = 3}, SumNode{.level = 1, .index = 2}));
  EXPECT_EQ(partial_sums(1, 16).size(), 4u);
}

TEST(ExactSumTest, SaysWhatItTakes) {
  const ExactSum aligned = plan_exact_sum(4, 8, 4);
  EXPECT_EQ(aligned.grain, 8);
  EXPECT_EQ(aligned.grains, 16);
  EXPECT_EQ(aligned.partial_sums, 1);
  EXPECT_EQ(aligned.stack, 2);
  const ExactSum odd = plan_exact_sum(2, 1, 3);
  EXPECT_EQ(odd.partial_sums, 2);
  EXPECT_EQ(plan_exact_sum(8, 1, 1).partial_sums, 1);
  EXPECT_EQ(plan_exact_sum(8, 1, 1).stack, 1);
}

}  // namespace
}  // namespace lockstep
