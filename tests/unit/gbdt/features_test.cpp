#include "recipes/gbdt/features/features.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>

#include "checkout_paths.h"
#include "core/media/csv_table.h"
#include "recipes/gbdt/bars/made_bars.h"

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
    if (name == table.names[i]) return table.row(row)[i];
  throw std::out_of_range(name);
}

// Compares with a file that bench/peers/gbdt_features.py --golden made; returns the numbers in it.
int compare_with_pandas(FeatureSet set, const char* file) {
  const std::filesystem::path golden = LOCKSTEP_SOURCE_DIR "/tests/unit/gbdt";
  const FeatureTable ours = compute_features(read_bars(golden / "golden_bars.csv", "A"), set);
  const CsvTable theirs = read_csv(golden / file);
  EXPECT_EQ(ours.rows(), theirs.rows.size());
  int numbers = 0;
  for (std::size_t f = 0; f < feature_count; ++f) {
    EXPECT_EQ(theirs.columns[f], ours.names[f]);
    for (std::size_t row = 0; row < ours.rows(); ++row) {
      const double is = ours.row(row)[f], expected = *theirs.number(row, f);
      EXPECT_EQ(std::isnan(is), std::isnan(expected)) << ours.names[f] << " of row " << row;
      if (std::isnan(is)) continue;
      ++numbers;
      EXPECT_LE(std::abs(is - expected), 1e-9 * std::abs(expected))
          << ours.names[f] << " of row " << row << ": " << is << " not " << expected;
    }
  }
  return numbers;
}

// Plateaus, a jump and a first bar without volume.
TEST(Features, AreThoseOfPandas) {
  EXPECT_GT(compare_with_pandas(FeatureSet::v1, "golden_features.csv"), 1500);
  EXPECT_GT(compare_with_pandas(FeatureSet::v2, "golden_features_v2.csv"), 900);
}

Bars from(const Bars& bars, std::size_t first) {
  Bars rest = bars;
  for (auto* column : {&rest.open, &rest.high, &rest.low, &rest.close, &rest.volume})
    column->erase(column->begin(), column->begin() + static_cast<std::ptrdiff_t>(first));
  rest.stamps.erase(rest.stamps.begin(), rest.stamps.begin() + static_cast<std::ptrdiff_t>(first));
  rest.days.erase(rest.days.begin(), rest.days.begin() + static_cast<std::ptrdiff_t>(first));
  return rest;
}

bool same_bits(const double* a, const double* b) {
  return std::memcmp(a, b, feature_count * sizeof(double)) == 0;
}

TEST(Features, OfTheSecondSetAreTheSameBitsWhereverTheFileBeginsAndEnds) {
  const Bars bars =
      make_bars("MADE01", {.first = *parse_day("2022-01-03"), .last = *parse_day("2022-12-30")});
  const FeatureTable all = compute_features(bars, FeatureSet::v2);
  for (const std::size_t first : {1, 2, 3, 7, 64, 101}) {
    Bars rest = from(bars, first);
    rest.close.back() *= 3;  // of a later bar nothing is seen before it
    const FeatureTable later = compute_features(rest, FeatureSet::v2);
    for (std::size_t row = 0; row < warm_up_bars; ++row) EXPECT_FALSE(later.complete(row));
    for (std::size_t row = warm_up_bars; row + 1 < later.rows(); ++row)
      ASSERT_TRUE(same_bits(later.row(row), all.row(row + first))) << first << " " << row;
  }
  const FeatureTable old = compute_features(bars, FeatureSet::v1),
                     later = compute_features(from(bars, 64), FeatureSet::v1);
  EXPECT_FALSE(same_bits(later.row(100), old.row(164))) << "the first set is another there";
}

TEST(Features, OfTheSecondSetLookBackOverSixtyBarsAndNoFurther) {
  const Bars bars =
      make_bars("MADE01", {.first = *parse_day("2022-01-03"), .last = *parse_day("2022-06-30")});
  const auto row_after = [&](std::size_t changed) {
    Bars other = bars;
    for (auto* column : {&other.open, &other.high, &other.low, &other.close, &other.volume})
      (*column)[changed] *= 1.5;
    const FeatureTable table = compute_features(other, FeatureSet::v2);
    return std::vector<double>(table.row(100), table.row(101));
  };
  const FeatureTable table = compute_features(bars, FeatureSet::v2);
  EXPECT_TRUE(same_bits(row_after(39).data(), table.row(100)));
  EXPECT_FALSE(same_bits(row_after(40).data(), table.row(100)));
}

TEST(Features, OfAPriceThatDoesNotMoveAreThatPrice) {
  const FeatureTable table =
      compute_features(of_closes(std::vector<double>(70, 0.1)), FeatureSet::v2);
  EXPECT_EQ(feature(table, 65, "ema_26"), 0.1);
  for (const char* name : {"macd", "macd_signal", "macd_hist", "obv_20"})
    EXPECT_EQ(feature(table, 65, name), 0) << name;
}

TEST(Features, OfASeriesThatRisesByOneAreKnown) {
  std::vector<double> closes;
  for (int t = 0; t < 61; ++t) closes.push_back(100 + t);
  for (const FeatureSet set : {FeatureSet::v1, FeatureSet::v2}) {
    const FeatureTable table = compute_features(of_closes(closes), set);
    EXPECT_DOUBLE_EQ(feature(table, 60, "sma_20"), 150.5);
    EXPECT_DOUBLE_EQ(feature(table, 60, "sma_50"), 135.5);
    EXPECT_DOUBLE_EQ(feature(table, 60, "rsi_14"), 100);
    EXPECT_DOUBLE_EQ(feature(table, 60, "atr_14"), 2);
    EXPECT_DOUBLE_EQ(feature(table, 60, "adx_14"), 100);
    EXPECT_NEAR(feature(table, 60, "bb_upper") - feature(table, 60, "bb_middle"),
                2 * std::sqrt(35.0), 1e-12);
  }
  const FeatureTable old = compute_features(of_closes(closes), FeatureSet::v1);
  EXPECT_DOUBLE_EQ(feature(old, 60, "obv"), 600);
  EXPECT_DOUBLE_EQ(feature(old, 60, "vwap"), 130);
  const FeatureTable table = compute_features(of_closes(closes), FeatureSet::v2);
  EXPECT_DOUBLE_EQ(feature(table, 60, "obv_20"), 200);
  EXPECT_DOUBLE_EQ(feature(table, 60, "vwap_20"), 150.5);
}

TEST(Features, OfTheFirstSetAreCompleteFromTheFiftiethBarOn) {
  std::vector<double> closes;
  for (int t = 0; t < 55; ++t) closes.push_back(100 + t % 7);
  const FeatureTable table = compute_features(of_closes(closes), FeatureSet::v1);
  EXPECT_FALSE(table.complete(48));
  EXPECT_TRUE(table.complete(49));
  EXPECT_TRUE(table.complete(54));
}

TEST(Features, OfVeryFewBarsAreNotComplete) {
  for (const FeatureSet set : {FeatureSet::v1, FeatureSet::v2}) {
    EXPECT_EQ(compute_features(Bars{}, set).rows(), 0u);
    EXPECT_FALSE(compute_features(of_closes({5}), set).complete(0));
  }
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
