#include "recipes/gbdt/metrics/metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace lockstep::gbdt {
namespace {

BinaryMetrics of(const std::vector<double>& probabilities,
                 const std::vector<std::uint8_t>& labels) {
  return binary_metrics(probabilities, labels);
}

TEST(Metrics, OfAFewRowsAreKnown) {
  const BinaryMetrics m = of({0.9, 0.8, 0.6, 0.4, 0.2, 0.1}, {1, 0, 1, 1, 0, 0});
  EXPECT_EQ(m.counts.true_positive, 2);
  EXPECT_EQ(m.counts.false_positive, 1);
  EXPECT_EQ(m.counts.true_negative, 2);
  EXPECT_EQ(m.counts.false_negative, 1);
  EXPECT_DOUBLE_EQ(m.accuracy.estimate, 4.0 / 6);
  EXPECT_DOUBLE_EQ(m.precision.estimate, 2.0 / 3);
  EXPECT_DOUBLE_EQ(m.recall.estimate, 2.0 / 3);
  EXPECT_DOUBLE_EQ(m.f1.estimate, 2.0 / 3);
  EXPECT_DOUBLE_EQ(m.base_rate.estimate, 0.5);
  EXPECT_DOUBLE_EQ(m.auc.estimate, 7.0 / 9);  // of nine pairs two are the wrong way round
  const double loss = -(std::log(0.9) + std::log(0.2) + std::log(0.6) + std::log(0.4) +
                        std::log(0.8) + std::log(0.9)) /
                      6;
  EXPECT_DOUBLE_EQ(m.log_loss.estimate, loss);
}

TEST(Metrics, CountTiesOfTheAucAsHalf) {
  EXPECT_DOUBLE_EQ(of({0.5, 0.5}, {1, 0}).auc.estimate, 0.5);
  EXPECT_DOUBLE_EQ(of({0.5, 0.5, 0.1, 0.9}, {1, 0, 0, 1}).auc.estimate, 3.5 / 4);
}

// Newcombe, Statistics in Medicine 1998, table I: 81 of 263 and 0 of 20.
TEST(Metrics, HaveWilsonsIntervals) {
  std::vector<double> probabilities(263, 0.9);
  std::vector<std::uint8_t> labels(263, 0);
  std::fill_n(labels.begin(), 81, 1);
  const Interval rate = of(probabilities, labels).base_rate;
  EXPECT_NEAR(rate.low, 0.2553, 5e-5);
  EXPECT_NEAR(rate.high, 0.3662, 5e-5);
  const Interval none =
      of(std::vector<double>(20, 0.9), std::vector<std::uint8_t>(20, 0)).base_rate;
  EXPECT_NEAR(none.low, 0, 1e-12);
  EXPECT_NEAR(none.high, 0.1611, 5e-5);
}

TEST(Metrics, OfOneClassHaveNoAucAndOfNoRowsNothing) {
  EXPECT_TRUE(std::isnan(of({0.2, 0.9}, {1, 1}).auc.estimate));
  EXPECT_TRUE(std::isnan(of({0.2, 0.4}, {1, 0}).precision.estimate));
  const BinaryMetrics none = of({}, {});
  EXPECT_TRUE(std::isnan(none.accuracy.estimate));
  EXPECT_TRUE(std::isnan(none.log_loss.estimate));
  const nlohmann::json json = to_json(none);
  EXPECT_EQ(json.at("rows"), 0);
  EXPECT_TRUE(json.at("accuracy").is_null());
  EXPECT_TRUE(json.at("accuracy_interval").at(0).is_null());
}

// How far the estimates of a hundred samples of one population spread is what their intervals say.
TEST(Metrics, HaveIntervalsThatHoldTheTruth) {
  std::uint64_t state = 9;
  const auto uniform = [&] {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<double>(state >> 11) * 0x1p-53;
  };
  int auc = 0, f1 = 0, loss = 0;
  constexpr int samples = 200;
  // p is uniform and true, so that AUC = 5/6, F1 above 0.5 = 3/4, and log-loss = 1/2.
  for (int sample = 0; sample < samples; ++sample) {
    std::vector<double> probabilities;
    std::vector<std::uint8_t> labels;
    for (int i = 0; i < 150; ++i) {
      probabilities.push_back(uniform());
      labels.push_back(uniform() < probabilities.back());
    }
    const BinaryMetrics m = of(probabilities, labels);
    auc += m.auc.low < 5.0 / 6 && 5.0 / 6 < m.auc.high;
    f1 += m.f1.low < 0.75 && 0.75 < m.f1.high;
    loss += m.log_loss.low < 0.5 && 0.5 < m.log_loss.high;
  }
  for (const int held : {auc, f1, loss}) {
    EXPECT_GE(held, samples * 88 / 100);
    EXPECT_LE(held, samples);
  }
}

TEST(OverWindows, AddUpCountsAndTakeMeansOverRows) {
  const BinaryMetrics a = of({0.9, 0.1}, {1, 0}), b = of({0.9, 0.8, 0.3, 0.2}, {0, 1, 0, 1});
  const BinaryMetrics one = of({0.9}, {1});  // without an AUC
  const std::vector<BinaryMetrics> windows = {a, b, one};
  const BinaryMetrics all = over_windows(windows);
  EXPECT_EQ(all.counts.rows(), 7);
  EXPECT_DOUBLE_EQ(all.accuracy.estimate, 5.0 / 7);
  EXPECT_DOUBLE_EQ(all.auc.estimate, (2 * 1.0 + 4 * b.auc.estimate) / 6);
  EXPECT_LE(all.accuracy.low, all.accuracy.estimate);
  EXPECT_GE(all.accuracy.high, all.accuracy.estimate);
  EXPECT_DOUBLE_EQ(all.accuracy.low, 0.5);  // only the worst window
  EXPECT_TRUE(std::isnan(over_windows({}).auc.estimate));
}

}  // namespace
}  // namespace lockstep::gbdt
