// Draws the curves of a run as SVG.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runtime/run/curves/loss_curve.h"

namespace lockstep {

struct MetricCurve {
  std::string name;
  std::vector<LossPoint> points;  // evaluations in order; `loss` holds the metric's value
};
struct RunCurves {
  LossCurve loss;
  std::vector<MetricCurve> rates;
};

// Reads the losses and the validation metrics that are rates. A rate has no unit, and is in [0, 1]
// in every evaluation. Entries that resumes invalidated are left out. Throws Error if the file
// cannot be read.
RunCurves read_curves(const std::filesystem::path& events);

// Draws an SVG with a panel for the losses and a panel for each of the first 12 rates. The axis of
// losses is logarithmic for a wide range (is_wide_range). Empty without a point.
std::string draw_curves(const std::string& title, const RunCurves& curves);

inline constexpr const char* curves_name = "curves.svg";

// Rewrites RUN/curves.svg from the run's events. If there is no point, writes nothing. Returns the
// error message; empty on success.
std::string try_write_curves(const std::filesystem::path& run_dir,
                             const std::filesystem::path& events);

}  // namespace lockstep
