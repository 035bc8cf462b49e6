// Draws charts as SVG for reports. Any browser shows them without scripts.
//
// Texts may contain any characters. They are escaped, and long texts are shortened. A non-finite
// number gives a gap in the drawing. On a logarithmic axis, a number of 0 or less gives a gap too.
// A chart without any number shows "no data". All functions throw Error if lists that must have the
// same length differ in length.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/media/bootstrap.h"

namespace lockstep {

struct ChartAxis {
  std::string label{};
  bool log = false;
  std::optional<double> low{}, high{};  // ends of the axis; if not set, those of the data
};

struct ChartFrame {
  std::string title{};
  ChartAxis x{}, y{};
  int width = 720, height = 400;  // pixels, at least 200 x 120
};

enum class Mark { line, points };

// low, high: one element per element of y, or empty. They are drawn as a band around a line, or as
// error bars at points.
struct XySeries {
  std::string name;
  std::vector<double> x, y;
  std::vector<double> low{}, high{};
  Mark mark = Mark::line;
  bool faint = false;  // whether the series is drawn pale, because another series summarises it
  // Index of the colour and the dashes. If not set, it is the index of the series in the list.
  std::optional<std::size_t> look{};
};
// Draws lines and points. If a line has more points than the chart has columns, each column shows
// the range of its values. So every peak is visible, and the file stays small.
std::string xy_chart(const ChartFrame& frame, const std::vector<XySeries>& series);

struct XyPanel {
  ChartFrame frame;
  std::vector<XySeries> series;
};
// Draws several charts as by xy_chart, one below the other in one file. title: for screen readers.
std::string xy_panels(const std::string& title, const std::vector<XyPanel>& panels);

// values: one per category. low, high: one per category, or empty.
struct BarSeries {
  std::string name;
  std::vector<double> values;
  std::vector<double> low{}, high{};
};
// Draws the bars of a category side by side, one per series. The y axis includes 0 unless it is
// logarithmic. frame.x: only its label is used.
std::string bar_chart(const ChartFrame& frame, const std::vector<std::string>& categories,
                      const std::vector<BarSeries>& series);

// values [rows, columns], row-major; a non-finite value gives an empty cell. low, middle, high: the
// values that are shown in orange, white and blue. Values outside [low, high] get the colour of the
// nearer end.
struct HeatMap {
  std::vector<std::string> rows, columns;
  std::vector<double> values;
  double low = 0, middle = 0.5, high = 1;
};
// Draws a cell for each value, and writes the value in it if there is space. The number of rows
// determines the height of the chart; frame.height is not used. The ranges of the axes are not used
// either.
std::string heat_chart(const ChartFrame& frame, const HeatMap& map);

struct IntervalRow {
  std::string name;
  Interval interval;
};
// Draws the estimate and the interval of each row along the x axis. The number of rows determines
// the height of the chart. marks: values at which a dashed line crosses all rows, such as 1 for
// ratios. The axis includes these values.
std::string interval_chart(const ChartFrame& frame, const std::vector<IntervalRow>& rows,
                           const std::vector<double>& marks = {});

struct GanttSpan {
  double begin = 0, end = 0;  // values on the x axis
  std::string kind;           // spans of one kind have the same colour and one line in the legend
  std::string tip{};          // text that browsers show under the pointer; if empty, the kind
};
struct GanttRow {
  std::string name;
  std::vector<GanttSpan> spans;
};
// Draws the spans of each row along the x axis. The number of rows determines the height of the
// chart.
std::string gantt_chart(const ChartFrame& frame, const std::vector<GanttRow>& rows);

}  // namespace lockstep
