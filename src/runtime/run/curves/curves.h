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

// Reads the losses and the validation metrics that are rates, such as an accuracy. A metric is a
// rate if it has no unit and is in [0, 1] in every evaluation. If the run was resumed from an
// earlier step, the repeated steps count once. Throws Error if the file cannot be read.
RunCurves read_curves(const std::filesystem::path& events);

// Draws an SVG with a panel for the losses and a panel for each of the first 12 rates. The axis of
// the losses is logarithmic if their range is wide (is_wide_range). Empty if there is no point.
std::string draw_curves(const std::string& title, const RunCurves& curves);

inline constexpr const char* curves_name = "curves.svg";

// Rewrites RUN/curves.svg from the run's events. Writes nothing if there is no point. Returns the
// error message; empty on success.
std::string try_write_curves(const std::filesystem::path& run_dir,
                             const std::filesystem::path& events);

}  // namespace lockstep
