#include "core/media/charts/chart.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "core/base/files/files.h"
#include "core/base/process/child_output.h"
#include "core/base/text/text.h"
#include "fakes/error_of.h"

namespace lockstep {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

// Whether Python's parser takes it.
void expect_xml(const std::string& svg) {
  const TemporaryDirectory folder;
  write_file_atomic(folder.path() / "a.svg", svg);
  const ChildOutput said = child_output(
      {"python3", "-c",
       "import sys, xml.dom.minidom as d; print(d.parse(sys.argv[1]).documentElement.tagName)",
       (folder.path() / "a.svg").string()});
  EXPECT_EQ(said.out, "svg\n") << svg.substr(0, 2000);
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(Chart, LinesHaveAxesTicksAndALegend) {
  const std::string svg =
      xy_chart({.title = "Loss", .x = {.label = "step"}, .y = {.label = "nats"}},
               {{.name = "training", .x = {0, 50, 100}, .y = {3, 2, 1}},
                {.name = "validation", .x = {0, 100}, .y = {3, 1.5}}});
  expect_xml(svg);
  for (const char* text :
       {">Loss<", ">step<", ">nats<", ">training<", ">validation<", ">100<", ">1.5<", ">3.0<"})
    EXPECT_THAT(svg, HasSubstr(text));
  // Two lines and their samples in the legend.
  EXPECT_EQ(count(svg, "<polyline"), 4u);
}

TEST(Chart, ATickAtZeroHasNoSign) {
  const std::string svg = xy_chart({.x = {.low = 0, .high = 1}, .y = {.low = 0, .high = 1}},
                                   {{.name = "", .x = {0, 1}, .y = {0, 1}}});
  EXPECT_THAT(svg, HasSubstr(">0.0<"));
  EXPECT_THAT(svg, Not(HasSubstr("-0")));
}

TEST(Chart, HeatHasAFieldForEachNumber) {
  const std::string svg = heat_chart(
      {.title = "AUC"},
      {.rows = {"A", "B"}, .columns = {"first", "second"}, .values = {0.5, 1, nan_value, -3}});
  expect_xml(svg);
  EXPECT_EQ(count(svg, "B, first"), 0u);
  EXPECT_THAT(svg, HasSubstr("A, first: 0.5"));
  EXPECT_THAT(svg, HasSubstr("#ffffff"));
  EXPECT_THAT(svg, HasSubstr("#0072b2"));
  EXPECT_THAT(svg, HasSubstr("#d55e00"));
  EXPECT_THAT(heat_chart({}, {}), HasSubstr("no data"));
  EXPECT_NE(error_of([] { heat_chart({}, {.rows = {"A"}, .columns = {"a"}}); }), "");
}

TEST(Chart, ALineAloneNeedsNoLegend) {
  const std::string svg = xy_chart({}, {{.name = "only", .x = {0, 1}, .y = {0, 1}}});
  EXPECT_THAT(svg, Not(HasSubstr(">only<")));
}

TEST(Chart, PointsLieWhereTheyBelong) {
  const std::string svg =
      xy_chart({.x = {.low = 0, .high = 10}, .y = {.low = 0, .high = 10}},
               {{.name = "", .x = {0, 10}, .y = {0, 10}, .mark = Mark::points}});
  // The corners of the plot area: below left and above right.
  EXPECT_THAT(svg, HasSubstr("<circle cx=\"62\" cy=\"370\""));
  EXPECT_THAT(svg, HasSubstr("<circle cx=\"700\" cy=\"16\""));
}

TEST(Chart, GapsBreakALine) {
  const std::string svg =
      xy_chart({}, {{.name = "", .x = {0, 1, 2, 3, 4}, .y = {1, 2, nan_value, 2, 1}}});
  EXPECT_EQ(count(svg, "<polyline"), 2u);
}

TEST(Chart, IntervalsAreBandsAroundLinesAndBarsAtPoints) {
  XySeries series{.name = "", .x = {0, 1}, .y = {1, 2}, .low = {0, 1}, .high = {2, 3}};
  EXPECT_EQ(count(xy_chart({}, {series}), "<polygon"), 1u);
  series.mark = Mark::points;
  const std::string svg = xy_chart({}, {series});
  EXPECT_EQ(count(svg, "<polygon"), 0u);
  EXPECT_EQ(count(svg, "stroke=\"#0072b2\""), 6u) << "a line and two ends each";
}

TEST(Chart, LogarithmicAxesShowDecadesAndLeaveOutZero) {
  const std::string svg =
      xy_chart({.x = {.log = true}, .y = {.log = true}},
               {{.name = "", .x = {0, 1, 1000, 1e6}, .y = {1, 1e-3, 1, -1}, .mark = Mark::points}});
  expect_xml(svg);
  EXPECT_EQ(count(svg, "<circle"), 2u);
  for (const char* tick : {">1<", ">1e+03<", ">0.001<"}) EXPECT_THAT(svg, HasSubstr(tick));
}

TEST(Chart, ManyPointsMakeASmallFileThatKeepsEveryPeak) {
  XySeries series{.name = ""};
  for (int i = 0; i < 200000; ++i) {
    series.x.push_back(i);
    series.y.push_back(i == 123456 ? 100 : i % 7);
  }
  const std::string svg = xy_chart({.y = {.low = 0, .high = 100}}, {series});
  EXPECT_LT(svg.size(), 100000u);
  EXPECT_THAT(svg, HasSubstr(",16 ")) << "the peak reaches the upper rim";
}

TEST(Chart, BarsHaveCategoriesAndIntervals) {
  const std::string svg =
      bar_chart({.title = "AP"}, {"chess", "face"},
                {{.name = "ours", .values = {0.5, 0.4}, .low = {0.4, 0.3}, .high = {0.6, 0.5}},
                 {.name = "before", .values = {0.2, nan_value}}});
  expect_xml(svg);
  EXPECT_THAT(svg, HasSubstr("<title>chess, ours: 0.5</title>"));
  EXPECT_THAT(svg, HasSubstr(">face<"));
  // The sheet, the clip and three bars: one has no value.
  EXPECT_EQ(count(svg, "<rect"), 5u);
}

TEST(Chart, BarsBelowZeroHangFromIt) {
  const std::string svg =
      bar_chart({.y = {.low = -1, .high = 1}}, {"a", "b"}, {{.name = "", .values = {-1, 1}}});
  EXPECT_THAT(svg, HasSubstr("y=\"193\" width=\"255.2\" height=\"177\""));
  EXPECT_THAT(svg, HasSubstr("y=\"16\" width=\"255.2\" height=\"177\""));
}

TEST(Chart, IntervalsHaveARowEach) {
  const std::string svg =
      interval_chart({.x = {.label = "F1"}},
                     {{"english", {0.5, 0.6, 0.7}}, {"russian", {nan_value, 0.3, nan_value}}});
  expect_xml(svg);
  EXPECT_THAT(svg, HasSubstr("english: 0.6 (0.5 to 0.7)"));
  EXPECT_EQ(count(svg, "<circle"), 2u);
}

TEST(Chart, GanttSpansHaveTheColourOfTheirKind) {
  const std::string svg = gantt_chart({.title = "A step", .x = {.label = "ms"}},
                                      {{"GPU 0", {{0, 4, "forward"}, {4, 9, "backward"}}},
                                       {"GPU 1", {{1, 5, "forward", "late <start>"}}}});
  expect_xml(svg);
  EXPECT_EQ(count(svg, "fill=\"#0072b2\""), 2u);
  EXPECT_EQ(count(svg, "fill=\"#e69f00\""), 1u);
  EXPECT_THAT(svg, HasSubstr("<title>late &lt;start&gt;</title>"));
  EXPECT_THAT(svg, HasSubstr(">GPU 1<"));
}

TEST(Chart, PanelsStandBelowEachOther) {
  const XySeries line{.name = "only", .x = {0, 1}, .y = {0, 1}};
  const std::string svg =
      xy_panels("both", {{{.title = "first \"url(#clip\"", .height = 300}, {line}},
                         {{.title = "second", .height = 200}, {line}}});
  expect_xml(svg);
  EXPECT_THAT(svg, HasSubstr("width=\"720\" height=\"500\""));
  EXPECT_THAT(svg, HasSubstr("<svg y=\"0\""));
  EXPECT_THAT(svg, HasSubstr("<svg y=\"300\""));
  for (const char* area : {"panel0-clip1", "panel1-clip1"}) {
    EXPECT_EQ(count(svg, std::string("id=\"") + area + "\""), 1U);
    EXPECT_EQ(count(svg, std::string("\"url(#") + area + ")\""), 1U);
  }
  expect_xml(xy_panels("none", {}));
}

TEST(Chart, TextsAreEscaped) {
  const std::string nasty = "</text><script>&\"'\x01\xff\xed\xa0\x80\ufffe";
  const std::string svg =
      xy_chart({.title = nasty, .x = {.label = nasty}, .y = {.label = nasty}},
               {{.name = nasty, .x = {1}, .y = {1}}, {.name = nasty, .x = {}, .y = {}}});
  expect_xml(svg);
  EXPECT_THAT(svg, Not(HasSubstr("<script>")));
  expect_xml(bar_chart({}, {nasty}, {{.name = nasty, .values = {1}}}));
  expect_xml(gantt_chart({}, {{nasty, {{0, 1, nasty, nasty}}}}));
  expect_xml(interval_chart({}, {{nasty, {0, 1, 2}}}));
}

TEST(Chart, NothingToShowIsSaid) {
  for (const std::string& svg :
       {xy_chart({}, {}), xy_chart({}, {{.name = "", .x = {nan_value}, .y = {1}}}),
        bar_chart({}, {}, {}), bar_chart({}, {"a"}, {{.name = "", .values = {INFINITY}}}),
        interval_chart({}, {}), gantt_chart({}, {})}) {
    expect_xml(svg);
    EXPECT_THAT(svg, HasSubstr(">no data<"));
  }
}

TEST(Chart, AnyNumbersCanBeDrawn) {
  const double most = std::numeric_limits<double>::max(), least = 5e-324;
  for (const bool log : {false, true})
    for (const auto& pair : {std::pair{-most, most},
                             {least, most},
                             {1.0, 1.0 + 1e-15},
                             {0.0, 0.0},
                             {least, least},
                             {1e299, 1e300},
                             {-1e300, 1e300},
                             {1e17, 1e17 + 16}}) {
      const std::vector<double> values{pair.first, pair.second};
      for (const Mark mark : {Mark::line, Mark::points}) {
        const std::string svg = xy_chart(
            {.x = {.log = log}, .y = {.log = log}},
            {{.name = "", .x = values, .y = values, .low = values, .high = values, .mark = mark}});
        EXPECT_THAT(svg, Not(HasSubstr("nan")));
        EXPECT_THAT(svg, Not(HasSubstr("inf")));
        EXPECT_LT(svg.size(), 50000u);
      }
    }
}

TEST(Chart, RefusesListsThatDoNotBelongTogether) {
  EXPECT_EQ(error_of([] {
              xy_chart({}, {{.name = "loss", .x = {1, 2}, .y = {1}}});
            }),
            "y of series \"loss\" of a chart must have 2 values, but has 1 | ");
  error_of([] { xy_chart({}, {{.name = "", .x = {1}, .y = {1}, .low = {1}}}); });
  error_of([] { bar_chart({}, {"a", "b"}, {{.name = "", .values = {1}}}); });
}

}  // namespace
}  // namespace lockstep
