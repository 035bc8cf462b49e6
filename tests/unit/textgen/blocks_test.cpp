#include "recipes/textgen/options/blocks.h"

#include <set>

#include "recipes/textgen/options/synthetic.h"
#include "tests/unit/textgen/text_test.h"

namespace lockstep::textgen {
namespace {

TEST(Blocks, AskForEveryTokenButTheFirstExactlyOnceWhateverTheShift) {
  for (std::int64_t tokens = 2; tokens < 40; ++tokens)
    for (std::int64_t context = 1; context < 12; ++context)
      for (std::int64_t shift = 0; shift < context; ++shift) {
        std::vector<int> asked(static_cast<std::size_t>(tokens));
        for (std::int64_t i = 0; i < sample_count(tokens, context); ++i) {
          const Block block = block_at(tokens, context, shift, i);
          for (const auto& run : {block.first, block.second})
            for (std::int64_t p = run.begin; p < run.begin + run.count; ++p)
              ++asked.at(static_cast<std::size_t>(p + 1));
        }
        std::vector<int> expected(static_cast<std::size_t>(tokens), 1);
        expected[0] = 0;
        ASSERT_EQ(asked, expected) << tokens << " " << context << " " << shift;
      }
}

TEST(Blocks, HaveWeightsThatDoNotDependOnTheShift) {
  for (std::int64_t tokens : {2, 3, 17, 64, 65, 66, 1000})
    for (std::int64_t i = 0; i < sample_count(tokens, 16); ++i)
      for (std::int64_t shift = 0; shift < 16; ++shift) {
        const std::int64_t targets = block_at(tokens, 16, shift, i).targets();
        ASSERT_EQ(targets, block_at(tokens, 16, 0, i).targets());
        ASSERT_GT(targets, 0);
      }
}

TEST(Blocks, OfAnUnshiftedGridAreNeighbours) {
  const Block block = block_at(100, 16, 0, 3);
  EXPECT_EQ(block.first.begin, 48);
  EXPECT_EQ(block.first.count, 16);
  EXPECT_EQ(block_at(100, 16, 0, 6).targets(), 3);  // 99 = 6 * 16 + 3
  EXPECT_EQ(sample_count(1, 16), 0);
  EXPECT_EQ(sample_count(17, 16), 1);
  EXPECT_EQ(sample_count(18, 16), 2);
}

TEST(EpochShift, IsAPureFunctionWithinTheContext) {
  std::set<std::int64_t> seen;
  for (std::int64_t epoch = 0; epoch < 200; ++epoch) {
    const std::int64_t shift = epoch_shift(7, epoch, 16, true);
    EXPECT_EQ(shift, epoch_shift(7, epoch, 16, true));
    EXPECT_EQ(epoch_shift(7, epoch, 16, false), 0);
    seen.insert(shift);
  }
  EXPECT_EQ(seen.size(), 16u);
  EXPECT_EQ(*seen.begin(), 0);
  EXPECT_EQ(*seen.rbegin(), 15);
}

TEST(Blocks, RunOverTheEndAtMostOnceAnEpoch) {
  for (std::int64_t shift = 0; shift < 16; ++shift) {
    int over = 0;
    for (std::int64_t i = 0; i < sample_count(100, 16); ++i)
      over += block_at(100, 16, shift, i).second.count > 0;
    EXPECT_EQ(over, shift == 0 || shift == 3 ? 0 : 1) << shift;  // 99 = 6 * 16 + 3 pairs
  }
  const Block block = block_at(10, 4, 3, 1);  // pairs 7, 8, then 0, 1 of 9
  EXPECT_EQ(block.first.begin, 7);
  EXPECT_EQ(block.first.count, 2);
  EXPECT_EQ(block.second.begin, 0);
  EXPECT_EQ(block.second.count, 2);
}

TEST(SyntheticTokens, AreSpreadEvenlyAndDependOnSeedAndPosition) {
  std::vector<int> counts(50);
  for (std::int64_t i = 0; i < 50000; ++i) {
    const std::int64_t token = synthetic_token(3, i, 50);
    EXPECT_EQ(token, synthetic_token(3, i, 50));
    ++counts.at(static_cast<std::size_t>(token));
  }
  for (const int count : counts) EXPECT_NEAR(count, 1000, 200);
  int equal = 0;
  for (std::int64_t i = 0; i < 5000; ++i)
    equal += synthetic_token(3, i, 50) == synthetic_token(4, i, 50);
  EXPECT_NEAR(equal, 100, 60);
}

}  // namespace
}  // namespace lockstep::textgen
