#include "core/base/text/plot.h"

#include <algorithm>
#include <cmath>

#include "core/base/text/cells.h"
#include "core/base/text/text.h"

namespace lockstep {
namespace {

constexpr int rows = 10, label_width = 9, narrowest = 30;

// The row of a value, from 0 for the bottom row to the top row.
int row_of(double value, const PlotAxes& axes) {
  const auto scaled = [&](double number) { return axes.log ? std::log(number) : number; };
  const double bottom = scaled(axes.bottom), top = scaled(axes.top);
  if (!(top > bottom)) return 0;
  const double share = (scaled(value) - bottom) / (top - bottom);
  if (!std::isfinite(share)) return 0;
  return static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * (rows - 1)));
}

double value_of(int row, const PlotAxes& axes) {
  const double share = static_cast<double>(row) / (rows - 1);
  if (axes.log) return axes.bottom * std::pow(axes.top / axes.bottom, share);
  return axes.bottom + (axes.top - axes.bottom) * share;
}

// The x axis, with a label at each end.
std::string ruler(const PlotAxes& axes, int columns) {
  const int gap = columns - cells_of(axes.first) - cells_of(axes.last);
  return cat(plot_label(""), " +", std::string(static_cast<std::size_t>(columns), '-'), "\n",
             plot_label(""), "  ", axes.first,
             std::string(static_cast<std::size_t>(std::max(1, gap)), ' '), axes.last, "\n");
}

}  // namespace

int plot_columns(int width) { return std::max(narrowest, width) - label_width - 2; }

std::string plot_label(const std::string& text) { return pad_cells_left(text, label_width); }

std::string draw_plot(const std::vector<PlotSeries>& series, const PlotAxes& axes, int width) {
  const int columns = plot_columns(width);
  std::string text = cat(plot_label(axes.name), "\n");
  for (int row = rows - 1; row >= 0; --row) {
    const bool labelled = row % 3 == 0;
    std::string cells(static_cast<std::size_t>(columns), ' ');
    for (const PlotSeries& one : series)
      for (std::size_t i = 0; i < std::min(cells.size(), one.columns.size()); ++i)
        if (const auto& range = one.columns[i];
            range && row_of(range->low, axes) <= row && row <= row_of(range->high, axes))
          cells[i] = one.mark;
    const std::string line = plot_label(labelled ? axes.label(value_of(row, axes)) : "") +
                             (labelled ? " +" : " |") + cells;
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text + ruler(axes, columns);
}

}  // namespace lockstep
