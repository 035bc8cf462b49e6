// From numbers to pixels, and the ticks between.
#pragma once

#include <string>
#include <vector>

#include "media/chart.h"

namespace lockstep {

struct Tick {
  double value = 0;
  std::string label;
};

class ChartScale {
 public:
  // low, high: of the data, ignored where the axis says its own; not finite: there is none. from,
  // to: pixels of the ends. wanted: ticks, about.
  ChartScale(const ChartAxis& axis, double low, double high, double from, double to, int wanted);

  bool has(double value) const;      // whether it has a place: finite, and above 0 if log
  double place(double value) const;  // in pixels, at most far outside; only if has(value)
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

// The range of numbers, those without a place left out.
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
