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
  double loss = 0;  // NaN: not finite
};

struct LossCurve {
  std::vector<LossPoint> training;    // logged steps, in order
  std::vector<LossPoint> validation;  // evaluations that have the metric `loss`
};

// Leaves out entries that resumes took back. Reads long runs fast. A missing file is a run without
// steps. Throws Error if the file cannot be read.
LossCurve read_loss_curve(const std::filesystem::path& events);

// Whether losses from `low` to `high` need a logarithmic axis.
bool is_wide_range(double low, double high);

// Plots training and validation losses against the step, with a legend. A column shows the mean of
// its training losses; evaluations are single points; `!` marks losses that were not finite. The
// axis is logarithmic if the largest is at least 20 times the smallest. ASCII, no line wider than
// `width` (at least 30); empty without a finite loss.
std::string plot_losses(const LossCurve& curve, int width);

// {"training": {"step": […], "loss": […]}, "validation": {…}}; null for losses that were not
// finite.
nlohmann::json losses_json(const LossCurve& curve);

}  // namespace lockstep
