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
  // the range of values in each of the plot_columns; not set = none. The numbers must be finite
  std::vector<std::optional<PlotRange>> columns;
};

struct PlotAxes {
  std::string name;  // the name of the values, which is drawn above the vertical axis
  double bottom = 0, top = 1;
  bool log = false;  // whether the vertical axis is logarithmic; all values must then be above 0
  std::function<std::string(double)> label;  // returns the label of a value; at most 9 characters
  std::string first, last;                   // texts below the two ends of the horizontal axis
};

// Returns the number of columns for values in a plot of this width. A width below 30 counts as 30.
int plot_columns(int width);

// Draws a plot with ten rows and labelled axes. Later series are drawn over earlier ones. No line
// exceeds `width` (at least 30), and each line ends with a newline.
std::string draw_plot(const std::vector<PlotSeries>& series, const PlotAxes& axes, int width);

// Returns the text aligned like the labels of draw_plot, without a newline.
std::string plot_label(const std::string& text);

}  // namespace lockstep
