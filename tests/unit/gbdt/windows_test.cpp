#include "recipes/gbdt/windows/windows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "fakes/test_data.h"
#include "recipes/gbdt/bars/made_bars.h"
#include "recipes/gbdt/train/train_window.h"

namespace lockstep::gbdt {
namespace {

using ::testing::HasSubstr;

Day day(const char* text) { return *parse_day(text); }

struct Series {
  Bars bars;
  FeatureTable features;
  std::vector<double> returns;
};

Series make(const char* first, const char* last, std::size_t horizon = 7) {
  Series series{.bars = make_bars("A", {.first = day(first), .last = day(last), .seed = 1})};
  series.features = compute_features(series.bars, FeatureSet::v1);
  series.returns = forward_returns(series.bars, horizon);
  return series;
}

WindowRows split(const Series& series, const Window& window, const SplitOptions& options = {}) {
  return split_rows(series.bars, series.features, series.returns, window, options);
}

TEST(CalendarWindows, OfThreeYearsByHalfYearsAreSix) {
  const auto windows = calendar_windows({.start = day("2022-01-01"), .end = day("2024-12-01")});
  ASSERT_EQ(windows.size(), 6u);
  EXPECT_EQ(window_label("A", windows[0]), "A_2022-01-01_to_2022-06-30");
  EXPECT_EQ(window_label("A", windows[1]), "A_2022-06-30_to_2022-12-27");
  EXPECT_EQ(window_label("A", windows[5]), "A_2024-06-19_to_2024-12-01");
}

TEST(CalendarWindows, LeaveOutARestOfLessThanAWeek) {
  const Day start = day("2022-01-01");
  EXPECT_EQ(calendar_windows({.start = start, .end = start + 186}).size(), 1u);
  EXPECT_EQ(calendar_windows({.start = start, .end = start + 187}).size(), 2u);
  EXPECT_EQ(calendar_windows({.start = start, .end = start + 7}).size(), 1u);
  EXPECT_THROW(calendar_windows({.start = start, .end = start + 6}), Error);
}

TEST(CalendarWindows, OverlapWithAShorterStrideAndEndOnceTheEndIsReached) {
  const Day start = day("2022-01-01");
  const auto windows = calendar_windows({.start = start, .end = start + 200, .stride_days = 24});
  ASSERT_EQ(windows.size(), 2u);
  EXPECT_EQ(windows[1], (Window{start + 24, start + 200}));
}

TEST(SplitRows, GoByTimeWithAnEmbargoBetweenAllParts) {
  const Series series = make("2021-06-01", "2023-12-31");
  const Window window{day("2022-01-01"), day("2022-06-30")};
  const WindowRows rows = split(series, window);
  ASSERT_EQ(rows.skip, "");
  const auto first_of = [&](Day from) {
    return static_cast<std::size_t>(
        std::lower_bound(series.bars.days.begin(), series.bars.days.end(), from) -
        series.bars.days.begin());
  };
  EXPECT_EQ(rows.train.front(), first_of(window.start));
  // No label looks at a bar of a later part, and the next row's would.
  EXPECT_EQ(rows.train.back() + 7 + 1, rows.valid.front());
  EXPECT_EQ(rows.valid.back() + 7 + 1, first_of(window.end));
  EXPECT_EQ(rows.test.front(), first_of(window.end));
  EXPECT_EQ(rows.test.back() + 1, first_of(window.end + 180));
  EXPECT_EQ(rows.embargoed, 14u);
  EXPECT_EQ(rows.train.size() + rows.valid.size() + 14,
            first_of(window.end) - first_of(window.start));
  EXPECT_EQ(rows.valid.size(), 24u);  // a fifth of 122
}

TEST(SplitRows, WithoutValidationTrainOnAllUpToTheEmbargo) {
  const Series series = make("2021-06-01", "2023-12-31");
  const WindowRows rows = split(series, {day("2022-01-01"), day("2022-06-30")},
                                {.valid_share = 0, .test = TestWindow::none});
  EXPECT_EQ(rows.skip, "");
  EXPECT_TRUE(rows.valid.empty());
  EXPECT_TRUE(rows.test.empty());
  EXPECT_EQ(rows.embargoed, 7u);
}

TEST(SplitRows, SkipAWindowWithoutEnoughBarsBeforeIt) {
  const Series series = make("2022-01-03", "2023-12-31");
  EXPECT_THAT(split(series, {day("2022-03-25"), day("2022-09-25")}).skip,
              HasSubstr("features need 60 bars before 2022-03-25, but A has 59"));
  EXPECT_EQ(split(series, {day("2022-03-28"), day("2022-09-25")}).skip, "");
}

TEST(SplitRows, SkipAWindowWhoseLabelsGoBeyondThePrices) {
  // Ends on a Friday: from Thursday the 8th on there are seven bars.
  const Series series = make("2021-01-01", "2022-09-16");
  EXPECT_EQ(split(series, {day("2022-03-01"), day("2022-09-08")}).skip, "");
  EXPECT_THAT(split(series, {day("2022-03-01"), day("2022-09-09")}).skip,
              HasSubstr("end at 2022-09-16, but labels need 7 bars from 2022-09-09 on; "
                        "end=2022-09-08 is early enough"));
  EXPECT_THAT(split(series, {day("2022-09-02"), day("2022-12-01")}).skip,
              ::testing::EndsWith("from 2022-12-01 on"));
}

TEST(LatestEnd, LeavesTheBarsThatLabelsNeed) {
  const Series daily = make("2021-01-01", "2022-09-16");
  EXPECT_EQ(to_text(latest_end(daily.bars, {})), "2022-09-08");
  EXPECT_EQ(to_text(latest_end(daily.bars, {.looks_ahead = false})), "2022-09-17");
  EXPECT_EQ(to_text(latest_end(daily.bars, {.horizon = 100'000})), "2022-09-17");
}

TEST(SplitRows, SkipAWindowWithFewRows) {
  const Series series = make("2021-01-01", "2022-12-31");
  EXPECT_THAT(split(series, {day("2022-01-01"), day("2022-01-28")}).skip,
              HasSubstr("it has 19 rows"));
  EXPECT_EQ(split(series, {day("2022-01-01"), day("2022-01-29")}).skip, "");
}

TEST(SplitRows, SkipAWindowWhoseEmbargoLeavesNothing) {
  const Series series = make("2021-01-01", "2022-12-31", 20);
  EXPECT_THAT(split(series, {day("2022-01-01"), day("2022-01-29")}, {.horizon = 20}).skip,
              HasSubstr("an embargo of 20 bars leaves no rows to train on of 20"));
}

TEST(SplitRows, AskForAFullTestWindowWhereItIsWanted) {
  const Series series = make("2021-01-01", "2022-12-30");
  const Window early{day("2022-01-01"), day("2022-06-30")},
      late{day("2022-01-15"), day("2022-07-14")};
  const SplitOptions full{.test = TestWindow::full};
  EXPECT_EQ(split(series, early, full).skip, "");
  EXPECT_THAT(split(series, late, full).skip,
              HasSubstr("but the test needs them until 2023-01-10"));
  EXPECT_EQ(split(series, late).skip, "");
}

TEST(PlanWindows, OfTenRealSymbolsAreSeventySevenEach) {
  const auto data = lockstep::testing::test_data("gbdt/daily_us");
  if (data.path.empty()) GTEST_SKIP() << data.why_not;
  GbdtOptions options;
  options.data.path = data.path;
  options.start = "2015-04-01";
  options.stride_days = 24;
  options.test = TestWindow::full;
  const auto planned = plan_windows(options);
  EXPECT_EQ(planned.size(), 770u);
  std::set<std::string> symbols;
  for (const PlannedWindow& window : planned) {
    symbols.insert(window.symbol);
    EXPECT_EQ(window.skip, "") << window_label(window.symbol, window.window);
  }
  EXPECT_EQ(symbols.size(), 10u);
  EXPECT_EQ(planned[0].window.start, day("2015-04-01"));
}

TEST(PlanWindows, WithoutDataAreSixtyThatAreMade) {
  const GbdtOptions options;
  const auto planned = plan_windows(options);
  EXPECT_EQ(planned.size(), 60u);
  EXPECT_TRUE(std::all_of(planned.begin(), planned.end(),
                          [](const PlannedWindow& window) { return window.skip.empty(); }));
}

// Rows without a time, in groups of `group` rows.
Series without_time(std::size_t rows, std::size_t group = 1) {
  Series series;
  series.bars.timeless = true;
  series.features = {.names = {"x"}, .warm_up = 0, .takes_missing = true};
  for (std::size_t i = 0; i < rows; ++i) {
    series.bars.stamps.push_back(std::to_string(i + 1));
    series.bars.days.push_back(0);
    if (group > 1) series.bars.groups.push_back(static_cast<std::int64_t>(i / group));
    series.features.values.push_back(static_cast<double>(i));
    series.returns.push_back(static_cast<double>(i % 2));
  }
  return series;
}

TEST(SplitRows, WithoutATimeAreSharedOutBySeed) {
  const Series series = without_time(100);
  const Window all{.is_everything = true};
  const WindowRows rows = split(series, all, {.seed = 3});
  EXPECT_EQ(rows.test.size(), 20u);
  EXPECT_EQ(rows.valid.size(), 16u);
  EXPECT_EQ(rows.train.size(), 64u);
  EXPECT_TRUE(std::is_sorted(rows.train.begin(), rows.train.end()));
  EXPECT_EQ(split(series, all, {.seed = 3}).test, rows.test);
  EXPECT_NE(split(series, all, {.seed = 4}).test, rows.test);
  const WindowRows in_order = split(series, all, {.shuffle = false});
  EXPECT_EQ(in_order.test.front(), 80u);
  EXPECT_EQ(in_order.valid.front(), 64u);
  EXPECT_TRUE(split(series, all, {.test = TestWindow::none}).test.empty());
  EXPECT_THAT(split(without_time(19), all).skip, HasSubstr("fewer than 20"));
}

TEST(SplitRows, NeverTearGroups) {
  const Series series = without_time(200, 4);
  const WindowRows rows = split(series, {.is_everything = true}, {.seed = 1});
  std::set<std::int64_t> seen;
  for (const auto* part : {&rows.train, &rows.valid, &rows.test}) {
    std::set<std::int64_t> groups;
    for (const std::size_t row : *part) groups.insert(series.bars.groups[row]);
    EXPECT_EQ(groups.size() * 4, part->size());
    for (const std::int64_t group : groups) EXPECT_TRUE(seen.insert(group).second);
  }
  EXPECT_EQ(seen.size(), 50u);
}

// Five rows a day, each day a group: what is said of rows is said of days.
TEST(SplitRows, CountTheHorizonInGroups) {
  Series series = make("2022-01-03", "2023-12-29");
  Series five{.features = {.names = {"x"}, .warm_up = 0, .takes_missing = true}};
  for (std::size_t day = 0; day < series.bars.size(); ++day)
    for (int i = 0; i < 5; ++i) {
      five.bars.stamps.push_back(series.bars.stamps[day]);
      five.bars.days.push_back(series.bars.days[day]);
      five.bars.groups.push_back(static_cast<std::int64_t>(day));
      five.features.values.push_back(0);
      five.returns.push_back(0);
    }
  const WindowRows rows = split(five, {day("2022-06-01"), day("2022-12-01")}, {.horizon = 3});
  ASSERT_EQ(rows.skip, "");
  const auto group = [&](std::size_t row) { return five.bars.groups[row]; };
  EXPECT_EQ(group(rows.valid.front()) - group(rows.train.back()), 4);
  EXPECT_EQ(group(rows.test.front()) - group(rows.valid.back()), 4);
  EXPECT_EQ(rows.valid.size() % 5, 0u);
  EXPECT_EQ(rows.train.size() % 5, 0u);
}

// Bars of so many a day from 2022-01-03 on, also on weekends.
Series intraday(int days, int bars_a_day) {
  Series series;
  for (int i = 0; i < days * bars_a_day; ++i) {
    const double price = 100 + i % 7;
    series.bars.stamps.push_back(std::to_string(i));
    series.bars.days.push_back(day("2022-01-03") + i / bars_a_day);
    series.bars.open.push_back(price);
    series.bars.high.push_back(price + 1);
    series.bars.low.push_back(price - 1);
    series.bars.close.push_back(price);
    series.bars.volume.push_back(5);
  }
  series.features = compute_features(series.bars, FeatureSet::v1);
  series.returns = forward_returns(series.bars, 7);
  return series;
}

TEST(WholeRange, OfManyBarsADayBeginsWithTheFirstDayThatHasEnoughBarsBeforeIt) {
  for (const auto& [bars_a_day, first] : {std::pair{24, "2022-01-06"},
                                          {7, "2022-01-12"},
                                          {78, "2022-01-04"},
                                          {60, "2022-01-04"},
                                          {1, "2022-03-04"}}) {
    const Series series = intraday(90, bars_a_day);
    const auto range = whole_range(series.bars);
    ASSERT_TRUE(range);
    EXPECT_EQ(to_text(range->start), first) << bars_a_day;
    EXPECT_EQ(split(series, {range->start, range->start + 20}).skip, "") << bars_a_day;
  }
  EXPECT_EQ(whole_range(intraday(1, 100).bars), std::nullopt);
}

TEST(LatestEnd, OfManyBarsADayIsADayThatHasAllOfThem) {
  for (const int bars_a_day : {1, 2, 7, 8, 24}) {
    const Series series = intraday(90, bars_a_day);
    const Day end = latest_end(series.bars, {});
    EXPECT_EQ(split(series, {end - 20, end}).skip, "") << bars_a_day;
    EXPECT_NE(split(series, {end - 20, end + 1}).skip, "") << bars_a_day;
  }
}

TEST(SplitRows, TellWhichFeaturesRowsLack) {
  Series series = make("2021-06-01", "2023-12-31");
  const std::size_t stands = 300;  // the price stands still for 20 bars: no RSI, no ADX
  for (std::size_t t = stands; t < stands + 20; ++t)
    for (auto* prices :
         {&series.bars.open, &series.bars.high, &series.bars.low, &series.bars.close})
      (*prices)[t] = series.bars.close[stands - 1];
  series.features = compute_features(series.bars, FeatureSet::v1);
  const Window window{series.bars.days[stands - 40], series.bars.days[stands + 40]};
  EXPECT_EQ(lost_rows(series.bars, series.features, series.returns, window),
            "20 of 80 rows lack features (adx_14 in 20, rsi_14 in 7)");
  EXPECT_EQ(lost_rows(series.bars, series.features, series.returns,
                      {series.bars.days[100], series.bars.days[200]}),
            "");
  for (std::size_t t = 0; t < series.bars.size(); ++t) series.bars.volume[t] = 0;
  series.features = compute_features(series.bars, FeatureSet::v1);
  EXPECT_THAT(split(series, {series.bars.days[100], series.bars.days[150]}).skip,
              HasSubstr("it has 0 rows with all features and a label, fewer than 20: 50 of 50 rows "
                        "lack features (vwap in 50)"));
}

}  // namespace
}  // namespace lockstep::gbdt
