// Which evaluation is the best so far.
#include "trainer/validation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace lockstep {
namespace {

std::vector<Metric> metrics(double loss, double accuracy = 0) {
  return {{"loss", loss, "", true}, {"accuracy", accuracy, "", false}};
}

TEST(Best, IsTheLowestOrTheHighestAsTheMetricSays) {
  BestMetric loss("");
  EXPECT_TRUE(loss.improves(metrics(2)));
  EXPECT_FALSE(loss.improves(metrics(2)));
  EXPECT_TRUE(loss.improves(metrics(1)));
  BestMetric accuracy("accuracy");
  EXPECT_TRUE(accuracy.improves(metrics(2, 0.5)));
  EXPECT_FALSE(accuracy.improves(metrics(1, 0.4)));
  EXPECT_TRUE(accuracy.improves(metrics(3, 0.6)));
}

TEST(Best, IsNeverAValueThatIsNotFinite) {
  BestMetric loss("");
  EXPECT_FALSE(loss.improves(metrics(std::nan(""))));
  EXPECT_FALSE(loss.value.has_value());
  EXPECT_FALSE(loss.improves(metrics(-std::numeric_limits<double>::infinity())));
  EXPECT_TRUE(loss.improves(metrics(5)));
  EXPECT_FALSE(loss.improves(metrics(std::nan(""))));
  EXPECT_EQ(loss.value, 5);
}

}  // namespace
}  // namespace lockstep
