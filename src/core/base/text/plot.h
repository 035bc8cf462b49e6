// Plots curves in ASCII, for terminals and files.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

struct PlotRange {
  double low = 0, high = 0;
};

struct PlotSeries {
  char mark = '*';
  // one per column of plot_columns; the numbers are finite
  std::vector<std::optional<PlotRange>> columns;
};

struct PlotAxes {
  std::string name;  // the name of the values, above their axis
  double bottom = 0, top = 1;
  bool log = false;                          // logarithmic; all values must be above 0
  std::function<std::string(double)> label;  // the label of a value; at most 9 characters
  std::string first, last;                   // texts below the other axis, at its ends
};

// The number of columns for values in a plot of this width. Widths below 30 count as 30.
int plot_columns(int width);

// Draws ten rows with labelled axes. Later series are drawn over earlier ones. No line exceeds
// `width` (at least 30), and each ends with a newline.
std::string draw_plot(const std::vector<PlotSeries>& series, const PlotAxes& axes, int width);

// The text, aligned in the column of the labels, without a newline.
std::string plot_label(const std::string& text);

}  // namespace lockstep
