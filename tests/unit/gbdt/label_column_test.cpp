// Columns of a file as classes, numbers and groups, with and without a time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "recipes/gbdt/bars/bars.h"
#include "recipes/gbdt/bars/made_table.h"

namespace lockstep::gbdt {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Prices = BarColumns::Prices;

Bars parse_labelled(const std::string& text, LabelKind kind, BarColumns columns = {}) {
  columns.prices = Prices::none;
  columns.own = {"*"};
  columns.label = "kind";
  columns.label_kind = kind;
  return parse_bars(text, "A.csv", "A", columns);
}

std::string labelled_fault(const std::string& text, LabelKind kind,
                           const BarColumns& columns = {}) {
  try {
    parse_labelled(text, kind, columns);
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(Labels, OfClassesAreInTheOrderOfTheirNumbersOrTexts) {
  const Bars numbers = parse_labelled("x,kind\n1,10\n2,9\n3,9.0\n4,\n", LabelKind::classes);
  EXPECT_THAT(numbers.classes, ElementsAre("9", "10"));
  EXPECT_EQ(numbers.labels[0], 1);
  EXPECT_EQ(numbers.labels[2], 0);
  EXPECT_TRUE(std::isnan(numbers.labels[3]));
  const Bars texts = parse_labelled("x,kind\n1,b\n2,10\n3,9\n", LabelKind::classes);
  EXPECT_THAT(texts.classes, ElementsAre("10", "9", "b"));
}

TEST(Labels, AreMissingOnlyWhereTheWholeCellSaysSo) {
  const Bars bars = parse_labelled("x,kind\n1,NA1\n2,nan-2\n3,NA1\n4, n/a \n5,NaN\n6,-\n7,<NA>\n",
                                   LabelKind::classes);
  EXPECT_THAT(bars.classes, ElementsAre("NA1", "nan-2"));
  EXPECT_EQ(bars.labels[2], 0);
  for (std::size_t row = 3; row < 7; ++row) EXPECT_TRUE(std::isnan(bars.labels[row])) << row;
  EXPECT_THAT(bars.notes, ElementsAre("4 rows have no kind, which is the label"));
}

TEST(Labels, OfTwoClassesAreZeroAndOneOrAnyTwo) {
  EXPECT_THAT(parse_labelled("x,kind\n1,1\n2,1.0\n", LabelKind::two_classes).classes,
              ElementsAre("0", "1"));
  const Bars texts = parse_labelled("x,kind\n1,yes\n2,no\n", LabelKind::two_classes);
  EXPECT_THAT(texts.classes, ElementsAre("no", "yes"));
  EXPECT_THAT(texts.labels, ElementsAre(1, 0));
  EXPECT_THAT(labelled_fault("x,kind\n1,0\n2,1\n3,2\n", LabelKind::two_classes),
              HasSubstr("A.csv, line 4: the label kind is 2, but must be 0 or 1"));
}

TEST(Labels, ThatAreNumbersMakeNoClasses) {
  std::string text = "x,kind\n";
  for (int i = 0; i < 60; ++i) text += cat(i, ",", i * 0.37, "\n");
  EXPECT_THAT(labelled_fault(text, LabelKind::classes),
              HasSubstr("60 different values in 60 rows"));
  EXPECT_EQ(parse_labelled(text, LabelKind::number).labels[2], 0.74);
  std::string twice = "x,kind\n";
  for (int i = 0; i < 88; ++i) twice += cat(i, ",", i % 22, "\n");
  EXPECT_THAT(labelled_fault(twice, LabelKind::classes),
              HasSubstr("22 different values in 88 rows"));
  EXPECT_THAT(labelled_fault("x,kind\n1,a\n", LabelKind::number),
              HasSubstr("kind is 'a', which is no"));
}

TEST(Labels, OfATrainedModelAreItsClasses) {
  const BarColumns known{.classes = {"a", "b", "c"}};
  EXPECT_THAT(parse_labelled("x,kind\n1,c\n", LabelKind::classes, known).labels, ElementsAre(2));
  EXPECT_THAT(
      labelled_fault("x,kind\n1,d\n", LabelKind::classes, known),
      HasSubstr("A.csv, line 2: the label kind is d, which is none of the model's classes"));
  const BarColumns without{.classes = {"a", "b"}, .label_optional = true};
  const Bars none = parse_labelled("x\n1\n", LabelKind::classes, without);
  EXPECT_TRUE(none.labels.empty());
  EXPECT_THAT(none.classes, ElementsAre("a", "b"));
  const Bars unknown = parse_labelled("x,kind\n1,b\n2,?\n3,\n", LabelKind::classes, without);
  EXPECT_EQ(unknown.labels[0], 1);
  EXPECT_TRUE(std::isnan(unknown.labels[1]));
  EXPECT_THAT(unknown.notes, ElementsAre("2 rows have no kind, which is the label"));
  const Bars numbers = parse_labelled("x,kind\n1,2.5\n2,?\n", LabelKind::number, without);
  EXPECT_EQ(numbers.labels[0], 2.5);
  EXPECT_TRUE(std::isnan(numbers.labels[1]));
}

TEST(Time, IsNotNeededWithoutPrices) {
  const Bars bars = parse_labelled("x,kind\n1,0\n2,1\n", LabelKind::number);
  EXPECT_TRUE(bars.timeless);
  EXPECT_THAT(bars.stamps, ElementsAre("1", "2"));
  EXPECT_THAT(bars.own_names, ElementsAre("x"));
  const BarColumns none{.time = "none"};
  EXPECT_THAT(parse_labelled("time,kind\n4,0\n3,1\n", LabelKind::number, none).own_names,
              ElementsAre("time"));
  EXPECT_THAT(labelled_fault("time,kind\n4,0\n3,1\n", LabelKind::number),
              HasSubstr("no date or time"));
  const BarColumns named{.time = "when"};
  EXPECT_FALSE(parse_labelled("when,kind\n2020-01-01,0\n", LabelKind::number, named).timeless);
}

TEST(Groups, AreRowsThatStandTogether) {
  const BarColumns columns{.group = "q"};
  const Bars bars = parse_labelled("q,x,kind\na,1,0\na,2,1\nb,3,0\n", LabelKind::number, columns);
  EXPECT_THAT(bars.groups, ElementsAre(0, 0, 1));
  EXPECT_THAT(bars.group_names, ElementsAre("a", "b"));
  EXPECT_THAT(bars.own_names, ElementsAre("x"));
  EXPECT_THAT(labelled_fault("q,x,kind\na,1,0\nb,2,1\na,3,0\n", LabelKind::number, columns),
              HasSubstr("A.csv, line 4: the group a began in line 2 and comes again"));
  EXPECT_THAT(labelled_fault("q,x,kind\na,1,0\n,2,1\n", LabelKind::number, columns),
              HasSubstr("A.csv, line 3: no q"));
  // Rows of a group may be of one time.
  const std::string day = "date,q,x,kind\n2020-01-01,7,1,0\n2020-01-01,7,2,1\n";
  EXPECT_EQ(parse_labelled(day, LabelKind::number, columns).size(), 2u);
  EXPECT_THAT(labelled_fault(day, LabelKind::number), HasSubstr("was in line 2 already"));
}

TEST(MadeTable, HasALabelForEachObjective) {
  const Bars numbers = make_table("M", {.rows = 40, .label = MadeLabel::number, .seed = 1});
  EXPECT_EQ(numbers.size(), 40u);
  EXPECT_EQ(numbers.own.size(), 40 * made_columns);
  EXPECT_TRUE(numbers.timeless);
  const Bars again = make_table("M", {.rows = 20, .label = MadeLabel::three_classes, .seed = 1});
  EXPECT_EQ(again.own[30], numbers.own[30]);  // a shorter one begins as a longer one
  EXPECT_EQ(again.labels[0], numbers.labels[0] > 0.6 ? 2 : numbers.labels[0] < -0.6 ? 0 : 1);
  const Bars ranked = make_table("M", {.rows = 25, .label = MadeLabel::relevance, .seed = 1});
  EXPECT_EQ(ranked.groups.back(), 2);
  EXPECT_EQ(ranked.group_names.size(), 3u);
  EXPECT_NE(make_table("N", {.rows = 20, .seed = 1}).own[0], numbers.own[0]);
}

}  // namespace
}  // namespace lockstep::gbdt
