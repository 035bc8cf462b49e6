// The sample order: a permutation that looks shuffled, and rows that no split of a batch changes.
#include "planning/order/order.h"

#include "core/base/error.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <vector>

namespace lockstep {
namespace {

using Indices = std::vector<std::int64_t>;

Indices epoch_order(const SampleOrder& order, std::int64_t count, std::int64_t epoch) {
  Indices indices;
  for (std::int64_t position = 0; position < count; ++position)
    indices.push_back(order.at(epoch, position));
  return indices;
}

Indices ascending(std::int64_t count) {
  Indices indices(count);
  std::iota(indices.begin(), indices.end(), 0);
  return indices;
}

// How many standard deviations a chi-square statistic lies above its mean (Wilson and Hilferty).
double chi_square_deviation(double statistic, double freedom) {
  const double spread = 2 / (9 * freedom);
  return (std::cbrt(statistic / freedom) - (1 - spread)) / std::sqrt(spread);
}

TEST(SampleOrder, IsAPermutationForEveryCount) {
  Indices counts{63, 64, 65, 100, 255, 256, 257, 1000, 1023, 1024, 4096, 4097, 65537};
  for (std::int64_t count = 1; count <= 40; ++count) counts.push_back(count);
  for (const std::int64_t count : counts) {
    const SampleOrder order(42, count, true);
    for (const std::int64_t epoch : {0, 1, 7}) {
      Indices indices = epoch_order(order, count, epoch);
      std::sort(indices.begin(), indices.end());
      EXPECT_EQ(indices, ascending(count)) << count << " samples, epoch " << epoch;
    }
  }
}

TEST(SampleOrder, StaysInRangeForCountsNearTheLargest) {
  for (const int bits : {31, 32, 33, 40, 62}) {
    const std::int64_t count = (std::int64_t{1} << bits) + 1;
    const SampleOrder order(1, count, true);
    for (const std::int64_t position : {std::int64_t{0}, count / 2, count - 1}) {
      EXPECT_GE(order.at(3, position), 0);
      EXPECT_LT(order.at(3, position), count);
    }
  }
}

TEST(SampleOrder, DiffersByEpochAndBySeed) {
  const SampleOrder order(42, 1000, true), other(43, 1000, true);
  const Indices first = epoch_order(order, 1000, 0);
  EXPECT_NE(first, ascending(1000));
  EXPECT_NE(first, epoch_order(order, 1000, 1));
  EXPECT_NE(first, epoch_order(order, 1000, std::int64_t{1} << 32));
  EXPECT_NE(first, epoch_order(other, 1000, 0));
  EXPECT_EQ(first, epoch_order(SampleOrder(42, 1000, true), 1000, 0));
}

TEST(SampleOrder, KeepsTheOrderWithoutShuffle) {
  EXPECT_EQ(epoch_order(SampleOrder(42, 100, false), 100, 5), ascending(100));
}

TEST(SampleOrder, PutsEveryIndexOnEveryPositionEquallyOften) {
  constexpr int epochs = 400;
  for (std::int64_t count = 5; count <= 50; ++count) {
    const SampleOrder order(9, count, true);
    std::vector<std::vector<int>> seen(count, std::vector<int>(count));
    for (int epoch = 0; epoch < epochs; ++epoch)
      for (std::int64_t position = 0; position < count; ++position)
        ++seen[position][order.at(epoch, position)];
    const double expected = double{epochs} / static_cast<double>(count);
    for (std::int64_t position = 0; position < count; ++position) {
      double statistic = 0;
      for (const int times : seen[position])
        statistic += (times - expected) * (times - expected) / expected;
      EXPECT_LT(chi_square_deviation(statistic, static_cast<double>(count - 1)), 4.5)
          << "position " << position << " of " << count;
    }
  }
}

TEST(SampleOrder, DrawsEveryOrderOfAFewSamplesEquallyOften) {
  for (const auto& [count, orders] : {std::pair{2, 2}, {3, 6}, {4, 24}}) {
    const SampleOrder order(5, count, true);
    const int epochs = 100 * orders;
    std::map<Indices, int> seen;
    for (int epoch = 0; epoch < epochs; ++epoch) ++seen[epoch_order(order, count, epoch)];
    EXPECT_EQ(seen.size(), static_cast<std::size_t>(orders));
    for (const auto& [indices, times] : seen)
      EXPECT_NEAR(times, 100, 5 * std::sqrt(100)) << count << " samples";
  }
}

TEST(SampleOrder, KeepsFewNeighboursTogether) {
  const SampleOrder order(6, 1000, true);
  int together = 0;
  for (int epoch = 0; epoch < 20; ++epoch) {
    const Indices indices = epoch_order(order, 1000, epoch);
    for (std::size_t i = 1; i < indices.size(); ++i) together += indices[i] == indices[i - 1] + 1;
  }
  EXPECT_NEAR(together, 20, 5 * std::sqrt(20));  // one a permutation, as by chance
}

// Row of a step of shuffled samples, with seed 42.
Row row_at(std::int64_t count, std::int64_t global, std::int64_t step, std::int64_t global_row) {
  const EpochSteps steps{.size = count, .global = global};
  return steps.row_at(permuted_order(42, count, count, true), step, global_row);
}

// The rows of one epoch as the ranks of a split see them, put in the order of their global rows.
Indices rows_of_epoch(const BatchPlan& batch, std::int64_t count, std::int64_t epoch) {
  const std::int64_t steps = (count + batch.global - 1) / batch.global;
  Indices samples(steps * batch.global, -2);
  for (std::int64_t step = 0; step < steps; ++step)
    for (int rank = 0; rank < batch.world_size; ++rank)
      for (std::int64_t micro_index = 0; micro_index < batch.accumulation; ++micro_index)
        for (std::int64_t i = 0; i < batch.micro; ++i) {
          const std::int64_t global_row = first_global_row(batch, rank, micro_index) + i;
          const Row row = row_at(count, batch.global, epoch * steps + step, global_row);
          EXPECT_EQ(row.global_row, global_row);
          EXPECT_EQ(row.epoch, epoch);
          EXPECT_EQ(samples.at(step * batch.global + global_row), -2) << "a global_row taken twice";
          samples.at(step * batch.global + global_row) = row.sample;
        }
  return samples;
}

TEST(Rows, OfPaddingHoldTheEpochsFirstSamplesOverAndOver) {
  const SampleOrder order(42, 5, true);
  for (std::int64_t place = 0; place < 12; ++place) {
    const Row row = row_at(5, 12, 3, place);  // a step is an epoch
    EXPECT_EQ(place < 5 ? row.sample : row.filler, order.at(3, place % 5));
    EXPECT_EQ(place < 5 ? row.filler : row.sample, -1);
  }
}

TEST(Rows, AreTheSameForEverySplitOfTheGlobalBatch) {
  for (const std::int64_t global : {12, 24}) {
    for (const std::int64_t count : {1, 11, 12, 13, 24, 100, 145}) {
      const Indices whole = rows_of_epoch({1, global, 1, global}, count, 2);
      for (std::int64_t world_size = 1; world_size <= 4; ++world_size) {
        const std::int64_t share = global / world_size;
        for (std::int64_t micro = 1; micro <= share; ++micro) {
          if (share % micro != 0) continue;
          const BatchPlan batch{world_size, micro, share / micro, global};
          EXPECT_EQ(rows_of_epoch(batch, count, 2), whole)
              << world_size << " ranks, micro-batch " << micro << ", " << count << " samples";
        }
      }
    }
  }
}

TEST(Rows, HoldEverySampleOnceAndPadOnlyTheEndOfTheEpoch) {
  for (std::int64_t global = 1; global <= 17; ++global) {
    for (std::int64_t count = 1; count <= 40; ++count) {
      Indices rows = rows_of_epoch({1, global, 1, global}, count, 1);
      ASSERT_LT(static_cast<std::int64_t>(rows.size()) - count, global);
      EXPECT_TRUE(std::all_of(rows.begin() + count, rows.end(),
                              [](std::int64_t sample) { return sample == -1; }));
      rows.resize(count);
      EXPECT_EQ(rows, epoch_order(SampleOrder(42, count, true), count, 1));
      std::sort(rows.begin(), rows.end());
      EXPECT_EQ(rows, ascending(count));
    }
  }
}

TEST(Rows, StartTheNextEpochOnAStepOfItsOwn) {
  const SampleOrder order(42, 10, true);
  EXPECT_EQ(row_at(10, 4, 2, 1).epoch, 0);
  EXPECT_EQ(row_at(10, 4, 2, 1).sample, order.at(0, 9));
  EXPECT_EQ(row_at(10, 4, 2, 2).sample, -1);
  EXPECT_EQ(row_at(10, 4, 3, 0).epoch, 1);
  EXPECT_EQ(row_at(10, 4, 3, 0).sample, order.at(1, 0));
}

TEST(Rows, OfASampleStandTogetherAndKeepTheirParts) {
  const EpochSteps steps{.size = 10, .global = 4, .rows_per_sample = 3};
  const SampleAt order = permuted_order(42, 10, 10, true);
  for (std::int64_t step = 0; step < 3; ++step)
    for (std::int64_t global_row = 0; global_row < 20; ++global_row) {
      const Row row = steps.row_at(order, step, global_row);
      const std::int64_t place = step * 4 + global_row / 3;
      const bool real = global_row < 12 && place < 10;
      EXPECT_EQ(row.part, global_row % 3);
      EXPECT_EQ(row.sample, real ? order(0, place) : -1);
      EXPECT_EQ(row.filler < 0, real);
      EXPECT_LT(row.filler, 10);
    }
  EXPECT_EQ(steps.row_at(order, 3, 0).epoch, 1);
}

// Whatever ranks, micro-batch and accumulation: each row of a step once, the rest padding.
TEST(Rows, AreTheSameWhereTheyDoNotFillTheirPlaces) {
  for (const std::int64_t parts : {1, 2, 6, 7})
    for (const std::int64_t global : {1, 2, 5})
      for (std::int64_t ranks = 1; ranks <= 5; ++ranks)
        for (const std::int64_t limit : {1, 2, 3, 4, 100}) {
          if (parts == 1 && global % ranks != 0 && global > ranks) continue;
          const BatchPlan batch = solve_batch(ranks, global, 0, 0, 0, limit, "GPU", parts);
          const EpochSteps steps{.size = 9, .global = global, .rows_per_sample = parts};
          const SampleAt order = permuted_order(42, 9, 9, true);
          std::vector<int> seen(9 * parts, 0);
          for (std::int64_t step = 0; step < steps.steps(); ++step)
            for (int rank = 0; rank < ranks; ++rank)
              for (std::int64_t micro = 0; micro < batch.accumulation; ++micro)
                for (std::int64_t i = 0; i < batch.micro; ++i) {
                  const Row row =
                      steps.row_at(order, step, first_global_row(batch, rank, micro) + i);
                  if (row.sample >= 0) ++seen.at(row.sample * parts + row.part);
                }
          EXPECT_EQ(seen, std::vector<int>(9 * parts, 1))
              << global << " x " << parts << " rows on " << ranks << " up to " << limit;
        }
}

TEST(Rows, CountTheSamplesOfAStepWithoutPadding) {
  const EpochSteps steps{.size = 10, .global = 4};
  for (const std::int64_t epoch : {0, 3, 6}) {
    EXPECT_EQ(steps.samples(epoch), 4);
    EXPECT_EQ(steps.samples(epoch + 2), 2);
  }
  EXPECT_EQ((EpochSteps{.size = 10, .global = 4, .drop_last = true}.samples(3)), 4);
  EXPECT_EQ((EpochSteps{.size = 3, .global = 4}.samples(5)), 3);
}

TEST(Rows, LeaveOutAStepThatWouldBePadded) {
  EXPECT_EQ((EpochSteps{.size = 10, .global = 4, .drop_last = true}.steps()), 2);
  EXPECT_EQ((EpochSteps{.size = 8, .global = 4, .drop_last = true}.steps()), 2);
  EXPECT_EQ((EpochSteps{.size = 10, .global = 4}.steps()), 3);
  const EpochSteps steps{.size = 10, .global = 4, .drop_last = true};
  const SampleAt order = permuted_order(42, 10, 10, true);
  EXPECT_EQ(steps.row_at(order, 2, 0).epoch, 1);
  EXPECT_EQ(steps.row_at(order, 2, 0).sample, order(1, 0));
}

TEST(Rows, OfPaddingHoldSamplesOfTheirOwnStepWhereAsked) {
  const EpochSteps steps{.size = 6, .global = 4, .fill_from_own_step = true};
  const SampleAt order = permuted_order(42, 6, 6, true);
  EXPECT_EQ(steps.row_at(order, 1, 1).sample, order(0, 5));
  EXPECT_EQ(steps.row_at(order, 1, 2).filler, order(0, 4));
  EXPECT_EQ(steps.row_at(order, 1, 3).filler, order(0, 5));
}

TEST(PermutedOrder, OfFewerPlacesTakesOtherSamplesEachEpoch) {
  const SampleAt order = permuted_order(1, 100, 10, true);
  Indices first, second;
  for (std::int64_t place = 0; place < 10; ++place) {
    first.push_back(order(0, place));
    second.push_back(order(1, place));
  }
  EXPECT_NE(first, second);
  std::sort(first.begin(), first.end());
  EXPECT_EQ(std::unique(first.begin(), first.end()), first.end());
}

TEST(PermutedOrder, OfMorePlacesTakesEachSampleEquallyOften) {
  const SampleAt order = permuted_order(1, 10, 25, true);
  std::vector<int> seen(10, 0);
  for (std::int64_t place = 0; place < 20; ++place) ++seen.at(order(2, place));
  EXPECT_EQ(seen, std::vector<int>(10, 2));
  const auto round = [&](std::int64_t begin) {
    Indices samples;
    for (std::int64_t place = begin; place < begin + 10; ++place)
      samples.push_back(order(2, place));
    return samples;
  };
  EXPECT_NE(round(0), round(10));
}

TEST(PermutedOrder, WithoutShuffleGoesOnWhereTheLastEpochEnded) {
  const SampleAt order = permuted_order(1, 10, 4, false);
  Indices samples;
  for (std::int64_t epoch = 0; epoch < 3; ++epoch)
    for (std::int64_t place = 0; place < 4; ++place) samples.push_back(order(epoch, place));
  EXPECT_EQ(samples, (Indices{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1}));
}

TEST(WeightedDraw, DrawsEachSampleAsOftenAsItsWeightSays) {
  const std::vector<double> weights{1, 0, 5, 2.5, 0.5, 1e-9, 3};
  const double sum = 12 + 1e-9;
  const WeightedDraw draw(3, weights);
  constexpr int draws = 200000;
  std::vector<int> seen(weights.size(), 0);
  for (std::int64_t place = 0; place < draws; ++place) ++seen.at(draw.at(place % 4, place));
  EXPECT_EQ(seen[1], 0);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double expected = draws * weights[i] / sum;
    EXPECT_NEAR(seen[i], expected, 5 * std::sqrt(expected) + 1) << i;
  }
}

TEST(WeightedDraw, DependsOnSeedEpochAndPlaceOnly) {
  const std::vector<double> weights(50, 1);
  const WeightedDraw draw(3, weights), again(3, weights), other(4, weights);
  const auto of = [](const WeightedDraw& d, std::int64_t epoch) {
    Indices samples;
    for (std::int64_t place = 0; place < 30; ++place) samples.push_back(d.at(epoch, place));
    return samples;
  };
  EXPECT_EQ(of(draw, 2), of(again, 2));
  EXPECT_NE(of(draw, 2), of(draw, 3));
  EXPECT_NE(of(draw, 2), of(other, 2));
}

TEST(WeightedDraw, NeverDrawsASampleOfWeightZeroAndTakesAnySum) {
  for (const double scale : {1e-300, 0.1, 1.0, 1e300}) {
    std::vector<double> weights(97, 0);
    for (std::size_t i = 0; i < weights.size(); i += 3) weights[i] = scale * (1 + 0.1 * i);
    const WeightedDraw draw(1, weights);
    for (std::int64_t place = 0; place < 20000; ++place) EXPECT_EQ(draw.at(0, place) % 3, 0);
  }
}

TEST(WeightedDraw, RefusesWeightsThatCannotBe) {
  const auto message = [](const std::vector<double>& weights) -> std::string {
    try {
      WeightedDraw(1, weights);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message({1, -0.5}), "the weight of sample 1 must be 0 or more, but is -0.5");
  EXPECT_EQ(message({1, 2, std::nan("")}), "the weight of sample 2 must be 0 or more, but is nan");
  EXPECT_EQ(message({0, 0}), "the weights of all samples are 0, so none can be drawn");
}

}  // namespace
}  // namespace lockstep
