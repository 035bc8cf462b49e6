#include "planning/options/run_length.h"

#include "core/base/text/text.h"
#include "planning/options/schedule_options.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

namespace lockstep {
namespace {

// An option that sets the length in epochs or samples, and how many of its units an epoch has.
struct EpochOption {
  std::string key = "stop.epochs";
  double per_epoch = 1;
};

EpochOption epoch_option(const OptionTable& recipe, std::int64_t epoch) {
  const nlohmann::json values = recipe.to_json();
  for (const OptionInfo& option : recipe.options())
    if (is_epoch_option(option.key, values[option.key], epoch))
      return {option.key, static_cast<double>(epoch)};
  return {};
}

}  // namespace

bool is_epoch_option(const std::string& key, const nlohmann::json& value, std::int64_t epoch) {
  return key.starts_with("stop.") && value == epoch;
}

RunLength run_length(const Plan& plan, const TrainOptions& options, const OptionTable& recipe,
                     std::int64_t step) {
  constexpr int digits = 12;
  const auto& stop = options.stop;
  RunLength length;
  std::vector<std::string> raised;
  const auto add = [&](const std::string& key, double value, double reached, double steps) {
    if (length.ended_by.empty() && steps <= static_cast<double>(plan.total_steps))
      length.ended_by = cat(key, "=", general(value, digits));
    if (steps > static_cast<double>(step)) return;
    // A third of an epoch, for example, cannot be typed exactly. A product of whole numbers may
    // have a rounding error.
    const double nearest = std::round(reached);
    const bool is_whole = std::abs(reached - nearest) < 1e-9 * std::max(1.0, nearest);
    raised.push_back(is_whole ? cat(key, " to more than ", general(nearest, digits))
                              : cat(key, " to ", general(std::ceil(reached), digits), " or more"));
  };
  if (stop.epochs > 0) {
    const EpochOption epochs = epoch_option(recipe, plan.epoch_size);
    add(epochs.key, stop.epochs * epochs.per_epoch,
        epochs.per_epoch * static_cast<double>(step) / static_cast<double>(plan.steps_per_epoch),
        steps_of_epochs(stop.epochs, plan.steps_per_epoch));
  }
  if (stop.steps > 0)
    add("stop.steps", static_cast<double>(stop.steps), static_cast<double>(step),
        static_cast<double>(stop.steps));
  if (!raised.empty()) length.longer = "set " + join(raised, " and ");
  return length;
}

}  // namespace lockstep
