// Curves of runs as drawings, and the same in characters.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/curve.h"
#include "report/page.h"

namespace lockstep {

enum class CurveAxis { step, time, samples };

struct DrawnCurve {
  std::string name;
  const Curve* curve = nullptr;       // outlives the call; null: left out
  bool smooth = false;                // also the smoothed values, the others pale
  double samples_per_step = 0;        // for CurveAxis::samples
  std::optional<std::size_t> look{};  // number of its colour
};

struct CurveFrame {
  std::string title;
  std::string unit{};  // of the values, behind the title
  CurveAxis axis = CurveAxis::step;
  std::optional<double> low{}, high{};  // of the axis of the values
  double scale = 1;                     // values are multiplied by it
  bool may_be_log = false;              // where the largest is 20 times the smallest or more
  bool wide = false;
  std::string caption{};
};

// Nothing: no curve holds a finite value.
std::optional<PageFigure> curve_figure(const CurveFrame& frame, std::vector<DrawnCurve> curves);

// Adds it where there is one.
void add_figure(std::vector<PageFigure>& figures, const CurveFrame& frame,
                std::vector<DrawnCurve> curves);

constexpr int wide_px = 1130, narrow_px = 560, figure_height_px = 300, wide_height_px = 360;

}  // namespace lockstep
