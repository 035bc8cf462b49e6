#include "ops/philox/philox_inline.h"

#include "core/base/philox.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace lockstep {
namespace {

// Known answers from kat_vectors of the authors' Random123 library.
TEST(PhiloxInline, GivesThePublishedNumbers) {
  struct Known {
    PhiloxWords counter;
    std::uint64_t key;
    PhiloxWords words;
  };
  const Known cases[] = {{{{0, 0, 0, 0}}, 0, {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}}},
                         {{{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}},
                          0xffffffffffffffff,
                          {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}}},
                         {{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}},
                          0x299f31d0a4093822,
                          {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}}};
  for (const Known& known : cases)
    for (int w = 0; w < 4; ++w)
      EXPECT_EQ(philox_words(known.counter, known.key).word[w], known.words.word[w]);
}

TEST(PhiloxInline, EqualsThePlansPhiloxForManyCountersAndKeys) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 10000; ++i) {
    std::array<std::uint32_t, 4> counter;
    for (std::uint32_t& word : counter) word = static_cast<std::uint32_t>(random());
    const std::uint64_t key = random();
    const PhiloxWords words = philox_words({{counter[0], counter[1], counter[2], counter[3]}}, key);
    const auto expected = philox(counter, key);
    for (int w = 0; w < 4; ++w) ASSERT_EQ(words.word[w], expected[w]);
  }
}

TEST(PhiloxInline, DropoutWordsUseTheLow32BitsAndAnOddKey) {
  const std::int64_t quad = 7, place = (std::int64_t{1} << 32) + 5, step = 1000, layer = 3;
  const PhiloxWords words = dropout_words(quad, place, step, layer, 42);
  const auto expected = philox({7, 5, 1000, 3}, 85);
  for (int w = 0; w < 4; ++w) EXPECT_EQ(words.word[w], expected[w]);
}

TEST(DropoutRule, KeepsExactlyTheWordsThatAreAtLeastPTimes2To32) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 10000; ++i) {
    const double p = std::ldexp(static_cast<double>(random() >> 11), -53);
    const DropoutRule rule = dropout_rule(p);
    if (rule.drop_all) {
      EXPECT_GT(std::ceil(p * 4294967296.0), 4294967295.0);
      continue;
    }
    EXPECT_GE(rule.threshold, p * 4294967296.0);
    EXPECT_LT(rule.threshold - 1.0, p * 4294967296.0);
    EXPECT_DOUBLE_EQ(rule.scale, 1 / (1 - p));
  }
}

TEST(DropoutRule, DropsNothingAt0AndEverythingAt1) {
  EXPECT_EQ(dropout_rule(0).threshold, 0u);
  EXPECT_FALSE(dropout_rule(0).drop_all);
  EXPECT_EQ(dropout_rule(0).scale, 1);
  EXPECT_TRUE(dropout_rule(1).drop_all);
  EXPECT_EQ(dropout_rule(1).scale, 0);
}

}  // namespace
}  // namespace lockstep
