// Draws the curves of a run.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runtime/run/curves/loss_curve.h"

namespace lockstep {

struct MetricCurve {
  std::string name;
  std::vector<LossPoint> points;  // evaluations, in order; `loss` is the metric's value
};
struct RunCurves {
  LossCurve loss;
  std::vector<MetricCurve> rates;
};

// Losses, and those validation metrics that are rates: without a unit and in [0, 1] in every
// evaluation. Entries that resumes took back are left out. Throws Error if the file cannot be read.
RunCurves read_curves(const std::filesystem::path& events);

// SVG: a panel of losses, logarithmic if the largest is at least 20 times the smallest, and a panel
// for each rate, at most 12. Empty without a point.
std::string draw_curves(const std::string& title, const RunCurves& curves);

inline constexpr const char* curves_name = "curves.svg";

// Rewrites RUN/curves.svg from the run's events; without a point it writes nothing. Returns the
// error message, or "".
std::string try_write_curves(const std::filesystem::path& run_dir,
                             const std::filesystem::path& events);

}  // namespace lockstep
