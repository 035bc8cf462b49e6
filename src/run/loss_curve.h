// The losses of a run over its steps: as numbers, and drawn.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace lockstep {

struct LossPoint {
  std::int64_t step = 0;
  double loss = 0;  // NaN: it was not finite
};

struct LossCurve {
  std::vector<LossPoint> training;    // logged steps, in order
  std::vector<LossPoint> validation;  // evaluations that have a metric `loss`
};

// Without what resumes took back. Reads long runs fast. A missing file is a run without steps.
// Throws Error where it cannot be read.
LossCurve read_loss_curve(const std::filesystem::path& events);

// Whether losses from `low` to `high` are shown on a logarithmic axis.
bool is_wide_range(double low, double high);

// Both against the step, with a legend: the mean of the training losses of a column, each
// evaluation by itself, a ! where losses were not finite. The axis is logarithmic where the largest
// is 20 times the smallest or more. ASCII, no line wider than `width` (at least 30); empty without
// a finite loss.
std::string plot_losses(const LossCurve& curve, int width);

// {"training": {"step": […], "loss": […]}, "validation": {…}}; null where a loss was not finite.
nlohmann::json losses_json(const LossCurve& curve);

}  // namespace lockstep
