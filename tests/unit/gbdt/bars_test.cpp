#include "recipes/gbdt/bars/bars.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "recipes/gbdt/bars/made_bars.h"
#include "recipes/gbdt/bars/symbols.h"

namespace lockstep::gbdt {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* header = "timestamp,open,high,low,close,volume\n";

Bars parse(const std::string& text) { return parse_bars(text, "A.csv", "A"); }

std::string fault(const std::string& text) {
  try {
    parse(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(Day, IsReadAndWritten) {
  EXPECT_EQ(parse_day("1970-01-01"), 0);
  EXPECT_EQ(parse_day("2024-02-29"), 19782);
  EXPECT_EQ(to_text(19782), "2024-02-29");
  EXPECT_EQ(weekday(*parse_day("2022-01-03")), 0);
  EXPECT_EQ(weekday(*parse_day("1969-12-28")), 6);
  for (const char* wrong : {"2023-02-29", "2022-1-01", "20220101", "2022-01-01x", ""})
    EXPECT_FALSE(parse_day(wrong)) << wrong;
}

TEST(Stamp, IsADayWithOrWithoutTimeAndZone) {
  for (const char* day :
       {"2022-01-03", "2022/01/03", "20220103", "2022-01-03 00:00", "2022-01-03T00:00:00.000"}) {
    const auto stamp = parse_stamp(day);
    ASSERT_TRUE(stamp) << day;
    EXPECT_EQ(stamp->day, 18995) << day;
    EXPECT_EQ(stamp->instant_s, 18995LL * 86400) << day;
    EXPECT_FALSE(stamp->zone);
  }
  for (const char* text : {"2022-01-03 09:15:00+05:30", "2022-01-03T09:15:00+0530"}) {
    const auto stamp = parse_stamp(text);
    ASSERT_TRUE(stamp) << text;
    EXPECT_EQ(stamp->instant_s, 18995LL * 86400 + (3 * 60 + 45) * 60) << text;
    EXPECT_TRUE(stamp->zone);
  }
  // The day is that of the clock, though it is another one in UTC.
  EXPECT_EQ(parse_stamp("2022-01-03T00:00:00+05:30")->day, 18995);
  EXPECT_EQ(parse_stamp("2022-01-03T01:00:00Z")->instant_s, 18995LL * 86400 + 3600);
  EXPECT_EQ(parse_stamp("2022-01-03T01:00:00-05")->instant_s, 18995LL * 86400 + 6 * 3600);
  for (const char* wrong : {"", "2022-13-01", "2022-02-30", "03/01/2022", "2022-01-03 25:00",
                            "2022-01-03 09:15+5", "2022-01-03 09:15 UTC", "1641168000"})
    EXPECT_FALSE(parse_stamp(wrong)) << wrong;
}

TEST(Bars, AreReadWithTheirStamps) {
  const Bars bars =
      parse(std::string(header) + "2022-01-03,1,4,0.5,2,100\n2022-01-04,2,3,1,2.5,0\n");
  EXPECT_EQ(bars.symbol, "A");
  EXPECT_THAT(bars.stamps, ElementsAre("2022-01-03", "2022-01-04"));
  EXPECT_THAT(bars.days, ElementsAre(18995, 18996));
  EXPECT_THAT(bars.open, ElementsAre(1, 2));
  EXPECT_THAT(bars.high, ElementsAre(4, 3));
  EXPECT_THAT(bars.low, ElementsAre(0.5, 1));
  EXPECT_THAT(bars.close, ElementsAre(2, 2.5));
  EXPECT_THAT(bars.volume, ElementsAre(100, 0));
  EXPECT_TRUE(bars.notes.empty());
  EXPECT_EQ(bars.hash.size(), 32u);
}

TEST(Bars, FindColumnsWhateverTheirCaseOrderAndSpaces) {
  const Bars bars = parse(" Volume ; Date;CLOSE;Low;High*;Open\n7;2022-01-03;2;1;3;1.5\n");
  EXPECT_EQ(bars.volume[0], 7);
  EXPECT_EQ(bars.close[0], 2);
  EXPECT_EQ(bars.low[0], 1);
  EXPECT_EQ(bars.high[0], 3);
  EXPECT_EQ(bars.open[0], 1.5);
}

TEST(Bars, TakeNoColumnWhoseNameHasANumberForOneOfThePrices) {
  const Bars bars = parse(
      "date_2,date,open,high,low,close_5,close,volume_10,volume\n"
      "x,2022-01-03,1,1,1,7,2,8,100\n");
  EXPECT_EQ(bars.close[0], 2);
  EXPECT_EQ(bars.volume[0], 100);
  EXPECT_THAT(fault("date,open,high,low,close_5,volume\n2022-01-03,1,1,1,7,100\n"),
              HasSubstr("no column close among"));
}

TEST(Bars, TakeTheAdjustedCloseOnlyWhereThereIsNoOther) {
  const Bars both = parse("Date,Open,High,Low,Close,Adj Close,Volume\n2022-01-03,1,1,1,2,1.9,5\n");
  EXPECT_EQ(both.close[0], 2);
  EXPECT_THAT(both.notes, ::testing::Contains(HasSubstr("Adj Close is not used")));
  const Bars one = parse("Date,Open,High,Low,adj_close,Volume\n2022-01-03,1,1,1,1.9,5\n");
  EXPECT_EQ(one.close[0], 1.9);
  EXPECT_THAT(one.notes, ::testing::Contains(HasSubstr("is taken as the close")));
}

TEST(Bars, JoinADateAndATimeColumn) {
  const Bars bars = parse(
      "Date,Time,Open,High,Low,Close,Volume\n2022-01-03,09:15,1,1,1,1,1\n"
      "2022-01-03,09:30,1,1,1,1,1\n");
  EXPECT_THAT(bars.stamps, ElementsAre("2022-01-03 09:15", "2022-01-03 09:30"));
}

TEST(Bars, NameEveryMissingColumnAndTheFile) {
  EXPECT_EQ(fault("timestamp,open,high,close\n2022-01-03,1,1,1\n"),
            "A.csv, line 1: no column low among timestamp, open, high, close");
}

TEST(Bars, NameFileAndLineOfWhatIsNoNumber) {
  const std::string good = std::string(header) + "2022-01-03,1,1,1,1,1\n";
  EXPECT_EQ(fault(good + "2022-01-04,1,x,1,1,1\n"),
            "A.csv, line 3: high is 'x', which is no number");
  EXPECT_EQ(fault(good + "2022-01-04,1,1,,1,1\n"), "A.csv, line 3: low is '', which is no number");
  EXPECT_EQ(fault(good + "2022-01-04,1,1,inf,1,1\n"),
            "A.csv, line 3: low is 'inf', which is no number");
  EXPECT_EQ(fault(good + "2022-01-04,1,1,1,0,1\n"),
            "A.csv, line 3: close is 0, but a price is above 0");
  EXPECT_EQ(fault(good + "2022-01-04,1,1,1,1,-1\n"),
            "A.csv, line 3: volume is -1, but cannot be negative");
  EXPECT_EQ(
      fault(good + "tomorrow,1,1,1,1,1\n"),
      "A.csv, line 3: 'tomorrow' is no date or time as those before it, such as '2022-01-03'");
}

TEST(Bars, RefuseStampsThatComeTwiceOrGoBack) {
  const std::string good = std::string(header) + "2022-01-03,1,1,1,1,1\n2022-01-04,1,1,1,1,1\n";
  EXPECT_EQ(fault(good + "2022-01-04,1,1,1,1,1\n"),
            "A.csv, line 4: 2022-01-04 was in line 3 already");
  EXPECT_EQ(fault(good + "2022-01-01,1,1,1,1,1\n"),
            "A.csv, line 4: 2022-01-01 comes after 2022-01-04 of line 3");
  EXPECT_THAT(fault(good + "2022-01-05T00:00:00+05:30,1,1,1,1,1\n"),
              HasSubstr("line 4: 2022-01-05T00:00:00+05:30 has a"));
}

TEST(Bars, OfASummerClockThatGoesBackStayInOrder) {
  const Bars bars =
      parse(std::string(header) +
            "2022-10-30 02:30:00+02:00,1,1,1,1,1\n2022-10-30 02:00:00+01:00,1,1,1,1,1\n");
  EXPECT_EQ(bars.size(), 2u);
}

TEST(Bars, TellGapsRowsLeftOutAndASingleBar) {
  const Bars gap = parse(std::string(header) +
                         "2022-01-03,1,1,1,1,1\n2022-01-04,null,null,null,null,0\n"
                         "2022-03-01,1,1,1,1,1\n");
  EXPECT_EQ(gap.size(), 2u);
  EXPECT_THAT(gap.notes, ElementsAre("1 row without prices left out",
                                     "1 gap of more than 7 days; the longest, 57 days, ends at "
                                     "2022-03-01"));
  EXPECT_THAT(parse(std::string(header) + "2022-01-03,1,1,1,1,1\n").notes,
              ElementsAre("there is one bar alone"));
  EXPECT_EQ(fault(header), "A.csv holds no bar below its line of names");
}

TEST(Bars, OfASymbolWithoutAFileNameTheNearest) {
  const TemporaryDirectory folder;
  write_file_atomic(folder.path() / "AAPL.csv", header);
  write_file_atomic(folder.path() / "MSFT.CSV", header);
  write_file_atomic(folder.path() / "notes.txt", "");
  write_file_atomic(folder.path() / "._AAPL.csv", "\x05\x16");  // of a zip from macOS
  EXPECT_THAT(list_symbols(folder.path()), ElementsAre("AAPL", "MSFT"));
  EXPECT_EQ(find_symbol(folder.path(), "MSFT").filename(), "MSFT.CSV");
  EXPECT_EQ(find_symbol(folder.path() / "AAPL.csv", "other").filename(), "AAPL.csv");
  try {
    find_symbol(folder.path(), "APPL");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("no file of the symbol APPL"));
    EXPECT_EQ(error.hint(), "is it AAPL?");
  }
  EXPECT_THROW(list_symbols(folder.path() / "none"), Error);
}

TEST(MadeBars, AreTheSameForASymbolAndSeedAndHoldTheSignal) {
  const MadeBars how{
      .first = *parse_day("2010-01-01"), .last = *parse_day("2030-01-01"), .seed = 3};
  const Bars bars = make_bars("A", how);
  EXPECT_EQ(make_bars("A", how).close, bars.close);
  EXPECT_NE(make_bars("B", how).close, bars.close);
  // After falls the price rises: the mean move after 14 bars down is above that after 14 up.
  double after_falls = 0, after_rises = 0;
  int falls = 0, rises = 0;
  for (std::size_t t = 14; t + 1 < bars.size(); ++t) {
    ASSERT_LE(bars.low[t], std::min(bars.open[t], bars.close[t]));
    ASSERT_GE(bars.high[t], std::max(bars.open[t], bars.close[t]));
    ASSERT_LT(weekday(bars.days[t]), 5);
    const double past = bars.close[t] / bars.close[t - 14] - 1,
                 next = bars.close[t + 1] / bars.close[t] - 1;
    if (past < -0.03) after_falls += next, ++falls;
    if (past > 0.03) after_rises += next, ++rises;
  }
  ASSERT_GT(falls, 100);
  ASSERT_GT(rises, 100);
  EXPECT_GT(after_falls / falls, after_rises / rises + 0.005);
}

}  // namespace
}  // namespace lockstep::gbdt
