#include "core/media/bootstrap.h"

#include <gmock/gmock.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <vector>

#include "core/base/philox.h"
#include "fakes/error_of.h"

namespace lockstep {
namespace {

std::vector<double> normals(int count, std::uint64_t seed) {
  Random random(seed, RandomStream::order, 1, 2);
  std::vector<double> values;
  for (int i = 0; i < count; ++i) values.push_back(random.normal());
  return values;
}

TEST(Bootstrap, IsTheSameForTheSameSeed) {
  const std::vector<double> values = normals(50, 1);
  EXPECT_EQ(bootstrap_mean(values, {.seed = 3}), bootstrap_mean(values, {.seed = 3}));
  EXPECT_NE(bootstrap_mean(values, {.seed = 3}).low, bootstrap_mean(values, {.seed = 4}).low);
}

TEST(Bootstrap, OfAMeanIsNearTheNormalInterval) {
  const std::vector<double> values = normals(400, 2);
  double sum = 0, squares = 0;
  for (const double value : values) sum += value;
  const double mean = sum / 400;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double error = std::sqrt(squares / 399 / 400);
  for (const BootstrapMethod method : {BootstrapMethod::percentile, BootstrapMethod::bca}) {
    const Interval interval = bootstrap_mean(values, {.resamples = 10000, .method = method});
    EXPECT_DOUBLE_EQ(interval.estimate, mean);
    EXPECT_NEAR(interval.low, mean - 1.96 * error, 0.1 * error);
    EXPECT_NEAR(interval.high, mean + 1.96 * error, 0.1 * error);
  }
}

TEST(Bootstrap, HoldsTheTruthAsOftenAsItPromises) {
  int holds = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Interval interval =
        bootstrap_mean(normals(60, seed), {.resamples = 400, .confidence = 0.8});
    if (interval.low <= 0 && interval.high >= 0) ++holds;
  }
  EXPECT_NEAR(holds / 300.0, 0.8, 0.07);
}

// Exponential numbers are skewed: BCa's interval reaches further to the long side.
TEST(Bootstrap, BcaCorrectsForSkewness) {
  std::vector<double> values;
  Random random(5, RandomStream::order, 0, 0);
  for (int i = 0; i < 40; ++i) values.push_back(-std::log(1 - random.uniform()));
  const Interval plain =
      bootstrap_mean(values, {.resamples = 20000, .method = BootstrapMethod::percentile});
  const Interval bca = bootstrap_mean(values, {.resamples = 20000});
  EXPECT_GT(bca.low, plain.low + 0.005);
  EXPECT_GT(bca.high, plain.high + 0.005);
}

TEST(Bootstrap, OneRowOrEqualRowsHaveNoSpread) {
  const std::vector<double> one{2.5}, equal(20, 2.5);
  EXPECT_EQ(bootstrap_mean(one), (Interval{2.5, 2.5, 2.5}));
  EXPECT_EQ(bootstrap_mean(equal), (Interval{2.5, 2.5, 2.5}));
}

TEST(Bootstrap, ResamplesWithoutAStatisticAreLeftOut) {
  // A rate that is nothing unless row 0 is drawn.
  const Interval some = bootstrap(10, [](std::span<const std::uint32_t> rows) {
    int zeros = 0;
    for (const std::uint32_t row : rows) zeros += row == 0 ? 1 : 0;
    return zeros == 0 ? NAN : 1.0 / zeros;
  });
  EXPECT_EQ(some.high, 1);
  const Interval none = bootstrap(1000, [](std::span<const std::uint32_t> rows) {
    return rows.size() == 1000 && rows[0] == 0 && rows[1] == 1 ? 1.0 : NAN;
  });
  EXPECT_EQ(none.estimate, 1);
  EXPECT_TRUE(std::isnan(none.low) && std::isnan(none.high));
}

TEST(Bootstrap, OfSeveralStatisticsEachIsAsAlone) {
  const auto share = [](std::uint32_t below) {
    return [below](std::span<const std::uint32_t> rows) {
      double count = 0;
      for (const std::uint32_t row : rows) count += row < below ? 1 : 0;
      return count / static_cast<double>(rows.size());
    };
  };
  const auto unknown = [](std::span<const std::uint32_t>) {
    return std::numeric_limits<double>::quiet_NaN();
  };
  const std::vector<Statistic> statistics = {share(10), unknown, share(35)};
  for (const BootstrapMethod method : {BootstrapMethod::percentile, BootstrapMethod::bca}) {
    const BootstrapOptions options{.resamples = 500, .method = method, .seed = 7};
    const std::vector<Interval> all = bootstrap_all(50, statistics, options);
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(all[0], bootstrap(50, statistics[0], options));
    EXPECT_EQ(all[2], bootstrap(50, statistics[2], options));
    EXPECT_LT(all[0].low, 0.2);
    EXPECT_GT(all[2].low, 0.5);
    EXPECT_TRUE(std::isnan(all[1].estimate) && std::isnan(all[1].low));
  }
  EXPECT_TRUE(bootstrap_all(50, {}, {}).empty());
}

TEST(Bootstrap, OfAMeanIsThatOfTheStatistic) {
  const std::vector<double> values{1, 4, 2, 8, 5, 7, 1, 9, 3};
  const Interval found = bootstrap_mean(values);
  const Interval by_calls = bootstrap(static_cast<std::uint32_t>(values.size()),
                                      [&](std::span<const std::uint32_t> rows) {
                                        double sum = 0;
                                        for (const std::uint32_t row : rows) sum += values[row];
                                        return sum / static_cast<double>(rows.size());
                                      });
  EXPECT_NEAR(found.low, by_calls.low, 1e-9);
  EXPECT_NEAR(found.high, by_calls.high, 1e-9);
}

TEST(Bootstrap, OfTheMeanOfManyTakesNoTimeSquared) {
  std::vector<double> values(100'000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i % 97);
  const auto begin = std::chrono::steady_clock::now();
  bootstrap_mean(values, {.resamples = 100});
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10))
      << "leaving out each value by itself takes a minute";
}

TEST(Bootstrap, RefusesWhatIsNoInterval) {
  const std::vector<double> two{1, 2};
  EXPECT_THAT(error_of([] { bootstrap_mean({}); }), ::testing::HasSubstr("at least one row"));
  EXPECT_THAT(error_of([&] { bootstrap_mean(two, {.resamples = 99}); }),
              ::testing::HasSubstr("100 to 10000000 resamples, but got 99"));
  EXPECT_THAT(error_of([&] { bootstrap_mean(two, {.confidence = 1}); }),
              ::testing::HasSubstr("between 0 and 1, but is 1"));
}

}  // namespace
}  // namespace lockstep
