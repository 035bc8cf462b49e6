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
  // low, high: range of the data; not finite if there is no data. If the axis sets low or high,
  // that value is used instead. from, to: positions of the two ends in pixels. wanted: approximate
  // number of ticks.
  ChartScale(const ChartAxis& axis, double low, double high, double from, double to, int wanted);

  // Whether the value can be drawn: it is finite, and above 0 on a logarithmic axis.
  bool has(double value) const;
  // Returns the position of the value in pixels. It may be outside the chart, but its distance is
  // limited. Call it only if has(value) is true.
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

// The range of some numbers. Numbers that cannot be drawn on the axis are ignored.
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
