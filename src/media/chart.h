// Charts as SVG, for reports: drawn once, shown by any browser, without scripts.
//
// Texts may hold anything; they are escaped, and shortened where they are long (the whole text is
// shown under the pointer). Numbers that are not finite are gaps; on a logarithmic axis so is what
// is not above 0. Without any number a chart says "no data". All throw Error where lists that
// belong together have different lengths.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "media/bootstrap.h"

namespace lockstep {

struct ChartAxis {
  std::string label{};
  bool log = false;
  std::optional<double> low{}, high{};  // nothing: of the data
};

struct ChartFrame {
  std::string title{};
  ChartAxis x{}, y{};
  int width = 720, height = 400;  // pixels, at least 200 x 120
};

enum class Mark { line, points };

// low, high: as long as y, or empty. Around a line they are a band, at points a bar with ends.
struct XySeries {
  std::string name;
  std::vector<double> x, y;
  std::vector<double> low{}, high{};
  Mark mark = Mark::line;
  bool faint = false;                 // drawn pale: the values that another series sums up
  std::optional<std::size_t> look{};  // number of its colour and dashes; nothing: its place here
};
// A line with more points than the chart has columns is drawn by the range in each column, so that
// every peak is seen and the file stays small.
std::string xy_chart(const ChartFrame& frame, const std::vector<XySeries>& series);

struct XyPanel {
  ChartFrame frame;
  std::vector<XySeries> series;
};
// Charts of lines and points below each other, as one file. title: for screen readers.
std::string xy_panels(const std::string& title, const std::vector<XyPanel>& panels);

// values: one a category. low, high: likewise, or empty.
struct BarSeries {
  std::string name;
  std::vector<double> values;
  std::vector<double> low{}, high{};
};
// Bars stand side by side within a category. The axis holds 0; x's range and log are not used.
std::string bar_chart(const ChartFrame& frame, const std::vector<std::string>& categories,
                      const std::vector<BarSeries>& series);

// values [rows, columns], row-major; what is not finite is an empty place. low, middle, high: what
// is orange, white and blue; what lies beyond is as the end.
struct HeatMap {
  std::vector<std::string> rows, columns;
  std::vector<double> values;
  double low = 0, middle = 0.5, high = 1;
};
// A field for each number, with the number in it where there is room. The height follows from the
// rows; the axes' ranges are not used.
std::string heat_chart(const ChartFrame& frame, const HeatMap& map);

struct IntervalRow {
  std::string name;
  Interval interval;
};
// A row each, with its estimate and its interval along the x axis. The height follows from the
// rows. marks: dashed lines across all rows, such as at 1 for ratios; they are on the axis too.
std::string interval_chart(const ChartFrame& frame, const std::vector<IntervalRow>& rows,
                           const std::vector<double>& marks = {});

struct GanttSpan {
  double begin = 0, end = 0;  // on the x axis
  std::string kind;           // spans of one kind have one colour, and a line in the legend
  std::string tip{};          // shown under the pointer; "" the kind
};
struct GanttRow {
  std::string name;
  std::vector<GanttSpan> spans;
};
// The height follows from the rows.
std::string gantt_chart(const ChartFrame& frame, const std::vector<GanttRow>& rows);

}  // namespace lockstep
