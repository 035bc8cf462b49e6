// The generator against its published vectors, and the distributions drawn from it.
#include "core/base/philox.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

namespace lockstep {
namespace {

using Block = std::array<std::uint32_t, 4>;

// Random123's known-answer vectors (kat_vectors, philox4x32 10).
TEST(Philox, GivesTheKnownAnswersOfRandom123) {
  EXPECT_EQ(philox({0, 0, 0, 0}, 0), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, 0xffffffffffffffff),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0x299f31d0a4093822),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, RepeatsForTheSameArguments) {
  Random first(7, RandomStream::augment, 3, 4), second(7, RandomStream::augment, 3, 4);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(first.next_u32(), second.next_u32());
}

TEST(Random, DrawsDifferentNumbersForEveryArgument) {
  const std::uint64_t high = std::uint64_t{1} << 32;
  std::set<std::uint64_t> draws;
  int streams = 0;
  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{1}, high})
    for (const RandomStream stream :
         {RandomStream::order, RandomStream::augment, RandomStream::dropout, RandomStream::init,
          RandomStream::sample, RandomStream::shift})
      for (const std::uint64_t a : {std::uint64_t{0}, std::uint64_t{1}, high})
        for (const std::uint64_t b : {std::uint64_t{0}, std::uint64_t{1}, high}) {
          Random random(seed, stream, a, b);
          for (int i = 0; i < 10; ++i) draws.insert(random.next_u64());
          ++streams;
        }
  EXPECT_EQ(draws.size(), static_cast<std::size_t>(streams) * 10);
}

TEST(Random, UniformFillsTheUnitIntervalEvenly) {
  Random random(1, RandomStream::sample, 0, 0);
  constexpr int draws = 100000, bins = 20;
  std::vector<int> counts(bins);
  for (int i = 0; i < draws; ++i) {
    const double value = random.uniform();
    ASSERT_GE(value, 0);
    ASSERT_LT(value, 1);
    ++counts[static_cast<int>(value * bins)];
  }
  const double expected = double{draws} / bins;
  for (const int count : counts) EXPECT_NEAR(count, expected, 5 * std::sqrt(expected));
}

TEST(Random, BelowReachesEveryValueEquallyOften) {
  for (const std::uint64_t limit : {1u, 2u, 3u, 7u, 10u, 100u}) {
    Random random(2, RandomStream::sample, limit, 0);
    std::vector<int> counts(limit);
    for (std::uint64_t i = 0; i < 1000 * limit; ++i) ++counts.at(random.below(limit));
    for (const int count : counts) EXPECT_NEAR(count, 1000, 5 * std::sqrt(1000)) << limit;
  }
}

TEST(Random, BelowIsUnbiasedForLimitsNearTheWholeRange) {
  // With a plain remainder of 64 bits, values under 2^62 would come twice as often.
  const std::uint64_t limit = 3 * (std::uint64_t{1} << 62);
  Random random(3, RandomStream::sample, 0, 0);
  int small = 0;
  constexpr int draws = 30000;
  for (int i = 0; i < draws; ++i) {
    const std::uint64_t value = random.below(limit);
    ASSERT_LT(value, limit);
    small += value < limit / 3;
  }
  EXPECT_NEAR(small, draws / 3, 5 * std::sqrt(draws * 2 / 9.0));
}

TEST(Random, NormalHasTheMomentsOfTheStandardNormal) {
  Random random(4, RandomStream::init, 0, 0);
  constexpr int draws = 200000;
  double sum = 0, squares = 0, cubes = 0, fourths = 0;
  for (int i = 0; i < draws; ++i) {
    const double value = random.normal();
    ASSERT_TRUE(std::isfinite(value));
    sum += value;
    squares += value * value;
    cubes += value * value * value;
    fourths += value * value * value * value;
  }
  const double error = 1 / std::sqrt(draws);
  EXPECT_NEAR(sum / draws, 0, 5 * error);
  EXPECT_NEAR(squares / draws, 1, 5 * std::sqrt(2) * error);
  EXPECT_NEAR(cubes / draws, 0, 5 * std::sqrt(15) * error);
  EXPECT_NEAR(fourths / draws, 3, 5 * std::sqrt(96) * error);
}

}  // namespace
}  // namespace lockstep
