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
  double loss = 0;  // NaN if the loss was not finite
};

struct LossCurve {
  std::vector<LossPoint> training;    // logged steps, in order
  std::vector<LossPoint> validation;  // evaluations that have the metric `loss`
};

// Reads the losses. If the run was resumed from an earlier step, the repeated steps count once.
// Fast for long runs. A missing file counts as a run without steps. Throws Error if the file cannot
// be read.
LossCurve read_loss_curve(const std::filesystem::path& events);

// Whether losses from `low` to `high` need a logarithmic axis: high is at least 20 * low.
bool is_wide_range(double low, double high);

// Plots training and validation losses against the step in ASCII, with a legend. A column covers
// several steps. `*` shows the mean of their training losses, and `o` the mean of their validation
// losses. `!` marks training losses that were not finite. The axis of the losses is logarithmic if
// their range is wide (is_wide_range). No line is wider than `width` (at least 30). Empty if there
// is no finite loss.
std::string plot_losses(const LossCurve& curve, int width);

// Returns {"training": {"step": […], "loss": […]}, "validation": {…}}. A loss that was not finite
// is null.
nlohmann::json losses_json(const LossCurve& curve);

}  // namespace lockstep
