// The curves of a run as a picture.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "run/loss_curve.h"

namespace lockstep {

struct MetricCurve {
  std::string name;
  std::vector<LossPoint> points;  // evaluations, in order; `loss` is the metric's value
};
struct RunCurves {
  LossCurve loss;
  std::vector<MetricCurve> rates;
};

// Losses, and of the validation metrics those that are rates: without a unit and in [0, 1] in every
// evaluation. Without what resumes took back. Throws Error where the file cannot be read.
RunCurves read_curves(const std::filesystem::path& events);

// SVG: a panel of losses, logarithmic where the largest is 20 times the smallest or more, and one
// per rate, of which there are at most 12. Empty without a point.
std::string draw_curves(const std::string& title, const RunCurves& curves);

inline constexpr const char* curves_name = "curves.svg";

// Writes RUN/curves.svg anew from the run's events; without a point nothing. Returns what went
// wrong; empty if nothing did.
std::string try_write_curves(const std::filesystem::path& run_dir,
                             const std::filesystem::path& events);

}  // namespace lockstep
