// Estimates the time left from the median step time and the time between steps.
#include "runtime/run/progress/time_left.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/base/text/text.h"

namespace lockstep {
namespace {

constexpr std::size_t window_steps = 101;

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

}  // namespace

void TimeLeft::start(std::int64_t step) {
  *this = TimeLeft();
  first_step_ = step_ = step;
}

void TimeLeft::on_step(std::int64_t step, double seconds, double save_share, double wait_share) {
  if (!std::isfinite(seconds) || seconds < 0) return;
  if (!(save_share >= 0 && save_share <= 1)) save_share = 0;
  if (!(wait_share >= 0)) wait_share = 0;
  const double save_s = seconds * save_share;
  save_s_ += save_s * static_cast<double>(std::max<std::int64_t>(0, step - step_));
  step_ = step;
  const double left_s = seconds - save_s, wait_s = std::min(seconds * wait_share, left_s);
  if (std::exchange(only_the_first_, window_.empty())) window_.clear();
  window_.push_back({.compute_s = left_s - wait_s, .wait_s = wait_s});
  if (window_.size() > window_steps) window_.pop_front();
}

void TimeLeft::on_eval(std::int64_t step, double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return;
  if (first_eval_ < 0) {
    first_eval_ = last_eval_ = step;
    first_eval_s_ = seconds;
  } else {
    last_eval_ = step;
    eval_s_ += seconds;
  }
}

void TimeLeft::expect_evaluations(std::int64_t every, double batches) {
  eval_every_ = every;
  eval_batches_ = batches;
}

double TimeLeft::expected_evaluations_s(std::int64_t total, double per_step_s) const {
  if (last_eval_ > first_step_ || eval_batches_ <= 0) return 0;
  const std::int64_t regular =
      eval_every_ > 0 ? (total + eval_every_ - 1) / eval_every_ - step_ / eval_every_ : 1;
  // An evaluation before the first step tells what the others take.
  const double each_s = first_eval_ < 0 ? eval_batches_ * per_step_s / 3 : first_eval_s_;
  return static_cast<double>(regular) * each_s;
}

double TimeLeft::typical_step_s() const {
  std::vector<double> compute_s;
  double wait_s = 0;
  for (const StepTime& step : window_) {
    compute_s.push_back(step.compute_s);
    wait_s += step.wait_s;
  }
  return median(std::move(compute_s)) + wait_s / static_cast<double>(window_.size());
}

std::optional<double> TimeLeft::seconds_left(std::int64_t total) const {
  if (window_.empty()) return std::nullopt;
  double per_step_s = typical_step_s();
  const double evaluations_s = expected_evaluations_s(total, per_step_s);
  if (step_ > first_step_) per_step_s += save_s_ / static_cast<double>(step_ - first_step_);
  // Only whole periods are used. With a partial one, the share would jump at every evaluation.
  if (last_eval_ > first_eval_)
    per_step_s += eval_s_ / static_cast<double>(last_eval_ - first_eval_);
  else if (first_eval_ > first_step_)
    per_step_s += first_eval_s_ / static_cast<double>(first_eval_ - first_step_);
  return per_step_s * static_cast<double>(std::max<std::int64_t>(0, total - step_)) + evaluations_s;
}

std::string format_span(double seconds) {
  if (!std::isfinite(seconds)) return "unknown";
  const auto whole = static_cast<std::int64_t>(std::llround(std::clamp(seconds, 0.0, 1e12)));
  if (whole < 60) return cat(whole, "s");
  if (whole < 600) return whole % 60 ? cat(whole / 60, "m", whole % 60, "s") : cat(whole / 60, "m");
  const std::int64_t minutes = (whole + 30) / 60;
  if (minutes < 60) return cat(minutes, "m");
  if (minutes < std::int64_t{24} * 60)
    return minutes % 60 ? cat(minutes / 60, "h", minutes % 60, "m") : cat(minutes / 60, "h");
  const std::int64_t hours = (minutes + 30) / 60;
  return hours % 24 ? cat(hours / 24, "d", hours % 24, "h") : cat(hours / 24, "d");
}

}  // namespace lockstep
