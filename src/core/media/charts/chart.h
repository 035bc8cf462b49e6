// Charts as SVG for reports, which any browser shows without scripts.
//
// Texts may hold anything. They are escaped, and shortened if they are long; the pointer shows the
// whole text. Non-finite numbers are gaps. On a logarithmic axis numbers of 0 or less are gaps too.
// A chart without any number says "no data". All functions throw Error if lists that belong
// together differ in length.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/media/bootstrap.h"

namespace lockstep {

struct ChartAxis {
  std::string label{};
  bool log = false;
  std::optional<double> low{}, high{};  // nothing: from the data
};

struct ChartFrame {
  std::string title{};
  ChartAxis x{}, y{};
  int width = 720, height = 400;  // pixels, at least 200 x 120
};

enum class Mark { line, points };

// low, high: as long as y, or empty. They form a band around a line, and a bar with ends at points.
struct XySeries {
  std::string name;
  std::vector<double> x, y;
  std::vector<double> low{}, high{};
  Mark mark = Mark::line;
  bool faint = false;                 // drawn pale: values that another series summarises
  std::optional<std::size_t> look{};  // number of its colour and dashes; nothing: its place in the
                                      // list
};
// If a line has more points than the chart has columns, each column shows the range of its values.
// So every peak is visible and the file stays small.
std::string xy_chart(const ChartFrame& frame, const std::vector<XySeries>& series);

struct XyPanel {
  ChartFrame frame;
  std::vector<XySeries> series;
};
// Charts of lines and points stacked in one file. title: for screen readers.
std::string xy_panels(const std::string& title, const std::vector<XyPanel>& panels);

// values: one per category. low, high: the same, or empty.
struct BarSeries {
  std::string name;
  std::vector<double> values;
  std::vector<double> low{}, high{};
};
// Bars are side by side within a category. The axis includes 0; x's range and log are not used.
std::string bar_chart(const ChartFrame& frame, const std::vector<std::string>& categories,
                      const std::vector<BarSeries>& series);

// values [rows, columns], row-major; non-finite ones leave an empty cell. low, middle, high: the
// values shown in orange, white and blue; values beyond them get the end colours.
struct HeatMap {
  std::vector<std::string> rows, columns;
  std::vector<double> values;
  double low = 0, middle = 0.5, high = 1;
};
// A cell for each number, with the number in it if it fits. The height follows from the rows; the
// axes' ranges are not used.
std::string heat_chart(const ChartFrame& frame, const HeatMap& map);

struct IntervalRow {
  std::string name;
  Interval interval;
};
// Each row shows its estimate and its interval along the x axis. The height follows from the rows.
// marks: dashed lines across all rows, such as at 1 for ratios; the axis includes them.
std::string interval_chart(const ChartFrame& frame, const std::vector<IntervalRow>& rows,
                           const std::vector<double>& marks = {});

struct GanttSpan {
  double begin = 0, end = 0;  // on the x axis
  std::string kind;           // spans of one kind have one colour, and a line in the legend
  std::string tip{};          // shown under the pointer; "": the kind
};
struct GanttRow {
  std::string name;
  std::vector<GanttSpan> spans;
};
// The height follows from the rows.
std::string gantt_chart(const ChartFrame& frame, const std::vector<GanttRow>& rows);

}  // namespace lockstep
