#include "tools/report/pages/figures.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/text/plot.h"
#include "core/base/text/text.h"
#include "core/media/charts/chart.h"
#include "runtime/run/curves/loss_curve.h"

namespace lockstep {
namespace {

constexpr int text_columns = 78;

// The unit of the horizontal axis.
struct AxisUnit {
  std::string label;
  double divisor = 1;
};

AxisUnit axis_unit(CurveAxis axis, const std::vector<DrawnCurve>& curves) {
  constexpr double minute_s = 60, hour_s = 3600, few = 3;
  if (axis == CurveAxis::step) return {"step", 1};
  if (axis == CurveAxis::samples) return {"samples", 1};
  double longest_s = 0;
  for (const DrawnCurve& one : curves)
    longest_s = std::max(longest_s, one.curve->columns().back().at.time_s);
  if (longest_s > few * hour_s) return {"hours", hour_s};
  if (longest_s > few * minute_s) return {"minutes", minute_s};
  return {"seconds", 1};
}

double axis_place(const DrawnCurve& one, const CurveColumn& column, CurveAxis axis,
                  const AxisUnit& unit) {
  switch (axis) {
    case CurveAxis::step:
      return column.at.step;
    case CurveAxis::time:
      return column.at.time_s / unit.divisor;
    case CurveAxis::samples:
      return column.at.step * one.samples_per_step;
  }
  return NAN;
}

void draw_curve(const CurveFrame& frame, const AxisUnit& unit, const DrawnCurve& one,
                std::size_t look, std::vector<XySeries>& series) {
  XySeries raw{.name = one.name, .x = {}, .y = {}};
  raw.look = look;
  XySeries smooth = raw;
  for (const CurveColumn& column : one.curve->columns()) {
    raw.x.push_back(axis_place(one, column, frame.axis, unit));
    raw.y.push_back(column.mean() * frame.scale);
    smooth.y.push_back(column.values > 0 ? column.smooth * frame.scale : NAN);
    if (!one.curve->is_thinned()) continue;
    raw.low.push_back(column.values > 0 ? column.low * frame.scale : NAN);
    raw.high.push_back(column.values > 0 ? column.high * frame.scale : NAN);
  }
  smooth.x = raw.x;
  if (one.smooth) {
    raw.faint = true;
    smooth.name = cat(one.name, one.name.empty() ? "smoothed" : ", smoothed");
  }
  series.push_back(std::move(raw));
  if (one.smooth) series.push_back(std::move(smooth));
}

struct ValueRange {
  double low = INFINITY, high = -INFINITY;
};

ValueRange range_of(const std::vector<DrawnCurve>& curves, double scale) {
  ValueRange range;
  for (const DrawnCurve& one : curves) {
    if (one.curve->totals().values == 0) continue;
    range.low = std::min(range.low, one.curve->totals().low * scale);
    range.high = std::max(range.high, one.curve->totals().high * scale);
  }
  return range;
}

std::string value_label(double value) {
  const std::string text = general(value, 4);
  return text.size() <= 9 ? text : general(value, 2);
}

// The mean of the values in each character column.
PlotSeries plotted(const CurveFrame& frame, const AxisUnit& unit, const DrawnCurve& one, char mark,
                   double last) {
  const auto columns = static_cast<std::size_t>(plot_columns(text_columns));
  std::vector<double> sums(columns, 0), counts(columns, 0);
  for (const CurveColumn& column : one.curve->columns()) {
    const double share = std::min(axis_place(one, column, frame.axis, unit) / last, 1.0);
    const double value = (one.smooth ? column.smooth : column.mean()) * frame.scale;
    if (!std::isfinite(value) || !(share >= 0)) continue;
    const auto at =
        std::min(columns - 1, static_cast<std::size_t>(share * static_cast<double>(columns)));
    sums[at] += value;
    ++counts[at];
  }
  PlotSeries series{.mark = mark, .columns = {}};
  for (std::size_t i = 0; i < columns; ++i)
    series.columns.push_back(
        counts[i] > 0 ? std::optional(PlotRange{sums[i] / counts[i], sums[i] / counts[i]})
                      : std::nullopt);
  return series;
}

std::string in_characters(const CurveFrame& frame, const AxisUnit& unit,
                          const std::vector<DrawnCurve>& curves, bool log) {
  constexpr std::string_view marks = "*o+x#@%=abcdefghijklmnpqrstuvwyz";
  double last = 0;
  for (const DrawnCurve& one : curves)
    last = std::max(last, axis_place(one, one.curve->columns().back(), frame.axis, unit));
  if (!(last > 0)) last = 1;
  std::vector<PlotSeries> series;
  std::string legend;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const char mark = marks[i % marks.size()];
    series.push_back(plotted(frame, unit, curves[i], mark, last));
    if (curves.size() > 1) legend += cat(plot_label(""), "  ", mark, " ", curves[i].name, "\n");
  }
  ValueRange shown;
  for (const PlotSeries& one : series)
    for (const auto& range : one.columns)
      if (range) {
        shown.low = std::min(shown.low, range->low);
        shown.high = std::max(shown.high, range->high);
      }
  if (shown.low > shown.high) return "";
  if (frame.low && !log) shown.low = std::min(shown.low, *frame.low);
  if (shown.low == shown.high) {
    const double around = shown.low == 0 ? 1 : std::fabs(shown.low) / 10;
    shown = {shown.low - (log ? 0 : around), shown.high + around};
  }
  return draw_plot(series,
                   {.name = log ? "log" : "",
                    .bottom = shown.low,
                    .top = shown.high,
                    .log = log,
                    .label = value_label,
                    .first = "0",
                    .last = cat(general(last, 6), " ", unit.label)},
                   text_columns) +
         legend;
}

}  // namespace

std::optional<PageFigure> curve_figure(const CurveFrame& frame, std::vector<DrawnCurve> curves) {
  std::erase_if(curves, [](const DrawnCurve& one) {
    return one.curve == nullptr || one.curve->totals().values == 0;
  });
  if (curves.empty()) return std::nullopt;
  const AxisUnit unit = axis_unit(frame.axis, curves);
  const ValueRange range = range_of(curves, frame.scale);
  const bool log = frame.may_be_log && is_wide_range(range.low, range.high);
  std::vector<XySeries> series;
  for (std::size_t i = 0; i < curves.size(); ++i)
    draw_curve(frame, unit, curves[i], curves[i].look.value_or(i), series);
  const std::string title = cat(frame.title, frame.unit.empty() ? "" : cat(" (", frame.unit, ")"));
  ChartFrame chart{.title = title,
                   .x = {.label = unit.label, .low = 0.0},
                   .y = {.log = log, .low = frame.low, .high = frame.high},
                   .width = frame.wide ? wide_px : narrow_px,
                   .height = frame.wide ? wide_height_px : figure_height_px};
  if (log) chart.y.low = std::nullopt;
  return PageFigure{.title = title,
                    .svg = xy_chart(chart, series),
                    .text = in_characters(frame, unit, curves, log),
                    .caption = frame.caption,
                    .wide = frame.wide};
}

void add_figure(std::vector<PageFigure>& figures, const CurveFrame& frame,
                std::vector<DrawnCurve> curves) {
  if (auto figure = curve_figure(frame, std::move(curves))) figures.push_back(std::move(*figure));
}

}  // namespace lockstep
