// Curves in plain characters, for terminals and files.
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
  std::vector<std::optional<PlotRange>> columns;  // as many as plot_columns says; finite numbers
};

struct PlotAxes {
  std::string name;  // name of the values, above their axis
  double bottom = 0, top = 1;
  bool log = false;                          // then all values are above 0
  std::function<std::string(double)> label;  // label of a value; at most 9 characters
  std::string first, last;                   // texts below the other axis, at its ends
};

// The number of columns for values in a plot of this width. A plot is at least 30 wide.
int plot_columns(int width);

// Ten rows with labelled axes. Later series are drawn over earlier ones. ASCII; no line exceeds
// `width` (at least 30), and each ends with a newline.
std::string draw_plot(const std::vector<PlotSeries>& series, const PlotAxes& axes, int width);

// A text in the column of the labels, without a newline.
std::string plot_label(const std::string& text);

}  // namespace lockstep
