// Charts of lines, points, bands and error bars over two numeric axes.
#include <algorithm>
#include <cmath>

#include "core/base/text/text.h"
#include "core/media/charts/chart_sheet.h"

namespace lockstep {
namespace {

constexpr double faint_opacity = 0.35;

struct Scales {
  ChartScale x, y;
};

void check_xy(const XySeries& one) {
  const auto of = [&](const char* list) { return cat(list, " of series \"", one.name, "\""); };
  check_length(of("y"), one.y.size(), one.x.size());
  check_length(of("low"), one.low.size(), one.x.size(), true);
  check_length(of("high"), one.high.size(), one.low.size());
}

// Consecutive points that can be drawn, split at gaps.
std::vector<std::vector<SvgPoint>> runs_of(const Scales& scales, const std::vector<double>& x,
                                           const std::vector<double>& y) {
  std::vector<std::vector<SvgPoint>> runs(1);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (scales.x.has(x[i]) && scales.y.has(y[i]))
      runs.back().emplace_back(scales.x.place(x[i]), scales.y.place(y[i]));
    else if (!runs.back().empty())
      runs.emplace_back();
  }
  return runs;
}

// Keeps the first, lowest, highest and last point in each column of pixels. The drawn picture does
// not change.
std::vector<SvgPoint> thinned(const std::vector<SvgPoint>& points) {
  constexpr std::size_t few = 2000;
  if (points.size() <= few) return points;
  std::vector<SvgPoint> kept;
  for (std::size_t begin = 0, end = 0; begin < points.size(); begin = end) {
    std::size_t low = begin, high = begin;
    for (end = begin;
         end < points.size() && std::floor(points[end].first) == std::floor(points[begin].first);
         ++end) {
      if (points[end].second < points[low].second) low = end;
      if (points[end].second > points[high].second) high = end;
    }
    std::size_t before = points.size();
    for (const std::size_t i : {begin, std::min(low, high), std::max(low, high), end - 1}) {
      if (i != before) kept.push_back(points[i]);
      before = i;
    }
  }
  return kept;
}

void draw_band(Svg& svg, const Scales& scales, const XySeries& one, Colour colour) {
  std::vector<SvgPoint> above, below;
  const auto close = [&] {
    std::vector<SvgPoint> outline = thinned(above);
    const std::vector<SvgPoint> back = thinned(below);
    outline.insert(outline.end(), back.rbegin(), back.rend());
    svg.area(outline, hex(colour), 0.2);
    above.clear();
    below.clear();
  };
  for (std::size_t i = 0; i < one.x.size(); ++i) {
    if (scales.x.has(one.x[i]) && scales.y.has(one.low[i]) && scales.y.has(one.high[i])) {
      above.emplace_back(scales.x.place(one.x[i]), scales.y.place(one.high[i]));
      below.emplace_back(scales.x.place(one.x[i]), scales.y.place(one.low[i]));
    } else {
      close();
    }
  }
  close();
}

void draw_error_bar(Svg& svg, const Scales& scales, const XySeries& one, std::size_t i,
                    Colour colour) {
  constexpr double end = 4;
  if (one.low.empty() || !scales.x.has(one.x[i]) || !scales.y.has(one.low[i]) ||
      !scales.y.has(one.high[i]))
    return;
  const double x = scales.x.place(one.x[i]), low = scales.y.place(one.low[i]),
               high = scales.y.place(one.high[i]);
  svg.line({x, low}, {x, high}, hex(colour), 1.5);
  for (const double y : {low, high}) svg.line({x - end, y}, {x + end, y}, hex(colour), 1.5);
}

void draw_series(Svg& svg, const Scales& scales, const XySeries& one, const LegendEntry& look) {
  if (one.mark == Mark::points) {
    for (std::size_t i = 0; i < one.x.size(); ++i) {
      draw_error_bar(svg, scales, one, i, look.colour);
      if (scales.x.has(one.x[i]) && scales.y.has(one.y[i]))
        svg.circle({scales.x.place(one.x[i]), scales.y.place(one.y[i])}, 3, hex(look.colour),
                   cat(one.name, one.name.empty() ? "" : ": ", general(one.x[i], 6), ", ",
                       general(one.y[i], 6)));
    }
    return;
  }
  if (!one.low.empty()) draw_band(svg, scales, one, look.colour);
  for (const std::vector<SvgPoint>& run : runs_of(scales, one.x, one.y)) {
    svg.path(thinned(run), hex(look.colour), one.faint ? 1.2 : 1.8, look.dash, look.opacity);
    if (run.size() == 1) svg.circle(run[0], 2.5, hex(look.colour));
  }
}

}  // namespace

std::string xy_chart(const ChartFrame& frame, const std::vector<XySeries>& series) {
  std::vector<LegendEntry> looks;
  DataRange x_range(frame.x.log), y_range(frame.y.log);
  for (const XySeries& one : series) {
    check_xy(one);
    looks.push_back(look_of(one.look.value_or(looks.size()), one.name));
    if (one.faint) looks.back().opacity = faint_opacity;
    x_range.add(one.x);
    for (const std::vector<double>& values : {one.y, one.low, one.high}) y_range.add(values);
  }
  const bool named = series.size() > 1;
  ChartSheet sheet(frame, named ? looks : std::vector<LegendEntry>());
  const Scales scales{sheet.x_scale(x_range), sheet.y_scale(y_range)};
  sheet.draw_x(scales.x);
  sheet.draw_y(scales.y);
  sheet.begin_plot();
  for (std::size_t i = 0; i < series.size(); ++i)
    draw_series(sheet.svg(), scales, series[i], looks[i]);
  sheet.end_plot(!x_range.empty() && !y_range.empty());
  return sheet.text();
}

}  // namespace lockstep
