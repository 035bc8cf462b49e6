// Bar charts by category.
#include <algorithm>

#include "core/base/text/text.h"
#include "core/media/charts/chart_sheet.h"

namespace lockstep {
namespace {

void check_bars(const BarSeries& one, std::size_t categories) {
  const auto of = [&](const char* list) { return cat(list, " of series \"", one.name, "\""); };
  check_length(of("values"), one.values.size(), categories);
  check_length(of("low"), one.low.size(), categories, true);
  check_length(of("high"), one.high.size(), one.low.size());
}

struct Bar {
  double left, width;  // in pixels
  std::string tip;
};

void draw_bar(Svg& svg, const ChartScale& scale, const BarSeries& one, std::size_t i,
              const Bar& bar, Colour colour) {
  if (!scale.has(one.values[i])) return;
  const double base = scale.place(scale.has(0) ? 0 : scale.low());
  const double end = scale.place(one.values[i]);
  svg.rectangle({bar.left, std::min(base, end)}, bar.width, std::abs(base - end), hex(colour),
                bar.tip);
  if (one.low.empty() || !scale.has(one.low[i]) || !scale.has(one.high[i])) return;
  const double middle = bar.left + bar.width / 2, cap = std::min(5.0, bar.width / 3);
  const double low = scale.place(one.low[i]), high = scale.place(one.high[i]);
  svg.line({middle, low}, {middle, high}, axis_colour, 1.5);
  for (const double y : {low, high})
    svg.line({middle - cap, y}, {middle + cap, y}, axis_colour, 1.5);
}

}  // namespace

std::string bar_chart(const ChartFrame& frame, const std::vector<std::string>& categories,
                      const std::vector<BarSeries>& series) {
  std::vector<LegendEntry> looks;
  DataRange range(frame.y.log);
  for (const BarSeries& one : series) {
    check_bars(one, categories.size());
    looks.push_back(look_of(looks.size(), one.name));
    for (const std::vector<double>& values : {one.values, one.low, one.high}) range.add(values);
  }
  const bool has_data = !range.empty();
  range.add(0);
  ChartSheet sheet(frame, series.size() > 1 ? looks : std::vector<LegendEntry>());
  const ChartScale scale = sheet.y_scale(range);
  sheet.draw_y(scale);
  sheet.begin_plot();
  std::vector<NamedPlace> names;
  const double each =
      (sheet.right() - sheet.left()) / std::max<double>(1, static_cast<double>(categories.size()));
  const double width = 0.8 * each / std::max<double>(1, static_cast<double>(series.size()));
  for (std::size_t c = 0; c < categories.size(); ++c) {
    const double left = sheet.left() + each * static_cast<double>(c);
    names.push_back({left + each / 2, categories[c]});
    for (std::size_t s = 0; s < series.size(); ++s)
      draw_bar(sheet.svg(), scale, series[s], c,
               {.left = left + 0.1 * each + width * static_cast<double>(s),
                .width = width,
                .tip = cat(categories[c], series.size() > 1 ? ", " + series[s].name : "", ": ",
                           general(series[s].values[c], 6))},
               looks[s].colour);
  }
  sheet.end_plot(has_data);
  sheet.draw_x_names(names);
  return sheet.text();
}

}  // namespace lockstep
