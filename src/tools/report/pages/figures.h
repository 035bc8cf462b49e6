// Draws curves of runs as pictures and as plain characters.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/report/pages/curve.h"
#include "tools/report/pages/page.h"

namespace lockstep {

enum class CurveAxis { step, time, samples };

struct DrawnCurve {
  std::string name;
  const Curve* curve = nullptr;  // must outlive the call; if it is null, the curve is left out
  bool smooth = false;  // whether to draw smoothed values too; the values themselves are then pale
  double samples_per_step = 0;  // for CurveAxis::samples
  // index of the curve's colour; by default the position of the curve
  std::optional<std::size_t> look{};
};

struct CurveFrame {
  std::string title;
  std::string unit{};  // unit of the values, shown after the title
  CurveAxis axis = CurveAxis::step;
  std::optional<double> low{}, high{};  // limits of the value axis
  double scale = 1;                     // factor by which values are multiplied
  // whether the value axis is logarithmic if the largest value is at least 20 times the smallest
  bool may_be_log = false;
  bool wide = false;
  std::string caption{};
};

// Returns nothing if no curve has a finite value.
std::optional<PageFigure> curve_figure(const CurveFrame& frame, std::vector<DrawnCurve> curves);

// Adds the result of curve_figure(), if it returns a figure.
void add_figure(std::vector<PageFigure>& figures, const CurveFrame& frame,
                std::vector<DrawnCurve> curves);

constexpr int wide_px = 1130, narrow_px = 560, figure_height_px = 300, wide_height_px = 360;

}  // namespace lockstep
