#include "recipes/gbdt/features/features.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "checkout_paths.h"
#include "media/csv_table.h"

namespace lockstep::gbdt {
namespace {

Bars of_closes(const std::vector<double>& closes) {
  Bars bars{.symbol = "A"};
  for (const double close : closes) {
    bars.days.push_back(static_cast<Day>(bars.days.size()));
    bars.stamps.push_back(to_text(bars.days.back()));
    bars.open.push_back(close);
    bars.high.push_back(close + 1);
    bars.low.push_back(close - 1);
    bars.close.push_back(close);
    bars.volume.push_back(10);
  }
  return bars;
}

double feature(const FeatureTable& table, std::size_t row, const std::string& name) {
  for (std::size_t i = 0; i < feature_count; ++i)
    if (name == feature_names[i]) return table.row(row)[i];
  throw std::out_of_range(name);
}

// Plateaus, a jump and a first bar without volume; made by bench/peers/gbdt_features.py --golden.
TEST(Features, AreThoseOfPandas) {
  const std::filesystem::path golden = LOCKSTEP_SOURCE_DIR "/tests/unit/gbdt";
  const FeatureTable ours = compute_features(read_bars(golden / "golden_bars.csv", "A"));
  const CsvTable theirs = read_csv(golden / "golden_features.csv");
  ASSERT_EQ(ours.rows(), theirs.rows.size());
  int numbers = 0;
  for (std::size_t f = 0; f < feature_count; ++f) {
    ASSERT_EQ(theirs.columns[f], feature_names[f]);
    for (std::size_t row = 0; row < ours.rows(); ++row) {
      const double is = ours.row(row)[f], expected = *theirs.number(row, f);
      ASSERT_EQ(std::isnan(is), std::isnan(expected)) << feature_names[f] << " of row " << row;
      if (std::isnan(is)) continue;
      ++numbers;
      EXPECT_LE(std::abs(is - expected), 1e-9 * std::abs(expected))
          << feature_names[f] << " of row " << row << ": " << is << " not " << expected;
    }
  }
  EXPECT_GT(numbers, 1500);
}

TEST(Features, OfASeriesThatRisesByOneAreKnown) {
  std::vector<double> closes;
  for (int t = 0; t < 60; ++t) closes.push_back(100 + t);
  const FeatureTable table = compute_features(of_closes(closes));
  EXPECT_DOUBLE_EQ(feature(table, 59, "sma_20"), 149.5);
  EXPECT_DOUBLE_EQ(feature(table, 59, "sma_50"), 134.5);
  EXPECT_DOUBLE_EQ(feature(table, 59, "rsi_14"), 100);
  EXPECT_DOUBLE_EQ(feature(table, 59, "atr_14"), 2);
  EXPECT_DOUBLE_EQ(feature(table, 59, "adx_14"), 100);
  EXPECT_DOUBLE_EQ(feature(table, 59, "obv"), 590);
  EXPECT_NEAR(feature(table, 59, "bb_upper") - feature(table, 59, "bb_middle"), 2 * std::sqrt(35.0),
              1e-12);
  EXPECT_DOUBLE_EQ(feature(table, 59, "vwap"), 129.5);
}

TEST(Features, AreCompleteFromTheFiftiethBarOn) {
  std::vector<double> closes;
  for (int t = 0; t < 55; ++t) closes.push_back(100 + t % 7);
  const FeatureTable table = compute_features(of_closes(closes));
  EXPECT_FALSE(table.complete(48));
  EXPECT_TRUE(table.complete(49));
  EXPECT_TRUE(table.complete(54));
}

TEST(Features, OfVeryFewBarsAreNotComplete) {
  EXPECT_EQ(compute_features(Bars{}).rows(), 0u);
  EXPECT_FALSE(compute_features(of_closes({5})).complete(0));
}

TEST(ForwardReturns, LookAheadByBarsAndEndBeforeTheEnd) {
  const std::vector<double> returns = forward_returns(of_closes({100, 110, 121, 60.5}), 2);
  EXPECT_NEAR(returns[0], 0.21, 1e-15);
  EXPECT_NEAR(returns[1], -0.45, 1e-15);
  EXPECT_TRUE(std::isnan(returns[2]));
  EXPECT_TRUE(std::isnan(returns[3]));
}

}  // namespace
}  // namespace lockstep::gbdt
