#include "tools/report/pages/page.h"
#include "fakes/raw_controls.h"

#include <gtest/gtest.h>

#include <regex>

#include "core/media/charts/chart.h"

namespace lockstep {
namespace {

constexpr const char* hostile =
    "<script>alert(1)</script>&\"'><img src=x onerror=y> | `` **b** "
    "\x01\xff\xc2\x9b\xe2\x80\xae\xe2\x80\x8f";

Page hostile_page() {
  return {.title = hostile,
          .state = hostile,
          .subtitle = hostile,
          .sections =
              {{.title = hostile,
                .blocks = {PageText{hostile}, PageLines{hostile},
                           std::vector<PageNote>{{PageTone::bad, hostile}},
                           std::vector<PageTile>{{hostile, hostile, hostile}},
                           PageTable{{hostile, "b"}, {{hostile, "1"}}, 1, hostile},
                           std::vector<PageFigure>{
                               {.title = hostile,
                                .svg = xy_chart({.title = hostile}, {{hostile, {1, 2}, {3, 4}}}),
                                .text = "```\nplot",
                                .caption = hostile}},
                           std::vector<PagePicture>{{hostile, "data:image/png;base64,AA=="}}}}},
          .foot = hostile};
}

std::size_t times(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(HtmlPage, ShowsAnyTextAsItIs) {
  const std::string html = html_of(hostile_page());
  EXPECT_EQ(html.find("<script"), std::string::npos);
  EXPECT_EQ(html.find("<img src=x"), std::string::npos);
  EXPECT_EQ(html.find('\x01'), std::string::npos);
  EXPECT_EQ(html.find('\xff'), std::string::npos);
  EXPECT_GT(times(html, "&lt;script&gt;alert(1)"), 10U);
}

// Characters that turn the direction of writing make a name look like another.
TEST(Pages, ShowWhatTurnsTheDirectionAsEscapes) {
  for (const std::string& page : {html_of(hostile_page()), markdown_of(hostile_page())}) {
    EXPECT_FALSE(testing::has_raw_controls(page));
    EXPECT_NE(page.find("u202e"), std::string::npos);
  }
}

TEST(HtmlPage, TakesNothingFromElsewhere) {
  const std::string html = html_of(hostile_page());
  EXPECT_FALSE(std::regex_search(html, std::regex("(src|href)=\"[^\"#d]")));
  EXPECT_FALSE(std::regex_search(html, std::regex("https?://|@import|url\\((?!#)")));
}

TEST(HtmlPage, HasALookForDarkScreensNarrowOnesAndPaper) {
  const std::string html = html_of({.title = "a", .sections = {}});
  for (const char* media :
       {"prefers-color-scheme:dark", "max-width:760px", "@media print", "viewport"})
    EXPECT_NE(html.find(media), std::string::npos) << media;
}

TEST(HtmlPage, NamesWithinDrawingsAreThoseOfTheWholePage) {
  const std::string chart = xy_chart({}, {{"", {1, 2}, {3, 4}}});
  const std::vector<PageFigure> twice{{.svg = chart}, {.svg = chart}};
  const std::string html = html_of({.title = "a", .sections = {{.title = "", .blocks = {twice}}}});
  EXPECT_EQ(times(html, "id=\"d1-clip1\""), 1U);
  EXPECT_EQ(times(html, "id=\"d2-clip1\""), 1U);
  EXPECT_EQ(times(html, "url(#d2-clip1)"), 1U);
  EXPECT_EQ(html.find("\"url(#clip"), std::string::npos);
}

TEST(HtmlPage, SectionsWithoutAnythingAreLeftOut) {
  const std::string html =
      html_of({.title = "a", .sections = {{.title = "nothing in it", .blocks = {}}}});
  EXPECT_EQ(html.find("nothing in it"), std::string::npos);
}

TEST(MarkdownPage, EscapesWhatWouldBeMarkup) {
  const std::string text = markdown_of(hostile_page());
  const std::regex markup("[^\\\\]<script");
  EXPECT_EQ(std::distance(std::sregex_iterator(text.begin(), text.end(), markup), {}), 1)
      << "only between fences";
  EXPECT_NE(text.find("\\<script\\>"), std::string::npos);
  EXPECT_NE(text.find("\\*\\*b\\*\\*"), std::string::npos);
  EXPECT_NE(text.find("````\n```\nplot"), std::string::npos) << "a fence longer than those within";
}

TEST(MarkdownPage, TablesHaveAsManyCellsInEachRow) {
  const std::string text = markdown_of(
      {.title = "t",
       .sections = {
           {.title = "s", .blocks = {PageTable{{"a", "b"}, {{"1|2"}, {"3", "4"}}, 1, ""}}}}});
  EXPECT_NE(text.find("| a | b |\n|---|---:|\n| 1\\|2 |  |\n| 3 | 4 |\n"), std::string::npos)
      << text;
}

}  // namespace
}  // namespace lockstep
