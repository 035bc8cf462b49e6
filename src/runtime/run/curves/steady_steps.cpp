#include "runtime/run/curves/steady_steps.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>
#include <string>
#include <utility>

#include "runtime/run/events/json_lines.h"

namespace lockstep {
namespace {

constexpr std::size_t most_stretches = 20;

// Mean durations of consecutive stretches of steps, in ascending order.
std::vector<double> means_of_stretches(std::span<const double> seconds) {
  std::vector<double> means;
  const std::size_t count = std::min(most_stretches, seconds.size());
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t begin = i * seconds.size() / count, end = (i + 1) * seconds.size() / count;
    const auto stretch = seconds.subspan(begin, end - begin);
    means.push_back(std::accumulate(stretch.begin(), stretch.end(), 0.0) /
                    static_cast<double>(stretch.size()));
  }
  std::sort(means.begin(), means.end());
  return means;
}

}  // namespace

void SteadySteps::on_event(const nlohmann::json& event) {
  const std::string kind = text_or(event, "kind", "");
  if (kind == "start") *this = SteadySteps();
  // The step of a graph capture is logged after the "graph" event. The step before it may be logged
  // later too.
  constexpr std::size_t under_way = 2;
  if (kind == "graph") steady_from_ = seconds_.size() + under_way;
  if (kind != "step" || std::exchange(is_first_, false)) return;
  seconds_.push_back(std::max(number_or(event, "step_s", 0), 0.0));
}

StepRange SteadySteps::range() const {
  // If only few steps follow a graph capture, all steps together are more reliable.
  constexpr std::size_t enough = 5;
  const std::size_t from = steady_from_ + enough <= seconds_.size() ? steady_from_ : 0;
  const std::vector<double> means = means_of_stretches(std::span(seconds_).subspan(from));
  if (means.empty()) return {};
  const std::size_t last = means.size() - 1;
  return {
      .typical_s = means[last / 2], .fast_s = means[last / 4], .slow_s = means[last - last / 4]};
}

}  // namespace lockstep
