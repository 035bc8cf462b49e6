// The picture, the page, the terminal and the tables.
#include <gmock/gmock.h>

#include "recipes/dimabsa/sentences/files/sentence_errors.h"
#include "recipes/dimabsa/sentences/pages/highlight.h"
#include "recipes/dimabsa/sentences/pages/html_page.h"
#include "recipes/dimabsa/sentences/pages/terminal_text.h"
#include "recipes/dimabsa/sentences/pages/va_chart.h"
#include "recipes/dimabsa/sentences/scores/breakdown.h"

namespace lockstep::dimabsa {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Tuple tuple_of(const char* aspect, const char* opinion, double valence, double arousal,
               const char* category = "FOOD#QUALITY") {
  return {.aspect = aspect,
          .opinion = opinion,
          .category = category,
          .va = ValenceArousal{valence, arousal}};
}

const Sentence& about_soup() {
  static const Sentence sentence{
      .id = "1",
      .text = "The soup was great, the waiter forgot us.",
      .tuples = {tuple_of("soup", "great", 7.8, 6.8),
                 tuple_of("waiter", "NULL", 2.6, 6.4, "SERVICE#GENERAL")}};
  return sentence;
}

Aligned pair(std::vector<Tuple> predicted) {
  return {.gold = {about_soup()},
          .predicted = {{.id = "1", .text = about_soup().text, .tuples = std::move(predicted)}}};
}

std::string parts_of(std::string_view text, const std::vector<Tuple>& tuples) {
  std::string shown;
  for (const MarkedPart& part : marked_parts(text, tuples)) {
    shown += "|" + std::string(part.range.of(text));
    for (const std::size_t i : part.aspects) shown += "<a" + std::to_string(i);
    for (const std::size_t i : part.opinions) shown += "<o" + std::to_string(i);
  }
  return shown;
}

TEST(Highlight, CutsTheTextAtPhrases) {
  EXPECT_EQ(
      parts_of("good soup", {tuple_of("soup", "good", 5, 5), tuple_of("good soup", "NULL", 5, 5)}),
      "|good<a1<o0| <a1|soup<a0<a1");
  EXPECT_EQ(parts_of("good soup", {tuple_of("bread", "NULL", 5, 5)}), "|good soup");
  EXPECT_EQ(parts_of("ÉTÉ", {tuple_of("été", "", 5, 5)}), "|ÉTÉ<a0");
  EXPECT_EQ(parts_of("", {}), "");
}

TEST(TerminalText, HasBracketsWithoutColour) {
  EXPECT_EQ(terminal_text(Task::quadruplets, about_soup(), false),
            "The [soup]1 was {great}1, the [waiter]2 forgot us.\n"
            "  1  soup · great  FOOD#QUALITY  valence 7.80  arousal 6.80\n"
            "  2  waiter · NULL  SERVICE#GENERAL  valence 2.60  arousal 6.40\n");
  EXPECT_EQ(terminal_text(Task::triplets, {.id = "", .text = "It rained."}, false), "It rained.\n");
}

TEST(TerminalText, NamesAllTuplesOfAPhrase) {
  const Sentence sentence{
      .id = "1",
      .text = "good soup",
      .tuples = {tuple_of("soup", "good", 5, 5), tuple_of("soup", "NULL", 5, 5)}};
  EXPECT_THAT(terminal_text(Task::triplets, sentence, false), HasSubstr("{good}1 [soup]1,2\n"));
}

TEST(TerminalText, HasColoursOnATerminal) {
  EXPECT_THAT(terminal_text(Task::triplets, about_soup(), true),
              HasSubstr("The \033[36msoup\033[0m\033[2m1\033[0m was \033[33mgreat\033[0m"));
}

TEST(TerminalText, LetsNoControlCharacterThrough) {
  const Sentence sentence{.id = "1",
                          .text = "a \033[31m soup",
                          .tuples = {tuple_of("soup", "\033[31m", 5, 5, "X\033Y")}};
  EXPECT_THAT(terminal_text(Task::quadruplets, sentence, false), Not(HasSubstr("\033")));
}

TEST(VaChart, DrawsALineForAMatchAndAPointForTheRest) {
  const std::string svg = va_chart(
      Task::quadruplets, pair({tuple_of("soup", "great", 7, 6), tuple_of("bread", "good", 7, 6)}));
  EXPECT_THAT(svg, HasSubstr("<svg"));
  EXPECT_THAT(svg, HasSubstr("1: soup · great"));
  EXPECT_THAT(svg, HasSubstr("1, missed: waiter · NULL"));
  EXPECT_THAT(svg, HasSubstr("1, spurious: bread · good"));
  EXPECT_THAT(svg, Not(HasSubstr("no data")));
  EXPECT_THAT(va_chart(Task::triplets, {}), HasSubstr("no data"));
}

TEST(VaChart, EscapesAndSaysWhatItLeavesOut) {
  const std::string svg = va_chart(Task::quadruplets, pair({tuple_of("<b>", "&", 7, 6)}), 2);
  EXPECT_THAT(svg, HasSubstr("2 of 3 tuples"));
  EXPECT_THAT(svg, Not(HasSubstr("<b>")));
}

TEST(HtmlPage, HighlightsGoldAndPrediction) {
  const std::string html =
      html_page(Task::quadruplets,
                pair({tuple_of("soup", "great", 7.8, 5.8), tuple_of("us", "forgot", 2, 6)}));
  EXPECT_THAT(html, HasSubstr("<mark class=\"ga pa\">soup</mark>"));
  EXPECT_THAT(html, HasSubstr("<mark class=\"go po\">great</mark>"));
  EXPECT_THAT(html, HasSubstr("<mark class=\"ga\">waiter</mark>"));
  EXPECT_THAT(html, HasSubstr("<mark class=\"po\">forgot</mark>"));
  EXPECT_THAT(html, HasSubstr("<td class=\"matched\">matched</td><td>soup</td><td>great</td>"
                              "<td>FOOD#QUALITY</td><td>7.80 6.80</td><td>7.80 5.80</td>"
                              "<td>1.00</td>"));
  EXPECT_THAT(html, HasSubstr("<td class=\"missed\">missed</td><td>waiter</td>"));
  EXPECT_THAT(html, HasSubstr("<td class=\"spurious\">spurious</td><td>us</td>"));
}

TEST(HtmlPage, EscapesEverything) {
  Aligned aligned = pair({tuple_of("<script>", "\"&", 5, 5, "<i>")});
  aligned.gold[0].id = "<b>";
  aligned.gold[0].text = "a <script> & \"b\"";
  const std::string html = html_page(Task::quadruplets, aligned, {.title = "</title><script>"});
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_THAT(html, Not(HasSubstr("<b>")));
  EXPECT_THAT(html, Not(HasSubstr("<i>")));
  EXPECT_THAT(html, HasSubstr("a <mark class=\"pa\">&lt;script&gt;</mark>"));
}

TEST(HtmlPage, OfPredictionsWithoutGoldCallsNothingSpurious) {
  Aligned aligned = pair({tuple_of("soup", "great", 5, 5)});
  aligned.gold[0].tuples.clear();
  const std::string html = html_page(Task::triplets, aligned, {.compare = false});
  EXPECT_THAT(html, Not(HasSubstr("\">spurious")));
  EXPECT_THAT(html, HasSubstr("<td class=\"predicted\">predicted</td><td>soup</td>"));
}

TEST(HtmlPage, SaysHowManySentencesItLeavesOut) {
  Aligned aligned = pair({});
  aligned.gold.push_back(aligned.gold[0]);
  aligned.predicted.push_back(aligned.predicted[0]);
  EXPECT_THAT(
      html_page(Task::triplets, aligned, {.language = "jpn", .most = 1}),
      ::testing::AllOf(HasSubstr("The first 1 of 2 sentences."), HasSubstr("<html lang=\"ja\">")));
}

TEST(ErrorTable, HasARowPerSentence) {
  const ItemTable table =
      error_table(Task::quadruplets,
                  pair({tuple_of("soup", "great", 7.8, 5.8), tuple_of("bread", "good", 5, 5)}));
  EXPECT_EQ(fault_of(table), "");
  ASSERT_EQ(table.rows.size(), 1u);
  const auto& row = table.rows[0];
  EXPECT_EQ(row[0], Cell("1"));
  EXPECT_EQ(row[1], Cell(std::int64_t{2}));
  EXPECT_EQ(row[2], Cell(std::int64_t{2}));
  EXPECT_EQ(row[3], Cell(std::int64_t{1}));
  EXPECT_EQ(row[5], Cell("waiter · NULL · SERVICE#GENERAL · 2.60#6.40"));
  EXPECT_EQ(row[6], Cell("bread · good · FOOD#QUALITY · 5.00#5.00"));
  EXPECT_NEAR(std::get<double>(row[7]), 1, 1e-12);
  EXPECT_EQ(row[9], Cell(about_soup().text));
}

TEST(ErrorTable, HasNoDistanceWithoutAMatch) {
  const ItemTable table = error_table(Task::triplets, pair({}));
  EXPECT_EQ(table.rows[0][7], Cell(std::monostate{}));
  EXPECT_EQ(table.rows[0][8], Cell(std::monostate{}));
}

TEST(Breakdown, KeepsNullApart) {
  const Aligned aligned{
      .gold = {{.id = "1",
                .text = "",
                .tuples = {tuple_of("NULL", "good", 5, 5), tuple_of("soup", "NULL", 5, 5),
                           tuple_of("NULL", "NULL", 5, 5), tuple_of("soup", "good", 5, 5)}}},
      .predicted = {{.id = "1",
                     .text = "",
                     .tuples = {tuple_of("null", "good", 5, 5), tuple_of("soup", "good", 5, 5),
                                tuple_of("bread", "good", 5, 5)}}}};
  const auto groups = by_null(Task::triplets, aligned);
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(groups[0].name, "aspect NULL");
  EXPECT_EQ(groups[0].scores.tuples.gold, 2);
  EXPECT_EQ(groups[0].scores.tuples.matched, 1);
  EXPECT_EQ(groups[1].scores.tuples.gold, 2);
  EXPECT_EQ(groups[1].scores.tuples.predicted, 0);
  EXPECT_EQ(groups[2].name, "without NULL");
  EXPECT_EQ(groups[2].scores.tuples.gold, 1);
  EXPECT_EQ(groups[2].scores.tuples.predicted, 2);
  EXPECT_EQ(groups[2].scores.tuples.matched, 1);
  EXPECT_EQ(by_null(Task::aspects, aligned).size(), 2u);
}

TEST(Breakdown, ByCategoryAddsUpToTheWhole) {
  const Aligned aligned{
      .gold = {{.id = "1",
                .text = "",
                .tuples = {tuple_of("a", "b", 5, 5, "X#Y"), tuple_of("c", "d", 5, 5, "A#B")}}},
      .predicted = {
          {.id = "1",
           .text = "",
           .tuples = {tuple_of("a", "b", 5, 5, "x#y"), tuple_of("c", "d", 5, 5, "Z#Z")}}}};
  const auto groups = by_category(Task::quadruplets, aligned);
  std::vector<std::string> names;
  TupleSums sum;
  for (const auto& [name, scores] : groups) {
    names.push_back(name);
    sum += scores.tuples;
  }
  EXPECT_THAT(names, ElementsAre("A#B", "X#Y", "Z#Z"));
  EXPECT_EQ(sum.gold, 2);
  EXPECT_EQ(sum.predicted, 2);
  EXPECT_EQ(sum.matched, 1);
  EXPECT_TRUE(by_category(Task::triplets, aligned).empty());
  const ItemTable table = group_table(Task::quadruplets, groups);
  EXPECT_EQ(fault_of(table), "");
  EXPECT_EQ(table.rows[1][0], Cell("X#Y"));
  EXPECT_EQ(table.rows[1][4], Cell(1.0));
}

}  // namespace
}  // namespace lockstep::dimabsa
