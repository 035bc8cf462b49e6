// Draws charts as SVG for reports. Any browser shows them without scripts.
//
// Texts may contain any characters. They are escaped, and long ones are shortened. Non-finite
// numbers give gaps. On a logarithmic axis, numbers of 0 or less give gaps too. A chart without any
// number shows "no data". All functions throw Error if lists that belong together differ in length.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/media/bootstrap.h"

namespace lockstep {

struct ChartAxis {
  std::string label{};
  bool log = false;
  std::optional<double> low{}, high{};  // range of the axis; if not set, that of the data
};

struct ChartFrame {
  std::string title{};
  ChartAxis x{}, y{};
  int width = 720, height = 400;  // pixels, at least 200 x 120
};

enum class Mark { line, points };

// low, high: as long as y, or empty. They are drawn as a band around a line, or as error bars at
// points.
struct XySeries {
  std::string name;
  std::vector<double> x, y;
  std::vector<double> low{}, high{};
  Mark mark = Mark::line;
  bool faint = false;  // whether it is drawn pale, because another series summarises it
  // Number of the colour and the dashes. If not set, it is the index in the list.
  std::optional<std::size_t> look{};
};
// Draws lines and points. If a line has more points than the chart has columns, each column shows
// the range of its values. So every peak is visible, and the file stays small.
std::string xy_chart(const ChartFrame& frame, const std::vector<XySeries>& series);

struct XyPanel {
  ChartFrame frame;
  std::vector<XySeries> series;
};
// Draws several such charts below each other in one file. title: for screen readers.
std::string xy_panels(const std::string& title, const std::vector<XyPanel>& panels);

// values: one per category. low, high: one per category, or empty.
struct BarSeries {
  std::string name;
  std::vector<double> values;
  std::vector<double> low{}, high{};
};
// Draws bars, side by side within a category. The y axis includes 0 unless it is logarithmic. The x
// axis only uses its label.
std::string bar_chart(const ChartFrame& frame, const std::vector<std::string>& categories,
                      const std::vector<BarSeries>& series);

// values [rows, columns], row-major; non-finite ones give an empty cell. low, middle, high: the
// values that are shown in orange, white and blue. Values outside [low, high] get the colour of the
// nearer end.
struct HeatMap {
  std::vector<std::string> rows, columns;
  std::vector<double> values;
  double low = 0, middle = 0.5, high = 1;
};
// Draws a cell for each number, with the number in it if it fits. The number of rows decides the
// height; the ranges of the axes are not used.
std::string heat_chart(const ChartFrame& frame, const HeatMap& map);

struct IntervalRow {
  std::string name;
  Interval interval;
};
// Draws the estimate and the interval of each row along the x axis. The number of rows decides the
// height. marks: values with a dashed line across all rows, such as 1 for ratios; the axis includes
// them.
std::string interval_chart(const ChartFrame& frame, const std::vector<IntervalRow>& rows,
                           const std::vector<double>& marks = {});

struct GanttSpan {
  double begin = 0, end = 0;  // values on the x axis
  std::string kind;           // spans of one kind have the same colour and one line in the legend
  std::string tip{};          // text under the pointer; if empty, the kind
};
struct GanttRow {
  std::string name;
  std::vector<GanttSpan> spans;
};
// Draws the spans of each row over time. The number of rows decides the height.
std::string gantt_chart(const ChartFrame& frame, const std::vector<GanttRow>& rows);

}  // namespace lockstep
