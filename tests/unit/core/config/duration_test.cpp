// Spans of time as text, both ways.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "unit/core/config/config_fixtures.h"

namespace lockstep {
namespace {

TEST(ParseDuration, TakesUnitsFromLargeToSmall) {
  const std::vector<std::pair<const char*, double>> times{
      {"8h30m", 30600},  {"90s", 90},   {"1d", 86400},  {"1d2h3m4s5ms", 93784.005},
      {"2.5", 2.5},      {"0", 0},      {"1.5h", 5400}, {"250ms", 0.25},
      {"8h 30m", 30600}, {" 5m ", 300}, {"1e3", 1000},  {"1_000s", 1000}};
  for (const auto& [text, seconds] : times)
    EXPECT_DOUBLE_EQ(parse_duration(text).seconds, seconds) << text;
}

TEST(ParseDuration, RefusesEverythingElse) {
  for (const char* text : {"", " ", "h", "5x", "30m8h", "5m5m", "-5s", "-5", "1e3s", "5 5",
                           "1.2.3s", "inf", "nan", "5min", "8h30", "5s!", "."})
    EXPECT_THAT(error_of([&] { parse_duration(text); }), ::testing::HasSubstr("is not a time"))
        << text;
}

TEST(FormatDuration, UsesTheUnitsThatPeopleUse) {
  const std::vector<std::pair<double, const char*>> times{
      {0, "0s"},       {30600, "8h30m"},  {2.5, "2.5s"}, {90, "1m30s"},     {86400, "1d"},
      {0.25, "250ms"}, {129600, "1d12h"}, {60, "1m"},    {3600.5, "1h0.5s"}};
  for (const auto& [seconds, text] : times) EXPECT_EQ(format_duration({seconds}), text);
}

TEST(FormatDuration, IsReadBackExactly) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> exponent(-12, 20);
  for (int i = 0; i < 20000; ++i) {
    double seconds = std::pow(10, exponent(random));
    if (i % 3 == 1) seconds = std::floor(seconds);
    if (i % 3 == 2) seconds = std::floor(seconds * 1000) / 1000;
    ASSERT_EQ(parse_duration(format_duration({seconds})).seconds, seconds)
        << format_duration({seconds});
  }
}

}  // namespace
}  // namespace lockstep
