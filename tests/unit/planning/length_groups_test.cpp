// Samples of like length in one step: each sample once, steps in any order, the last one fair.
#include "planning/order/length_groups.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <thread>
#include <vector>

namespace lockstep {
namespace {

using Samples = std::vector<std::int64_t>;

std::int64_t length_of(std::int64_t sample) { return (sample * 7919) % 1000; }

struct Case {
  std::int64_t count, global;
  bool drop_last = false, shuffle = true;
  std::uint64_t seed = 5;
};

SampleAt grouped(const Case& c) {
  const EpochSteps steps{.size = c.count, .global = c.global, .drop_last = c.drop_last};
  return group_by_length(permuted_order(c.seed, c.count, c.count, c.shuffle), steps, c.seed,
                         c.shuffle, length_of);
}

Samples epoch_of(const SampleAt& order, std::int64_t count, std::int64_t epoch) {
  Samples samples;
  for (std::int64_t place = 0; place < count; ++place) samples.push_back(order(epoch, place));
  return samples;
}

// The difference between the longest and the shortest sample of each step.
double mean_spread(const Samples& samples, std::int64_t global) {
  double sum = 0;
  int steps = 0;
  for (std::size_t begin = 0; begin + global <= samples.size(); begin += global, ++steps) {
    std::int64_t least = 1 << 20, most = 0;
    for (std::size_t i = begin; i < begin + global; ++i) {
      least = std::min(least, length_of(samples[i]));
      most = std::max(most, length_of(samples[i]));
    }
    sum += static_cast<double>(most - least);
  }
  return sum / steps;
}

TEST(LengthGroups, HoldEverySampleOnce) {
  for (const std::int64_t global : {1, 3, 8, 64})
    for (const std::int64_t count :
         std::initializer_list<std::int64_t>{1, 2, 7, 8, 9, 63, 64, 65, 500, 150 * global + 1})
      for (const std::int64_t epoch : {0, 3}) {
        Samples samples = epoch_of(grouped({.count = count, .global = global}), count, epoch);
        std::sort(samples.begin(), samples.end());
        Samples all(count);
        std::iota(all.begin(), all.end(), 0);
        EXPECT_EQ(samples, all) << count << " in steps of " << global;
      }
}

TEST(LengthGroups, PutLikeLengthsIntoOneStepAndShuffleTheSteps) {
  const std::int64_t count = 4000, global = 8;
  const Samples samples = epoch_of(grouped({.count = count, .global = global}), count, 0);
  const Samples plain = epoch_of(permuted_order(5, count, count, true), count, 0);
  EXPECT_LT(mean_spread(samples, global), 30);
  EXPECT_GT(mean_spread(plain, global), 600);
  // The lengths of neighbouring steps have nothing to do with each other.
  int rises = 0, steps = 0;
  for (std::size_t i = global; i < samples.size(); i += global, ++steps)
    rises += length_of(samples[i]) > length_of(samples[i - global]);
  EXPECT_NEAR(rises, steps / 2.0, 5 * std::sqrt(steps / 12.0));
}

TEST(LengthGroups, DifferByEpochAndSeedAndAreTheSameForAnyReader) {
  const Case c{.count = 900, .global = 4};
  const SampleAt order = grouped(c), again = grouped(c);
  const Samples first = epoch_of(order, c.count, 0), second = epoch_of(order, c.count, 1);
  EXPECT_NE(first, second);
  EXPECT_NE(first, epoch_of(grouped({.count = 900, .global = 4, .seed = 6}), c.count, 0));
  // Backwards, and with epochs in turn, as a run that goes on or ranks that are apart read it.
  for (std::int64_t place = c.count - 1; place >= 0; --place) {
    EXPECT_EQ(again(1, place), second[place]);
    EXPECT_EQ(again(0, place), first[place]);
  }
}

TEST(LengthGroups, AreTheSameFromManyThreads) {
  const Case c{.count = 5000, .global = 4};
  const Samples expected = epoch_of(grouped(c), c.count, 2);
  const SampleAt order = grouped(c);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      for (std::int64_t place = thread; place < c.count; place += 4)
        wrong += order(2, place) != expected[place];
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

// Where data.drop_last leaves the last step out, none may be left out for its length.
TEST(LengthGroups, LeaveSamplesOfAllLengthsToAStepThatIsNotFull) {
  const std::int64_t count = 83, global = 8;
  const SampleAt order = grouped({.count = count, .global = global, .drop_last = true});
  double sum = 0;
  constexpr int epochs = 400;
  for (std::int64_t epoch = 0; epoch < epochs; ++epoch)
    for (std::int64_t place = 80; place < count; ++place)
      sum += static_cast<double>(length_of(order(epoch, place)));
  double mean = 0;
  for (std::int64_t sample = 0; sample < count; ++sample)
    mean += static_cast<double>(length_of(sample)) / count;
  EXPECT_NEAR(sum / epochs / 3, mean, 60);
}

TEST(LengthGroups, StandByLengthWithoutShuffle) {
  const Samples samples = epoch_of(grouped({.count = 100, .global = 10, .shuffle = false}), 100, 0);
  EXPECT_TRUE(std::is_sorted(samples.begin(), samples.end(),
                             [](auto a, auto b) { return length_of(a) < length_of(b); }));
}

}  // namespace
}  // namespace lockstep
