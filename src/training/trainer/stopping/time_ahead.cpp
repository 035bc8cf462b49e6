#include "training/trainer/stopping/time_ahead.h"

#include "core/base/text/text.h"
#include "runtime/run/progress/forecast.h"

#include <algorithm>
#include <utility>

namespace lockstep {
namespace {

void add_newest(std::deque<double>& values, double value, std::size_t most) {
  values.push_back(value);
  if (values.size() > most) values.pop_front();
}

double longest(const std::deque<double>& values) {
  return values.empty() ? 0 : *std::max_element(values.begin(), values.end());
}

}  // namespace

TimeAhead::TimeAhead(const Quota& quota, const PartTimes& known, int ahead,
                     double evaluation_batches, double slow_save_s)
    : quota_(quota),
      known_(known),
      ahead_(ahead),
      evaluation_batches_(evaluation_batches),
      save_is_guess_(known.save_s <= 0),
      save_s_(known.save_s > 0 ? known.save_s : slow_save_s) {}

void TimeAhead::step_took(double seconds) {
  constexpr std::size_t newest = 5;
  // The time of the first step is discarded, because that step also loads kernels and data.
  if (steps_s_.size() == 1 && only_the_first_step_) {
    only_the_first_step_ = false;
    steps_s_.clear();
  }
  add_newest(steps_s_, seconds, newest);
}

void TimeAhead::evaluation_took(double seconds) {
  constexpr std::size_t newest = 3;
  add_newest(evaluations_s_, seconds, newest);
}

void TimeAhead::saved(double seconds) {
  const std::lock_guard lock(mutex_);
  save_s_ = std::exchange(save_is_guess_, false) ? seconds : std::max(save_s_, seconds);
}

double TimeAhead::longest_step_s() const {
  return steps_s_.empty() ? known_.step_s : longest(steps_s_);
}

double TimeAhead::save_s() const {
  const std::lock_guard lock(mutex_);
  return save_s_;
}

double TimeAhead::evaluation_s() const {
  constexpr double share_of_step = 1.0 / 3;  // forward without backward
  if (!evaluations_s_.empty()) return longest(evaluations_s_);
  if (known_.evaluation_s > 0) return known_.evaluation_s;
  return share_of_step * evaluation_batches_ * longest_step_s();
}

double TimeAhead::next_steps_s() const { return (ahead_ + 2) * longest_step_s() + save_s(); }

double TimeAhead::evaluation_limit_s() const {
  return quota_.left_s() - (ahead_ + 1) * longest_step_s() - 2 * save_s();
}

std::string TimeAhead::no_evaluation() const {
  const double limit_s = evaluation_limit_s();
  if (evaluation_s() <= limit_s) return "";
  return cat("an evaluation takes about ", format_seconds(evaluation_s()), ", and ",
             format_seconds(std::max(limit_s, 0.0)), " are left");
}

bool TimeAhead::save_fits() const { return quota_.left_s() >= 2 * save_s() + longest_step_s(); }

}  // namespace lockstep
