#include "tools/report/pages/curve.h"

#include <gtest/gtest.h>

#include <cmath>

namespace lockstep {
namespace {

TEST(Curve, KeepsEveryValueWhereThereIsRoom) {
  Curve curve(0, 8);
  for (int i = 1; i <= 8; ++i) curve.add({double(i), 0.1 * i}, 10.0 * i);
  ASSERT_EQ(curve.columns().size(), 8U);
  EXPECT_FALSE(curve.is_thinned());
  EXPECT_EQ(curve.columns()[2].at.step, 3);
  EXPECT_EQ(curve.columns()[2].mean(), 30);
}

TEST(Curve, ManyValuesStayInAFewColumnsThatKeepPeaksMeansAndCounts) {
  Curve curve(0, 64);
  double sum = 0;
  for (int i = 1; i <= 1'000'000; ++i) {
    const double value = i == 333'333 ? 1e6 : std::sin(i);
    curve.add({double(i), 0}, value);
    sum += value;
  }
  EXPECT_LE(curve.columns().size(), 64U);
  EXPECT_GE(curve.columns().size(), 32U);
  std::int64_t values = 0;
  double high = 0, total = 0;
  for (const CurveColumn& column : curve.columns()) {
    values += column.values;
    total += column.sum;
    high = std::max(high, column.high);
  }
  EXPECT_EQ(values, 1'000'000);
  EXPECT_EQ(high, 1e6);
  EXPECT_NEAR(total, sum, 1e-3);
  EXPECT_EQ(curve.columns().back().at.step, 1'000'000);
  EXPECT_EQ(curve.totals().values, 1'000'000);
}

TEST(Curve, ValuesThatAreNotFiniteAreCountedAndLeftOutOfMeans) {
  Curve curve(0.5, 4);
  for (const double value : {1.0, double(NAN), 3.0, double(INFINITY)}) curve.add({}, value);
  EXPECT_EQ(curve.totals().not_finite, 2);
  EXPECT_EQ(curve.totals().mean(), 2);
  EXPECT_TRUE(std::isnan(curve.totals().last));
  EXPECT_TRUE(std::isnan(curve.columns()[1].mean()));
  EXPECT_EQ(curve.totals().high, 3);
}

// TensorBoard: last = last * w + (1 - w) * value, over 1 - w ^ count.
TEST(Curve, SmoothsAsTensorBoardDoes) {
  Curve curve(0.6, 16);
  const double values[] = {5, 1, 4, 2};
  double last = 0;
  int count = 0;
  for (const double value : values) {
    curve.add({}, value);
    last = last * 0.6 + 0.4 * value;
    EXPECT_NEAR(curve.columns().back().smooth, last / (1 - std::pow(0.6, ++count)), 1e-12);
  }
  EXPECT_EQ(Curve().columns().size(), 0U);
  EXPECT_TRUE(std::isnan(Curve().smooth_last()));
}

}  // namespace
}  // namespace lockstep
