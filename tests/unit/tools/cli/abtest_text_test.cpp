// What a trial says at its end.
#include "tools/cli/abtest/abtest_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(AbtestText, NamesADifferenceAsOne) {
  AbtestSetup setup;
  setup.trial.rule.scale = Scale::difference;
  AbtestTrial trial;
  trial.pairs.resize(3);
  AbtestResult result;
  result.verdict = "no difference at the margin of 0.5";
  Contrast found{.scale = Scale::difference, .count_a = 3, .count_b = 3};
  found.interval = {-0.1, 0.1, 0.3};
  result.rows.push_back({"metric", "metric", found, {}});
  const std::string text = abtest_text(setup, trial, result);
  EXPECT_THAT(text, HasSubstr("no difference at the margin of 0.5: B - A is 0.1 (-0.1 to 0.3)"));
  EXPECT_THAT(text, Not(HasSubstr("B / A")));
}

}  // namespace
}  // namespace lockstep::cli
