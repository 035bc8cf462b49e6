// Price files as exchanges, brokers and libraries write them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "fakes/error_of.h"
#include "recipes/gbdt/bars/bars.h"
#include "recipes/gbdt/bars/number_cells.h"
#include "recipes/gbdt/bars/symbols.h"
#include "recipes/gbdt/options/gbdt_options.h"
#include "recipes/gbdt/train/train_window.h"

namespace lockstep::gbdt {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* price_names_line = "Date,Open,High,Low,Close,Volume\n";

Bars price_file(const std::string& text, const std::string& symbol = "A",
                const BarColumns& columns = {}) {
  return parse_bars(text, "A.csv", symbol, columns);
}
// What and hint of its error.
std::string file_refusal(const std::string& text, const std::string& symbol = "A",
                         const BarColumns& columns = {}) {
  return error_of([&] { price_file(text, symbol, columns); });
}
// Days of two bars whose dates are written so.
std::vector<std::string> two_days(const std::string& first, const std::string& second,
                                  const BarColumns& columns = {}) {
  std::vector<std::string> days;
  for (const Day day : price_file(cat("Date;Open;High;Low;Close;Volume\n", first, ";1;1;1;1;1\n",
                                      second, ";1;1;1;1;1\n"),
                                  "A", columns)
                           .days)
    days.push_back(to_text(day));
  return days;
}

// Of ASCII, with its byte order mark.
std::string in_utf16(const std::string& text, bool big_endian) {
  std::string wide = big_endian ? "\xFE\xFF" : "\xFF\xFE";
  for (const char c : text) {
    wide += big_endian ? '\0' : c;
    wide += big_endian ? c : '\0';
  }
  return wide;
}

TEST(PriceFiles, OfAnotherKindAreNamedWhereAFolderHasNoOther) {
  const TemporaryDirectory folder;
  EXPECT_THAT(error_of([&] { list_symbols(folder.path()); }),
              HasSubstr(folder.path().string() + " holds no CSV file | "));
  write_file_atomic(folder.path() / "TCS.parquet", "PAR1" + std::string(600, 'x') + "PAR1");
  EXPECT_THAT(error_of([&] { list_symbols(folder.path()); }),
              AllOf(HasSubstr("holds no CSV file, but TCS.parquet, a Parquet file | "),
                    HasSubstr("read_parquet")));
  write_file_atomic(folder.path() / "A.txt", "x");
  EXPECT_THAT(error_of([&] { list_symbols(folder.path()); }),
              HasSubstr("holds no CSV file, but TCS.parquet, a Parquet file, and 1 more | "));
  std::filesystem::remove(folder.path() / "TCS.parquet");
  EXPECT_THAT(error_of([&] { list_symbols(folder.path()); }),
              HasSubstr("holds no CSV file, but A.txt | a folder of prices"));
}

TEST(PriceFile, OfPandasWithItsIndexPassesOverTheColumnWithoutAName) {
  for (const char* name : {"", "Unnamed: 0"}) {
    const Bars bars =
        price_file(cat(name, ",Date,Open,High,Low,Close,Volume\n0,2021-01-04,1,3,1,2,5\n"));
    EXPECT_THAT(bars.close, ElementsAre(2)) << name;
  }
  EXPECT_THAT(price_file("Date,Open,High,Low,Close,Volume,\n2021-01-04,1,3,1,2,5,\n").close,
              ElementsAre(2));
  EXPECT_THAT(price_file("Date,Open,High,Low,Close,Volume\n2021-01-04,1,3,1,2,5,\n").close,
              ElementsAre(2));
  // An index of times without a name is the time.
  const Bars indexed = price_file(",Open,High,Low,Close,Volume\n2021-01-04,1,3,1,2,5\n");
  EXPECT_EQ(to_text(indexed.days[0]), "2021-01-04");
  EXPECT_THAT(indexed.notes, Contains(HasSubstr("is taken as the time")));
}

TEST(PriceFile, OfYfinanceHasThreeLinesOfNames) {
  const std::string one =
      "Price,Close,High,Low,Open,Volume\nTicker,AAPL,AAPL,AAPL,AAPL,AAPL\nDate,,,,,\n"
      "2021-01-04,2,3,1,1.5,100\n2021-01-05,2.5,3,1,2,200\n";
  const Bars bars = price_file(one);
  EXPECT_THAT(bars.close, ElementsAre(2, 2.5));
  EXPECT_THAT(bars.open, ElementsAre(1.5, 2));
  const std::string two =
      "Price,Close,Close,High,High,Low,Low,Open,Open,Volume,Volume\n"
      "Ticker,AAPL,MSFT,AAPL,MSFT,AAPL,MSFT,AAPL,MSFT,AAPL,MSFT\nDate,,,,,,,,,,\n"
      "2021-01-04,2,20,3,30,1,10,1.5,15,100,1000\n";
  EXPECT_THAT(price_file(two, "MSFT").close, ElementsAre(20));
  EXPECT_THAT(price_file(two, "AAPL").high, ElementsAre(3));
  EXPECT_NE(price_file(two, "AAPL").hash, price_file(two, "MSFT").hash);
  EXPECT_EQ(price_file(one, "x").hash, price_file(one, "y").hash) << "a name that chooses nothing";
  const TemporaryDirectory folder;
  write_file_atomic(folder.path() / "two.csv", two);
  EXPECT_THAT(list_symbols(folder.path() / "two.csv"), ElementsAre("AAPL", "MSFT"));
  write_file_atomic(folder.path() / "wide.csv", in_utf16(two, false));
  EXPECT_THAT(list_symbols(folder.path() / "wide.csv"), ElementsAre("AAPL", "MSFT"));
  write_file_atomic(folder.path() / "wide.csv", in_utf16(two, true));
  EXPECT_THAT(list_symbols(folder.path() / "wide.csv"), ElementsAre("AAPL", "MSFT"));
  write_file_atomic(folder.path() / "two.csv", two.substr(0, two.find("Date")));
  EXPECT_THAT(list_symbols(folder.path() / "two.csv"), ElementsAre("two"));
  EXPECT_THAT(file_refusal(two, "both"),
              AllOf(HasSubstr("A.csv, line 2: the prices are of 2 tickers, "
                              "AAPL, MSFT, of which none is both"),
                    HasSubstr("symbol=AAPL")));
  // group_by="ticker" writes the tickers first.
  EXPECT_THAT(price_file("Ticker,MSFT,MSFT,MSFT,MSFT,MSFT\nPrice,Open,High,Low,Close,Volume\n"
                         "Date,,,,,\n2021-01-04,1,3,1,2,5\n")
                  .close,
              ElementsAre(2));
  EXPECT_THAT(file_refusal("Date,Open,Open,High,Low,Close\n2021-01-04,1,1,1,1,1\n"),
              HasSubstr("line 1: two columns are named Open"));
}

// Or each slot of a batch would keep it.
TEST(PriceFile, OfManySymbolsIsKeptOnlyWhereItIsSmallOrAllOfItIsUsed) {
  const TemporaryDirectory folder;
  const auto path = folder.path() / "large.csv";
  std::string text = "Date,Name\n";
  for (int row = 0; row < 1000; ++row) text += "2021-01-04,S0\n";
  write_file_atomic(path, text);
  constexpr std::size_t most = 30'000;  // text, cells and lines have 39,000
  EXPECT_NE(cells_of_file(path, true, most), cells_of_file(path, true, most));
  const KeepCells here;
  EXPECT_EQ(cells_of_file(path, true, most), cells_of_file(path, true, most));
}

TEST(PriceFile, OfSeveralSymbolsIsReadByItsColumn) {
  const std::string text =
      "Date,Open,High,Low,Close,Volume,Name\n2021-01-04,1,3,1,2,5,S0\n2021-01-05,1,3,1,2.5,5,S0\n"
      "2021-01-04,1,3,1,20,5,S1\n2021-01-05,1,3,1,25,5,S1\n";
  EXPECT_THAT(price_file(text, "S1", {.symbol = "Name"}).close, ElementsAre(20, 25));
  EXPECT_THAT(price_file(text, "S0", {.symbol = "Name"}).close, ElementsAre(2, 2.5));
  EXPECT_NE(price_file(text, "S0", {.symbol = "Name"}).hash,
            price_file(text, "S1", {.symbol = "Name"}).hash)
      << "other data";
  EXPECT_THAT(file_refusal(text, "S2", {.symbol = "Name"}),
              AllOf(HasSubstr("A.csv: no row has Name S2"), HasSubstr("is it S0?")));
  EXPECT_THAT(
      file_refusal(text),
      AllOf(HasSubstr("A.csv: the rows are of 2 symbols, S0 to S1, as the column Name says"),
            HasSubstr("symbol_column=Name"), Not(HasSubstr("time=none"))));
  EXPECT_THAT(file_refusal(text, "A", {.symbol = "none"}),
              AllOf(HasSubstr("2021-01-04 comes after"), Not(HasSubstr("time=none"))));
  EXPECT_THAT(price_file("Date,Open,High,Low,Close,Volume,Name\n2021-01-04,1,3,1,2,5,S0\n").close,
              ElementsAre(2));
  const TemporaryDirectory folder;
  const auto path = folder.path() / "all.csv";
  write_file_atomic(path, text);
  EXPECT_THAT(list_symbols(path, "Name"), ElementsAre("S0", "S1"));
  EXPECT_THAT(list_symbols(folder.path(), "Name"), ElementsAre("S0", "S1"));
  EXPECT_EQ(find_symbol(folder.path(), "S1", "Name"), path);
  EXPECT_THAT(read_bars(path, "S1", {.symbol = "Name"}).close, ElementsAre(20, 25));
  EXPECT_EQ(cells_of_file(path, true), cells_of_file(path, true)) << "read once";
  const auto kept = cells_of_file(path, true);
  { const KeepCells until_here; }
  EXPECT_NE(cells_of_file(path, true), kept);
  write_file_atomic(path, "Date,Open,High,Low,Close,Volume,Name\n2021-01-04,1,3,1,7,5,S1\n");
  EXPECT_THAT(read_bars(path, "S1", {.symbol = "Name"}).close, ElementsAre(7));  // as it is now
  EXPECT_THAT(file_refusal(text + "2021-01-06,1,3,1,25,5,\n", "S0", {.symbol = "Name"}),
              HasSubstr("A.csv, line 6: no Name, which is the symbol"));
  write_file_atomic(folder.path() / "all.CSV", text);
  EXPECT_THAT(error_of([&] { list_symbols(folder.path()); }),
              HasSubstr("holds two files of the symbol all"));
  std::filesystem::remove(folder.path() / "all.CSV");
  write_file_atomic(folder.path() / "other.csv", text);
  EXPECT_THAT(error_of([&] { list_symbols(folder.path(), "Name"); }),
              AllOf(HasSubstr("symbol_column=Name is of one file"),
                    HasSubstr("symbol_column=none reads a file for each symbol")));
}

TEST(PriceFile, NeedsItsTime) {
  EXPECT_THAT(file_refusal(cat(price_names_line, "2021-01-04,1,3,1,2,5\n"), "A", {.time = "none"}),
              AllOf(HasSubstr("A.csv: prices need their time, but time=none"),
                    HasSubstr("leave time=none out")));
}

TEST(PriceFile, WithoutVolumeHasNone) {
  EXPECT_FALSE(price_file("Date,Open,High,Low,Close\n2021-01-04,1,3,1,2\n").has_volume);
  EXPECT_FALSE(
      price_file(std::string(price_names_line) + "2021-01-04,1,3,1,2,0\n2021-01-05,1,3,1,2,0\n")
          .has_volume);
  EXPECT_FALSE(
      price_file(std::string(price_names_line) + "2021-01-04,1,3,1,2,-\n2021-01-05,1,3,1,2,\n")
          .has_volume);
  EXPECT_TRUE(
      price_file(std::string(price_names_line) + "2021-01-04,1,3,1,2,0\n2021-01-05,1,3,1,2,9\n")
          .has_volume);
}

TEST(PriceFile, HasDatesAsTheTradeWritesThem) {
  const auto fourth_and_fifth = ElementsAre("2021-01-04", "2021-01-05");
  for (const auto& [first, second] : std::vector<std::pair<std::string, std::string>>{
           {"04-Jan-2021", "05-JAN-2021"},
           {"4 January 2021", "5 January 2021"},
           {"Jan 04, 2021", "Jan 05, 2021"},
           {"2021.01.04", "2021.01.05"},
           {"2021-1-4", "2021-1-5"},
           {"2021.01.04 00:05", "2021.01.05 9:30"},
           {"20210104 000000", "20210105 093000"},
           {"202101040930", "202101050930"},
           {"2021-01-04 09:15 UTC", "2021-01-05 09:15 UTC"},
           {"1609718400", "1609804800"},
           {"1609718400000", "1609804800000"},
           {"1609718400000000", "1609804800000000"},
           {"1609718400000000000", "1609804800000000000"}})
    EXPECT_THAT(two_days(first, second), fourth_and_fifth) << first;
  EXPECT_THAT(
      price_file("<DATE>\t<TIME>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\t<TICKVOL>\t<VOL>\t<SPREAD>\n"
                 "2021.01.04\t00:00:00\t1\t3\t1\t2\t9\t5\t1\n")
          .volume,
      ElementsAre(5));
  EXPECT_THAT(
      price_file("<TICKER>,<PER>,<DATE>,<TIME>,<OPEN>,<HIGH>,<LOW>,<CLOSE>,<VOL>,<OPENINT>\n"
                 "A.US,60,20210104,160000,1,3,1,2,5,0\nA.US,60,20210104,170000,1,3,1,2,5,0\n")
          .stamps,
      ElementsAre("20210104 160000", "20210104 170000"));
  const Bars noon = price_file(
      "Date,Open,High,Low,Close\n1/4/2021 9:30:00 AM,1,1,1,1\n"
      "1/4/2021 12:00 PM,1,1,1,1\n1/13/2021 1:00 PM,1,1,1,1\n");
  EXPECT_EQ(noon.size(), 3U);
  // What may be a day and an hour as well as seconds, two digits of a year, and mixtures.
  for (const char* unclear : {"1990010100", "04-Jan-21", "01/13/21", "2021-13-04", "31.02.2021",
                              "25:00", "2021-01-04 9:5", "9999999999999999999"})
    EXPECT_THAT(file_refusal(cat(price_names_line, unclear, ",1,3,1,2,5\n")),
                HasSubstr("is no date or time"))
        << unclear;
  EXPECT_THAT(
      file_refusal(std::string(price_names_line) + "2021-01-04,1,3,1,2,5\n05-Jan-2021,1,3,1,2,5\n"),
      HasSubstr("line 3: '05-Jan-2021' is no date or time as those before it"));
}

TEST(PriceFile, HasTheOrderOfDayAndMonthThatItsColumnShows) {
  EXPECT_THAT(two_days("01/04/2021", "13/04/2021"), ElementsAre("2021-04-01", "2021-04-13"));
  EXPECT_THAT(two_days("01/04/2021", "01/13/2021"), ElementsAre("2021-01-04", "2021-01-13"));
  EXPECT_THAT(two_days("4.1.2021", "13.1.2021"), ElementsAre("2021-01-04", "2021-01-13"));
  EXPECT_THAT(
      price_file(std::string(price_names_line) + "01/04/2021,1,3,1,2,5\n01/13/2021,1,3,1,2,5\n")
          .notes,
      Contains("dates have the month first, then the day"));
  const std::string unknown =
      std::string(price_names_line) + "01/04/2021,1,3,1,2,5\n02/04/2021,1,3,1,2,5\n";
  EXPECT_THAT(file_refusal(unknown),
              AllOf(HasSubstr("A.csv, line 2: 01/04/2021 may have the day first or the month"),
                    HasSubstr("date_order=dmy"), HasSubstr("date_order=mdy")));
  EXPECT_EQ(to_text(price_file(unknown, "A", {.date_order = DateOrder::day_first}).days[1]),
            "2021-04-02");
  EXPECT_EQ(to_text(price_file(unknown, "A", {.date_order = DateOrder::month_first}).days[1]),
            "2021-02-04");
  EXPECT_THAT(
      file_refusal(std::string(price_names_line) + "13/01/2021,1,3,1,2,5\n01/14/2021,1,3,1,2,5\n"),
      HasSubstr("line 2: 13/01/2021 has the day first, but 01/14/2021 of line 3 the month"));
  EXPECT_THAT(file_refusal(std::string(price_names_line) + "01/13/2021,1,3,1,2,5\n", "A",
                           {.date_order = DateOrder::day_first}),
              HasSubstr("'01/13/2021' is no date or time"));
}

TEST(PriceFile, WithTheNewestRowFirstIsReadFromItsEnd) {
  const Bars bars =
      price_file(std::string(price_names_line) +
                 "2021-01-06,1,3,1,4,5\n2021-01-05,1,3,1,3,5\n2021-01-04,1,3,1,2,5\n");
  EXPECT_THAT(bars.close, ElementsAre(2, 3, 4));
  EXPECT_THAT(bars.stamps, ElementsAre("2021-01-04", "2021-01-05", "2021-01-06"));
  EXPECT_THAT(bars.notes, ElementsAre("the newest row comes first: read from the last one on"));
}

TEST(PriceFile, HasNumbersAsTheTradeWritesThem) {
  // The Indian exchange; Investing.com; Nasdaq.
  const Bars nse = price_file(
      "\xEF\xBB\xBF\"Date \",\"series \",\"OPEN \",\"HIGH \",\"LOW \",\"close \",\"VOLUME \"\n"
      "\"05-Jan-2021\",\"EQ\",\"1,170.60\",\"1,200.00\",\"999.50\",\"1,180.05\",\"1,234,567\"\n"
      "\"04-Jan-2021\",\"EQ\",\"1,170.60\",\"1,200.00\",\"999.50\",\"1,170.00\",\"987\"\n");
  EXPECT_THAT(nse.close, ElementsAre(1170, 1180.05));
  EXPECT_THAT(nse.low, ElementsAre(999.5, 999.5));
  EXPECT_THAT(nse.volume, ElementsAre(987, 1234567));
  const Bars investing = price_file(
      "\"Date\",\"Price\",\"Open\",\"High\",\"Low\",\"Vol.\",\"Change %\"\n"
      "\"01/13/2021\",\"130.89\",\"128.76\",\"131.45\",\"128.49\",\"88.64M\",\"1.62%\"\n");
  EXPECT_THAT(investing.close, ElementsAre(130.89));
  EXPECT_THAT(investing.volume, ElementsAre(88.64e6));
  EXPECT_THAT(investing.notes, Contains("Price is taken as the close"));
  const Bars nasdaq = price_file(
      "Date,Close/Last,Volume,Open,High,Low\n01/13/"
      "2021,$130.89,88636830,$128.76,$131.45,$128.49\n");
  EXPECT_THAT(nasdaq.close, ElementsAre(130.89));
  EXPECT_EQ(volume_of("1.5K", {}), 1500);
  EXPECT_EQ(volume_of("2B", {}), 2e9);
  EXPECT_EQ(volume_of("M", {}), std::nullopt);
  EXPECT_EQ(price_of("1.2M", {}), std::nullopt);
}

TEST(PriceFile, WithACommaThatMayBeTheDecimalsIsRefused) {
  for (const char* row : {"\"1,170\",\"1,200\",\"1,100\",\"1,180\",5",
                          "\"13.726,74\",\"13.890,22\",\"13.500,10\",\"13.600,00\",5",
                          "\"1,2253\",\"1,2253\",\"1,2253\",\"1,2253\",5"})
    EXPECT_THAT(file_refusal(cat(price_names_line, "2021-01-04,", row, "\n")),
                AllOf(HasSubstr("A.csv, line 2: open is '1"), HasSubstr("a comma is read between")))
        << row;
  EXPECT_THAT(file_refusal("Date;Open;High;Low;Close\n2021-01-04;1,5;1,6;1,4;1,5\n"),
              HasSubstr("open is '1,5', which is no number"));
}

TEST(PriceFile, WithoutNamesIsReadWhereBinanceWroteIt) {
  const Bars bars = price_file(
      "1609718400000,1.5,3,1,2,100,1609721999999,5,7,1,1,0\n"
      "1609722000000,2,3,1,2.5,200,1609725599999,5,7,1,1,0\n");
  EXPECT_THAT(bars.close, ElementsAre(2, 2.5));
  EXPECT_THAT(bars.volume, ElementsAre(100, 200));
  EXPECT_THAT(bars.notes, Contains(HasSubstr("Binance's klines")));
  EXPECT_THAT(file_refusal("20210104 000000;1;3;1;2;0\n"),
              AllOf(HasSubstr("A.csv, line 1: it has no names of columns, but begins with "
                              "20210104 000000"),
                    HasSubstr("timestamp,open,high,low,close,volume")));
}

TEST(PriceFile, MayBeginWithATitle) {
  const Bars bars = price_file(
      "https://www.example.com\nunix,date,symbol,open,high,low,close\n"
      "1609718400,2021-01-04 00:00:00,BTC/USD,1,3,1,2\n");
  EXPECT_THAT(bars.close, ElementsAre(2));
  EXPECT_THAT(bars.notes,
              Contains("'https://www.example.com' above the names is taken as a title"));
  const Bars after_blank = price_file("\n \nDate;Open;High;Low;Close\n2021-01-04;1;3;1;2\n");
  EXPECT_THAT(after_blank.close, ElementsAre(2));
  EXPECT_THAT(after_blank.notes, Not(Contains(HasSubstr("title"))));
  EXPECT_THAT(file_refusal(cat("title\n\n", price_names_line, "2021-01-04,1,3,1,x,5\n")),
              HasSubstr("A.csv, line 4: close is 'x'"));
  EXPECT_THAT(file_refusal(cat("\"title\"\n", price_names_line, "2021-01-04,1,3,1,\"x\",5\n")),
              HasSubstr("A.csv, line 3: close is 'x'"));
  EXPECT_THAT(file_refusal(cat("Prices, daily\n", price_names_line, "2021-01-04,1,3,1,2,5\n")),
              AllOf(HasSubstr("line 2 has 6 cells, but there are 2 columns"),
                    HasSubstr("line 1 is taken as the names")));
}

TEST(Symbols, OfWhichNoneIsNamedTheFirstIsTakenAndThatIsSaid) {
  const TemporaryDirectory folder;
  GbdtOptions options;
  options.table.set("data.path", folder.path().string());
  write_file_atomic(folder.path() / "B.csv", price_names_line);
  EXPECT_EQ(first_symbol_note(options), "") << "the only one";
  write_file_atomic(folder.path() / "A.csv", price_names_line);
  EXPECT_THAT(first_symbol_note(options),
              AllOf(HasSubstr("of A, the first of 2 symbols"), HasSubstr("symbol=NAME")));
  options.table.set("symbol", "B");
  EXPECT_EQ(first_symbol_note(options), "");
  EXPECT_EQ(first_symbol_note(GbdtOptions()), "") << "made prices";
}

TEST(PriceFile, MayBeUtf16) {
  const std::string text = std::string(price_names_line) + "2021-01-04,1,3,1,2,5\n";
  const std::string little = in_utf16(text, false);
  EXPECT_THAT(price_file(little).close, ElementsAre(2));
  EXPECT_THAT(price_file(in_utf16(text, true)).close, ElementsAre(2));
  EXPECT_THAT(file_refusal(little + "x"), HasSubstr("A.csv ends within a character of UTF-16"));
  EXPECT_THAT(file_refusal(little.substr(2)),
              AllOf(HasSubstr("A.csv is text in UTF-16LE, but must be CSV in UTF-8"),
                    HasSubstr("iconv -f UTF-16LE -t UTF-8 A.csv > NEW.csv")));
  EXPECT_THAT(file_refusal(cat("o,h\n1,2", std::string(1, '\0'), "\n")),
              HasSubstr("A.csv: byte 8 is 0, as no text has it"));
  EXPECT_THAT(file_refusal(std::string("\xFF\xFE"
                                       "a\0\0\xDC",
                                       6)),
              HasSubstr("A.csv: byte 5 begins no character of UTF-16"));
}

TEST(PriceFile, OfAnotherKindIsSaidToBeWhatItIs) {
  EXPECT_THAT(file_refusal("PAR1\x15\4\x15"),
              AllOf(HasSubstr("A.csv is a Parquet file, but must be CSV in UTF-8"),
                    HasSubstr("pandas.read_parquet(\"A.csv\").to_csv")));
  EXPECT_THAT(file_refusal("PK\3\4\x14"), HasSubstr("A.csv is a zip archive, but must be CSV"));
}

// Records are JSON, which is UTF-8; other cells may be what they are.
TEST(PriceFile, OfAnotherEncodingIsRefusedWhereItsTextsGoIntoRecords) {
  const BarColumns all{.prices = BarColumns::Prices::none, .own = {"*"}, .label = "y"};
  EXPECT_THAT(file_refusal("a,gr\xF6\xDF"
                           "e,y\n1,2,0\n",
                           "A", all),
              AllOf(HasSubstr("A.csv, line 1: gr\\xf6\\xdfe is not UTF-8"),
                    HasSubstr("iconv -f ISO-8859-1 -t UTF-8 A.csv")));
  BarColumns classes = all;
  classes.label_kind = LabelKind::two_classes;
  EXPECT_THAT(file_refusal("a,y\n1,x\n2,f\xFCr\n", "A", classes),
              HasSubstr("A.csv, line 3: f\\xfcr is not UTF-8"));
  const std::string prices =
      "Date,Open,High,Low,Close,W\xE4hrung\n2021-01-04,1,3,1,2,\x80\n2021-01-05,1,3,1,2,$\n";
  EXPECT_EQ(price_file(prices).size(), 2U);
  const TemporaryDirectory folder;
  write_file_atomic(folder.path() / "all.csv",
                    "Date,Open,High,Low,Close,Name\n2021-01-04,1,3,1,2,\x80\n");
  EXPECT_THAT(error_of([&] { list_symbols(folder.path(), "Name"); }),
              HasSubstr("all.csv, line 2: \\x80 is not UTF-8"));
}

TEST(OwnColumns, AreCellsAsPandasReadsThem) {
  const BarColumns all{.prices = BarColumns::Prices::none, .own = {"*"}, .label = "y"};
  const Bars bars = price_file(
      ",flag,a,b,y,Unnamed: "
      "7\n0,True,inf,1e-400,0,x\n1,FALSE,-inf,None,1,x\n2,,-Infinity,#N/A,1,x\n",
      "A", all);
  EXPECT_THAT(bars.own_names, ElementsAre("flag", "a", "b"));
  EXPECT_THAT(bars.notes, ElementsAre("column 1, which has no name, is not used",
                                      "column 6, which has no name, is not used"));
  const double* const own = bars.own.data();
  EXPECT_EQ(own[0], 1);
  EXPECT_EQ(own[1], INFINITY);
  EXPECT_EQ(own[2], 0);
  EXPECT_EQ(own[3], 0);
  EXPECT_EQ(own[4], -INFINITY);
  EXPECT_TRUE(std::isnan(own[5]));
  EXPECT_TRUE(std::isnan(own[6]));
  EXPECT_EQ(own[7], -INFINITY);
  EXPECT_TRUE(std::isnan(own[8]));
  BarColumns named = all;
  named.own = {"Unnamed: 7"};
  EXPECT_THAT(price_file("a,Unnamed: 7,y\n1,5,0\n", "A", named).own, ElementsAre(5));
  EXPECT_THAT(file_refusal("a,y\n1e400,0\n", "A", all), HasSubstr("a is '1e400', which is no"));
  EXPECT_THAT(file_refusal("a,y\n1,0\nTrue,1\n", "A", all),
              HasSubstr("A.csv, line 3: a is True, but a number in the rows before"));
  EXPECT_THAT(file_refusal("a,y\n\"1,5\",0\n", "A", all),
              HasSubstr("a is '1,5', which is no number"));
}

TEST(MissingCells, AreThoseOfPandas) {
  for (const char* cell : {"",     "#N/A",   "#N/A N/A", "#NA",  "-1.#IND", "-1.#QNAN", "-NaN",
                           "-nan", "1.#IND", "1.#QNAN",  "<NA>", "N/A",     "NA",       "NULL",
                           "NaN",  "None",   "n/a",      "nan",  "null",    "-",        " "})
    EXPECT_TRUE(is_missing(cell)) << cell;
  for (const char* cell : {"0", "-1", "none", "no", "x", "1.5", "--", "inf"})
    EXPECT_FALSE(is_missing(cell)) << cell;
}

TEST(Lists, MayHaveAByteOrderMarkAndCommasWithinValues) {
  const TemporaryDirectory folder;
  write_file_atomic(folder.path() / "list.txt", "\xEF\xBB\xBFM&M\r\n# none\r\nS0\r\n");
  EXPECT_THAT(listed_names("symbols", {(folder.path() / "list.txt").string()}),
              ElementsAre("M&M", "S0"));
  GbdtOptions options;
  options.table.set("params", "metric=auc\\,binary_logloss,max_bin=63");
  EXPECT_THAT(options.params, ElementsAre("metric=auc,binary_logloss", "max_bin=63"));
  EXPECT_EQ(options.param({"metric"}, ""), "auc,binary_logloss");
}

// Rows without quotes are split without libcsv, with which others are.
TEST(PlainRows, AreTheSameAsThoseOfQuotedFiles) {
  const BarColumns all{.prices = BarColumns::Prices::none, .own = {"*"}, .label = "y"};
  for (const char* end : {"\n", "\r\n", "\r", "\n\n", " \n\t\n"}) {
    std::string plain, quoted;
    for (const char* line : {" a , b ,y", "1, 2 ,0", ",-3,1", "4,5\t,1"}) plain += cat(line, end);
    quoted = "\"a\"" + plain.substr(plain.find(" , b") + 0);
    const Bars one = price_file(plain, "A", all), other = price_file(quoted, "A", all);
    EXPECT_EQ(one.own_names, other.own_names);
    ASSERT_EQ(one.own.size(), 6U);
    EXPECT_TRUE(std::isnan(one.own[2]) && std::isnan(other.own[2]));
    for (const std::size_t i : {0, 1, 3, 4, 5}) EXPECT_EQ(one.own[i], other.own[i]) << i;
    EXPECT_EQ(one.labels, other.labels);
  }
  EXPECT_THAT(price_file("a,y\n1,0\n2,1", "A", all).own, ElementsAre(1, 2));
  EXPECT_THAT(price_file("a,y\n1,0\n2,", "A", all).own, ElementsAre(1, 2));
}

}  // namespace
}  // namespace lockstep::gbdt
