// A heat map: a table of numbers as coloured cells.
#include <algorithm>
#include <cmath>

#include "core/base/text/text.h"
#include "core/media/charts/chart_sheet.h"

namespace lockstep {
namespace {

Colour mixed(Colour from, Colour to, double share) {
  const auto mix = [&](std::uint8_t a, std::uint8_t b) {
    return static_cast<std::uint8_t>(std::lround(a + share * (b - a)));
  };
  return {mix(from.red, to.red), mix(from.green, to.green), mix(from.blue, to.blue)};
}

Colour colour_of(const HeatMap& map, double value) {
  constexpr Colour orange{0xd5, 0x5e, 0x00}, white{0xff, 0xff, 0xff}, blue{0x00, 0x72, 0xb2};
  const bool above = value >= map.middle;
  const double reach = std::abs((above ? map.high : map.low) - map.middle);
  const double share = reach > 0 ? std::min(1.0, std::abs(value - map.middle) / reach) : 1.0;
  return mixed(white, above ? blue : orange, share);
}

// Narrow columns leave out names, so that the remaining names have room.
std::vector<NamedPlace> column_places(const ChartSheet& sheet, const HeatMap& map, double each) {
  constexpr double name_px = 80;
  const auto step = static_cast<std::size_t>(std::max(1.0, std::ceil(name_px / each)));
  std::vector<NamedPlace> places;
  for (std::size_t c = 0; c < map.columns.size(); c += step)
    places.push_back({sheet.left() + each * (static_cast<double>(c) + 0.5), map.columns[c]});
  return places;
}

}  // namespace

std::string heat_chart(const ChartFrame& frame, const HeatMap& map) {
  check_length("values", map.values.size(), map.rows.size() * map.columns.size());
  ChartSheet sheet(high_enough(frame, map.rows.size()), {}, map.rows);
  const double wide =
      (sheet.right() - sheet.left()) / std::max<double>(1, static_cast<double>(map.columns.size()));
  const double high =
      (sheet.bottom() - sheet.top()) / std::max<double>(1, static_cast<double>(map.rows.size()));
  std::vector<NamedPlace> names;
  bool any = false;
  sheet.begin_plot();
  for (std::size_t r = 0; r < map.rows.size(); ++r) {
    const double top = sheet.top() + high * static_cast<double>(r);
    names.push_back({top + high / 2, map.rows[r]});
    for (std::size_t c = 0; c < map.columns.size(); ++c) {
      const double value = map.values[r * map.columns.size() + c];
      if (!std::isfinite(value)) continue;
      any = true;
      constexpr double text_px = 34;
      const double left = sheet.left() + wide * static_cast<double>(c);
      const Colour colour = colour_of(map, value);
      sheet.svg().rectangle({left, top}, wide, high, hex(colour),
                            cat(map.rows[r], ", ", map.columns[c], ": ", general(value, 6)));
      if (wide >= text_px && text_colour_on(colour) == Colour{})
        sheet.svg().text({left + wide / 2, top + high / 2 + 4}, fixed(value, 2),
                         {.anchor = Anchor::middle, .size = 11});
    }
  }
  sheet.end_plot(any);
  sheet.draw_x_names(column_places(sheet, map, wide));
  sheet.draw_y_names(names);
  return sheet.text();
}

}  // namespace lockstep
