// The losses of a run over its steps, as numbers and as a plot.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace lockstep {

struct LossPoint {
  std::int64_t step = 0;
  double loss = 0;  // NaN if it was not finite
};

struct LossCurve {
  std::vector<LossPoint> training;    // logged steps, in order
  std::vector<LossPoint> validation;  // evaluations that have the metric `loss`
};

// Reads the losses, without those that resumes invalidated. It is fast for long runs. A missing
// file is a run without steps. Throws Error if the file cannot be read.
LossCurve read_loss_curve(const std::filesystem::path& events);

// Whether losses from `low` to `high` need a logarithmic axis: high is at least 20 * low.
bool is_wide_range(double low, double high);

// Plots training and validation losses against the step in ASCII, with a legend. Each column shows
// the mean of its training losses, `*`, and the mean of its validation losses, `o`. `!` marks
// training losses that were not finite. The axis is logarithmic for a wide range (is_wide_range).
// No line is wider than `width` (at least 30). Empty without a finite loss.
std::string plot_losses(const LossCurve& curve, int width);

// {"training": {"step": […], "loss": […]}, "validation": {…}}; null for losses that were not
// finite.
nlohmann::json losses_json(const LossCurve& curve);

}  // namespace lockstep
