// The parts that all charts share: title, axes, grid and legend around a plot area.
#pragma once

#include <string>
#include <vector>

#include "core/media/charts/chart_scale.h"
#include "core/media/charts/svg.h"
#include "core/media/colour.h"

namespace lockstep {

struct LegendEntry {
  std::string name;
  Colour colour;
  std::string dash{};
  double opacity = 1;
};

// A position on an axis that has a name instead of a number: a category or a row.
struct NamedPlace {
  double at = 0;
  std::string name;
};

class ChartSheet {
 public:
  // left_names: the texts that draw_y_names will draw. Space is reserved for them left of the plot
  // area.
  ChartSheet(const ChartFrame& frame, const std::vector<LegendEntry>& legend,
             const std::vector<std::string>& left_names = {});

  // The edges of the plot area in pixels.
  double left() const { return left_; }
  double right() const { return right_; }
  double top() const { return top_; }
  double bottom() const { return bottom_; }

  ChartScale x_scale(const DataRange& range) const;
  ChartScale y_scale(const DataRange& range) const;

  // Draws grid lines, ticks and the axis's label.
  void draw_x(const ChartScale& scale);
  void draw_y(const ChartScale& scale);
  void draw_x_names(const std::vector<NamedPlace>& names);
  void draw_y_names(const std::vector<NamedPlace>& names);

  // Shapes that are drawn between these two calls are clipped to the plot area. has_data: if false,
  // "no data" is shown.
  void begin_plot();
  void end_plot(bool has_data);

  Svg& svg() { return svg_; }
  std::string text();  // returns the whole SVG file

 private:
  void draw_legend(const std::vector<LegendEntry>& legend);

  ChartFrame frame_;
  double left_, right_, top_, bottom_;
  Svg svg_;
};

constexpr const char* axis_colour = "#444444";

// Returns the colour and the dashes of the series with this index. Series with the same colour have
// different dashes.
LegendEntry look_of(std::size_t index, const std::string& name);

// Returns the frame with a height that has space for this number of named rows.
constexpr double row_px = 26;
ChartFrame high_enough(ChartFrame frame, std::size_t rows);

// Throws Error unless `size` equals `wanted`, or is 0 and may_be_empty is true. what: the name in
// the message, such as "y of series \"loss\"".
void check_length(const std::string& what, std::size_t size, std::size_t wanted,
                  bool may_be_empty = false);

}  // namespace lockstep
