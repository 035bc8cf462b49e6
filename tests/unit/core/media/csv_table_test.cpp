#include "core/media/csv_table.h"

#include <gmock/gmock.h>

#include <cmath>

#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "fakes/error_of.h"

namespace lockstep {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

CsvTable parsed(std::string_view text, char separator = '\0') {
  return parse_csv(text, "a.csv", {.separator = separator});
}
std::string refusal(std::string_view text) {
  return error_of([&] { parsed(text); });
}

TEST(CsvTable, HasNamesRowsAndTheirLines) {
  const CsvTable table =
      parsed("id,name,size\n1,\"a, b\",3.5\n\n2,\"say \"\"x\"\"\ntwice\",\n3,c,0\n");
  EXPECT_THAT(table.columns, ElementsAre("id", "name", "size"));
  ASSERT_EQ(table.rows.size(), 3U);
  EXPECT_THAT(table.rows[0], ElementsAre("1", "a, b", "3.5"));
  EXPECT_THAT(table.rows[1], ElementsAre("2", "say \"x\"\ntwice", ""));
  EXPECT_THAT(table.lines, ElementsAre(2, 4, 6));
  EXPECT_EQ(table.place(2), "a.csv, line 6");
}

TEST(CsvTable, TakesWhatSpreadsheetsWrite) {
  for (const char* text : {"\xEF\xBB\xBF"
                           "a;b\r\n1,5;2\r\n",
                           "a\tb\n1,5\t2", "a|b\r1,5|2\r", " a ; b \n 1,5 ; \"2\" \n  \n"}) {
    const CsvTable table = parsed(text);
    EXPECT_THAT(table.columns, ElementsAre("a", "b")) << text;
    ASSERT_EQ(table.rows.size(), 1U) << text;
    EXPECT_THAT(table.rows[0], ElementsAre("1,5", "2")) << text;
    EXPECT_THAT(table.lines, ElementsAre(2)) << text;
  }
  EXPECT_THAT(parsed("a;b,c\n1;2,3\n", ',').columns, ElementsAre("a;b", "c"));
  EXPECT_THAT(parsed("only\n\" x\"\n").rows[0], ElementsAre(" x"));
  EXPECT_THAT(parsed("a\tb\n\tx\n").rows[0], ElementsAre("", "x"));
  EXPECT_TRUE(parsed("a,b\n").rows.empty());
}

TEST(CsvTable, MayHaveNoNamesAndBeginLaterInItsFile) {
  const ReadCsv how{.names = false, .first_line = 3};
  const CsvTable table = parse_csv(",a,a\n1,2,3\n", "a.csv", how);
  EXPECT_THAT(table.columns, ElementsAre("1", "2", "3"));
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_THAT(table.rows[0], ElementsAre("", "a", "a"));
  EXPECT_THAT(table.lines, ElementsAre(3, 4));
  EXPECT_THAT(error_of([&] { parse_csv("a,b\n1\n", "a.csv", how); }),
              HasSubstr("line 4 has 1 cells, but there are 2 columns"));
  EXPECT_EQ(likely_separator("a;b,c;d"), ';');
}

TEST(CsvTable, RefusesWhatIsNoTableByItsLine) {
  EXPECT_THAT(refusal(""), HasSubstr("a.csv holds no line of names"));
  EXPECT_THAT(refusal("a,b\n1,2\n\n3\n"), HasSubstr("a.csv: line 4 has 1 cells, but there are 2"));
  EXPECT_THAT(refusal("a,b\n\"1\n2\",3\n4,5,6"), HasSubstr("line 4 has 3 cells"));
  EXPECT_THAT(refusal("a,b\n1,\"2\n3,4\n"), HasSubstr("a.csv, line 2: quotes that do not fit"));
  EXPECT_THAT(refusal("a,b\n1,2\"x\"\n"), HasSubstr("a.csv, line 2: quotes that do not fit"));
  EXPECT_THAT(refusal("a,,b\n"), HasSubstr("column 2 has no name"));
  EXPECT_THAT(refusal("a,b,a\n"), HasSubstr("two columns are named a"));
}

TEST(CsvTable, FindsColumnsAndNumbers) {
  const CsvTable table = parsed("size,colour\n 1e-3 ,red\n,NA\n+2,x\n");
  EXPECT_EQ(table.column("colour"), 1U);
  const auto column = [&](const char* name) { return error_of([&] { table.column(name); }); };
  EXPECT_THAT(column("color"), HasSubstr("a.csv has no column color"));
  EXPECT_THAT(column("color"), HasSubstr("the nearest of its columns is colour; all: "));
  EXPECT_THAT(column("weight"), HasSubstr("size, colour"));
  EXPECT_EQ(table.number(0, 0), 1e-3);
  EXPECT_EQ(table.number(1, 0), std::nullopt);
  EXPECT_EQ(table.number(2, 0), 2);
  EXPECT_THAT(error_of([&] { table.number(1, 1); }),
              HasSubstr("a.csv, line 3: colour is 'NA', which is no number"));
  for (const char* text : {"", " ", "1 2", "0x10", "1,5", "+-1", "--1", "1e999"})
    EXPECT_EQ(to_number(text), std::nullopt) << text;
  EXPECT_TRUE(std::isnan(*to_number("NaN")));
  EXPECT_EQ(to_number("-inf"), -INFINITY);
}

TEST(CsvTable, ReadsEachCellBackAsItWas) {
  for (const std::string text :
       {"plain", " blanks ", "a,b", "\"x\"", "two\nlines", "\xEF\xBB\xBFx"})
    EXPECT_EQ(parse_csv(csv_cell(text) + "\n", "t.csv").columns.at(0), text);
  EXPECT_EQ(csv_cell("plain"), "plain");
}

TEST(CsvTable, OfAFileIsReadWithinItsLimit) {
  const TemporaryDirectory folder;
  const auto path = folder.path() / "t.csv";
  write_file_atomic(path, "a,b\n1,2\n");
  EXPECT_EQ(read_csv(path).name, "t.csv");
  EXPECT_THAT(error_of([&] { read_csv(path, {.file_bytes = 4}); }), HasSubstr("8 B"));
  EXPECT_THAT(error_of([&] { read_csv(folder.path() / "no.csv"); }), HasSubstr("no.csv"));
}

}  // namespace
}  // namespace lockstep
