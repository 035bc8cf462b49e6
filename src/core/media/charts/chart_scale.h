// Maps numbers to pixels, and chooses ticks.
#pragma once

#include <string>
#include <vector>

#include "core/media/charts/chart.h"

namespace lockstep {

struct Tick {
  double value = 0;
  std::string label;
};

class ChartScale {
 public:
  // low, high: range of the data, ignored if the axis has its own; not finite: no data. from, to:
  // pixels of the ends. wanted: approximate number of ticks.
  ChartScale(const ChartAxis& axis, double low, double high, double from, double to, int wanted);

  bool has(double value) const;  // whether it can be drawn: finite, and above 0 if log
  // In pixels. May be far outside of the chart, but is bounded. Call it only if has(value).
  double place(double value) const;
  double low() const { return low_; }
  double high() const { return high_; }
  const std::vector<Tick>& ticks() const { return ticks_; }

 private:
  void linear_ticks(const ChartAxis& axis, int wanted);
  void log_ticks(int wanted);

  bool log_;
  double low_, high_, from_, to_;
  std::vector<Tick> ticks_;
};

// The range of some numbers, ignoring those that cannot be drawn.
struct DataRange {
  double low, high;
  explicit DataRange(bool log);
  void add(double value);
  void add(const std::vector<double>& values);
  bool empty() const { return low > high; }

 private:
  bool log_;
};

}  // namespace lockstep
