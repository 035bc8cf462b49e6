// The tree of exact sums: the same whatever the number of ranks.
#include "planning/batch/exact_sum.h"

#include "plan_fixtures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace lockstep {
namespace {

using ::testing::ElementsAre;

// The sum as a rank makes it of its leaves, written out with brackets.
std::vector<std::string> sums_of(std::int64_t begin, std::int64_t end) {
  std::vector<std::string> stack;
  CarryChain chain(begin);
  for (std::int64_t leaf = begin; leaf < end; ++leaf) {
    stack.push_back(std::to_string(leaf));
    for (int sums = chain.push(); sums > 0; --sums) {
      const std::string top = stack.back();
      stack.pop_back();
      stack.back() = "(" + stack.back() + "+" + top + ")";
    }
    EXPECT_EQ(stack.size(), chain.stack().size());
  }
  return stack;
}

// The whole, as `ranks` make it that have equal shares of the leaves.
std::string whole(std::int64_t leaves, std::int64_t ranks) {
  std::vector<SumNode> nodes;
  std::vector<std::string> sums;
  const std::int64_t share = leaves / ranks;
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    for (const SumNode& node : partial_sums(rank * share, (rank + 1) * share))
      nodes.push_back(node);
    for (const std::string& sum : sums_of(rank * share, (rank + 1) * share)) sums.push_back(sum);
  }
  EXPECT_EQ(nodes.size(), sums.size());
  for (const SumStep& step : finish_sum(nodes, leaves))
    sums[step.into] = "(" + sums[step.into] + "+" + sums[step.from] + ")";
  return sums[0];
}

TEST(ExactSumTest, IsTheSameTreeOnAnyNumberOfRanks) {
  for (std::int64_t leaves = 1; leaves <= 96; ++leaves) {
    const std::string alone = whole(leaves, 1);
    for (std::int64_t ranks = 2; ranks <= leaves; ++ranks)
      if (leaves % ranks == 0) {
        EXPECT_EQ(whole(leaves, ranks), alone) << leaves << " " << ranks;
      }
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
  const ExactSum aligned = plan_exact_sum(4, 8, 4, 1000);
  EXPECT_EQ(aligned.leaf_samples, 8);
  EXPECT_EQ(aligned.leaves, 16);
  EXPECT_EQ(aligned.partial_sums, 1);
  EXPECT_EQ(aligned.buffers, 2 + 1);
  // The shares of three other ranks, and the own share to three others.
  EXPECT_DOUBLE_EQ(aligned.sent_bytes, 2 * 4000 * 0.75);
  const ExactSum odd = plan_exact_sum(2, 1, 3, 1000);
  EXPECT_EQ(odd.partial_sums, 2);
  EXPECT_EQ(odd.buffers, 2 + 2);
  EXPECT_DOUBLE_EQ(odd.sent_bytes, 3 * 4000 * 0.5);
  // One leaf a rank needs no place of its own; one rank exchanges nothing.
  EXPECT_EQ(plan_exact_sum(8, 1, 1, 1000).buffers, 1);
  EXPECT_EQ(plan_exact_sum(1, 1, 8, 1000).buffers, 3);
  EXPECT_EQ(plan_exact_sum(1, 1, 8, 1000).sent_bytes, 0);
}

TEST(ExactSumTest, CutsShardsThatCoverTheArena) {
  for (const std::int64_t elements : {0, 64, 640, 6400, 123 * 64})
    for (std::int64_t ranks = 1; ranks <= 8; ++ranks) {
      const std::vector<Shard> shards = cut_shards(elements, ranks);
      ASSERT_EQ(shards.size(), static_cast<std::size_t>(ranks));
      std::int64_t next = 0;
      for (const Shard& shard : shards) {
        EXPECT_EQ(shard.begin, next);
        EXPECT_GE(shard.size(), 0);
        EXPECT_EQ(shard.begin % 64, 0);
        next += shard.size();
      }
      EXPECT_EQ(next, elements);
    }
}

TEST(ExactSumTest, ChoosesTheSameGrainOnUsualNumbersOfRanks) {
  for (const std::int64_t ranks : {1, 2, 4, 8}) EXPECT_EQ(choose_leaf_samples(256, 64, ranks), 32);
  for (const std::int64_t ranks : {1, 2, 4, 8}) EXPECT_EQ(choose_leaf_samples(256, 10, ranks), 8);
  for (const std::int64_t ranks : {1, 2, 3, 4, 6, 8})
    EXPECT_EQ(choose_leaf_samples(48, 2, ranks), 2);
}

TEST(ExactSumTest, ChoosesAGrainThatEveryRankHasAWholeNumberOf) {
  EXPECT_EQ(choose_leaf_samples(48, 64, 1), 6);
  EXPECT_EQ(choose_leaf_samples(48, 64, 6), 2);  // 8 leaves do not divide into 6
  EXPECT_EQ(choose_leaf_samples(12, 64, 4), 3);  // 12 has no multiple of 8
  EXPECT_EQ(choose_leaf_samples(16, 64, 16), 1);
  for (std::int64_t global = 1; global <= 240; ++global)
    for (std::int64_t ranks = 1; ranks <= global; ++ranks) {
      if (global % ranks != 0) continue;
      const std::int64_t leaf = choose_leaf_samples(global, 7, ranks);
      EXPECT_LE(leaf, 7);
      EXPECT_EQ(global % (leaf * ranks), 0) << global << " " << ranks;
    }
}

TEST(ExactPlan, WarnsThatARunEndsWhereTrainingChangesStatistics) {
  TrainOptions options;
  options.precision = Precision::fp32;
  options.stop.steps = 10;
  options.exact = true;
  Facts facts = text_facts();
  const auto notes = [&](const std::string& part) {
    return has_note(make_plan(options, facts, {}, gpus(2)), part);
  };
  EXPECT_FALSE(notes("statistics of batch norm"));
  facts.batch_norm = true;
  EXPECT_TRUE(
      notes("exact = true ends the run after its first step if training changes them: "
            "norm.statistics=frozen"));
  options.norm.statistics = NormStatistics::frozen;
  EXPECT_FALSE(notes("ends the run after its first step"));
  facts.torch_batch_norm = "trunk.bn1";  // which the option does not reach
  EXPECT_TRUE(notes("ends the run after its first step if training changes them"));
  EXPECT_FALSE(notes("changes them: norm.statistics=frozen"));
}

}  // namespace
}  // namespace lockstep
