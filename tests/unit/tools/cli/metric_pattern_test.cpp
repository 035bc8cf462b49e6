#include "tools/cli/abtest/metric_pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/error_of.h"
#include "tools/cli/percent.h"

namespace lockstep::cli {
namespace {

using ::testing::HasSubstr;

TEST(MetricPattern, TakesTheFirstGroupOfTheLastMatch) {
  const MetricPattern loss(R"(loss ([0-9.]+) of (\d))");
  EXPECT_EQ(loss.number_in("loss 3.5 of 1\nloss 2.25 of 7\nend"), 2.25);
  EXPECT_EQ(MetricPattern(R"(\d+)").number_in("12 a 345 b"), 345) << "without groups all of it";
  EXPECT_EQ(MetricPattern("^v=(.*)$").number_in("x v=1\nv=-1e-3\nw"), -1e-3) << "^ and $ by line";
  EXPECT_EQ(MetricPattern("(?:a=(1)|b=(2))").number_in("a=1\nb=2"), 1)
      << "a match in which the group took no part has no number";
}

TEST(MetricPattern, SaysWhatIsMissing) {
  EXPECT_EQ(error_of([] { MetricPattern("loss ([0-9]+)").number_in("none\n"); }),
            "nothing in its output matches --metric loss ([0-9]+) | ");
  for (const char* text : {"loss nan", "loss inf", "loss 1,5", "loss x"})
    EXPECT_THAT(error_of([=] { MetricPattern("loss (.*)").number_in(text); }),
                HasSubstr("which is no finite number"))
        << text;
}

TEST(MetricPattern, RefusesAPatternThatIsNone) {
  EXPECT_THAT(error_of([] { MetricPattern("loss ("); }),
              HasSubstr("missing closing parenthesis at character 7 of loss ("));
}

TEST(MetricPattern, EndsWhereMatchesAreEmptyOrTakeForever) {
  EXPECT_EQ(MetricPattern("x*").last_in("ab"), "");
  EXPECT_FALSE(MetricPattern("x").last_in(""));
  EXPECT_THAT(error_of([] { MetricPattern("(a+)+$").number_in(std::string(100, 'a') + "b"); }),
              HasSubstr("cannot be searched for"));
}

TEST(ShareOf, TakesPerCentAndShares) {
  const auto share = [](const std::string& text, double least = 0) {
    Parsed parsed;
    parsed.values["--margin"] = {text};
    return share_of(parsed, "--margin", 0.5, least);
  };
  EXPECT_DOUBLE_EQ(share("2%"), 0.02);
  EXPECT_DOUBLE_EQ(share(" 0.5 % "), 0.005);
  EXPECT_DOUBLE_EQ(share("0.03"), 0.03);
  EXPECT_DOUBLE_EQ(share("150%"), 1.5);
  EXPECT_DOUBLE_EQ(share("0"), 0);
  EXPECT_EQ(share_of({}, "--margin", 0.5), 0.5);
  EXPECT_THAT(error_of([&] { share("3"); }), HasSubstr("write --margin 3%"));
  for (const char* text : {"", "%", "x", "2%%", "nan"})
    EXPECT_THAT(error_of([&] { share(text); }), HasSubstr("must be a share such as 2%")) << text;
  EXPECT_THAT(error_of([&] { share("-1%"); }), HasSubstr("must be at least 0%"));
  EXPECT_THAT(error_of([&] { share("0", 0.001); }), HasSubstr("must be at least 0.1%"));
}

}  // namespace
}  // namespace lockstep::cli
