#include "runtime/run/curves/recent_steps.h"

#include <algorithm>
#include <cmath>

namespace lockstep {
namespace {

constexpr double least_steps = 20, least_s = 10;

}  // namespace

void RecentSteps::drop_oldest() {
  const Entry& oldest = entries_.front();
  sum_.steps -= oldest.steps;
  sum_.seconds -= oldest.seconds;
  sum_.data_s -= oldest.data_s;
  entries_.pop_front();
}

void RecentSteps::add(double steps, double seconds, double data_s) {
  if (steps <= 0 || !std::isfinite(seconds) || seconds < 0) return;
  if (!std::isfinite(data_s)) data_s = 0;
  if (!entries_.empty() && only_the_first_) {
    entries_.clear();
    sum_ = {};
    only_the_first_ = false;
  }
  const Entry entry{.steps = steps, .seconds = seconds, .data_s = std::clamp(data_s, 0.0, seconds)};
  entries_.push_back(entry);
  sum_.steps += entry.steps;
  sum_.seconds += entry.seconds;
  sum_.data_s += entry.data_s;
  while (sum_.steps - entries_.front().steps >= least_steps &&
         sum_.seconds - entries_.front().seconds >= least_s)
    drop_oldest();
}

std::optional<double> RecentSteps::step_s() const {
  if (entries_.empty()) return std::nullopt;
  return std::max(sum_.seconds, 1e-9) / sum_.steps;
}

double RecentSteps::data_share() const {
  return sum_.seconds > 0 ? std::clamp(sum_.data_s / sum_.seconds, 0.0, 1.0) : 0;
}

}  // namespace lockstep
