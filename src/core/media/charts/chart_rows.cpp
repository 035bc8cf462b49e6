// Charts with one row per name: intervals, and Gantt.
#include <algorithm>
#include <array>

#include "core/base/text/text.h"
#include "core/media/charts/chart_sheet.h"

namespace lockstep {
namespace {

template <class Row>
std::vector<std::string> names_of(const std::vector<Row>& rows) {
  std::vector<std::string> names;
  for (const Row& row : rows) names.push_back(row.name);
  return names;
}

// The middles of the rows, from top to bottom.
std::vector<NamedPlace> places_of(const ChartSheet& sheet, const std::vector<std::string>& names) {
  const double each =
      (sheet.bottom() - sheet.top()) / std::max<double>(1, static_cast<double>(names.size()));
  std::vector<NamedPlace> places;
  for (const std::string& name : names)
    places.push_back({sheet.top() + each * (static_cast<double>(places.size()) + 0.5), name});
  return places;
}

void draw_interval(Svg& svg, const ChartScale& scale, const IntervalRow& row, double y) {
  const std::string colour = hex(palette(0));
  const auto& [low, estimate, high] = row.interval;
  if (scale.has(low) && scale.has(high)) {
    svg.line({scale.place(low), y}, {scale.place(high), y}, colour, 2);
    for (const double end : {low, high})
      svg.line({scale.place(end), y - 5}, {scale.place(end), y + 5}, colour, 2);
  }
  if (scale.has(estimate))
    svg.circle({scale.place(estimate), y}, 4, colour,
               cat(row.name, ": ", general(estimate, 6), " (", general(low, 6), " to ",
                   general(high, 6), ")"));
}

void draw_mark(ChartSheet& sheet, const ChartScale& scale, double mark) {
  if (!scale.has(mark)) return;
  const double x = scale.place(mark);
  const std::array<SvgPoint, 2> ends{{{x, sheet.top()}, {x, sheet.bottom()}}};
  sheet.svg().path(ends, axis_colour, 1.2, "4 3");
}

// The kinds in order of first appearance.
std::vector<LegendEntry> kinds_of(const std::vector<GanttRow>& rows) {
  std::vector<LegendEntry> kinds;
  for (const GanttRow& row : rows)
    for (const GanttSpan& span : row.spans)
      if (std::none_of(kinds.begin(), kinds.end(),
                       [&](const LegendEntry& kind) { return kind.name == span.kind; }))
        kinds.push_back({.name = span.kind, .colour = palette(kinds.size())});
  return kinds;
}

void draw_span(Svg& svg, const ChartScale& scale, const GanttSpan& span, double y, Colour colour) {
  constexpr double thick = 0.7 * row_px, least = 0.5;
  if (!scale.has(span.begin) || !scale.has(span.end)) return;
  const double begin = scale.place(std::min(span.begin, span.end));
  const double end = scale.place(std::max(span.begin, span.end));
  svg.rectangle({begin, y - thick / 2}, std::max(end - begin, least), thick, hex(colour),
                span.tip.empty() ? span.kind : span.tip);
}

}  // namespace

std::string interval_chart(const ChartFrame& frame, const std::vector<IntervalRow>& rows,
                           const std::vector<double>& marks) {
  DataRange range(frame.x.log);
  for (const IntervalRow& row : rows)
    for (const double value : {row.interval.low, row.interval.estimate, row.interval.high})
      range.add(value);
  if (!range.empty()) range.add(marks);
  const std::vector<std::string> names = names_of(rows);
  ChartSheet sheet(high_enough(frame, rows.size()), {}, names);
  const ChartScale scale = sheet.x_scale(range);
  const std::vector<NamedPlace> places = places_of(sheet, names);
  sheet.draw_x(scale);
  sheet.draw_y_names(places);
  sheet.begin_plot();
  for (const double mark : marks) draw_mark(sheet, scale, mark);
  for (std::size_t i = 0; i < rows.size(); ++i)
    draw_interval(sheet.svg(), scale, rows[i], places[i].at);
  sheet.end_plot(!range.empty());
  return sheet.text();
}

std::string gantt_chart(const ChartFrame& frame, const std::vector<GanttRow>& rows) {
  DataRange range(frame.x.log);
  for (const GanttRow& row : rows)
    for (const GanttSpan& span : row.spans)
      for (const double value : {span.begin, span.end}) range.add(value);
  const std::vector<LegendEntry> kinds = kinds_of(rows);
  const std::vector<std::string> names = names_of(rows);
  ChartSheet sheet(high_enough(frame, rows.size()),
                   kinds.size() > 1 ? kinds : std::vector<LegendEntry>(), names);
  const ChartScale scale = sheet.x_scale(range);
  const std::vector<NamedPlace> places = places_of(sheet, names);
  sheet.draw_x(scale);
  sheet.draw_y_names(places);
  sheet.begin_plot();
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (const GanttSpan& span : rows[i].spans) {
      const auto kind = std::find_if(kinds.begin(), kinds.end(),
                                     [&](const LegendEntry& one) { return one.name == span.kind; });
      draw_span(sheet.svg(), scale, span, places[i].at, kind->colour);
    }
  sheet.end_plot(!range.empty());
  return sheet.text();
}

}  // namespace lockstep
