#include "tools/jobs/search/setting_trial.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lockstep {
namespace {

constexpr double least_gain = 0.03;
constexpr double errors = 2;  // a difference above this number of standard errors is not noise
// a trial gives up after this many times the required jobs, if too few of them succeed
constexpr std::int64_t tries = 3;

// The standard error of the mean, relative to the mean.
double relative_error(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  if (values.size() < 2) return 1;
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  if (mean <= 0) return 1;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / (count - 1) / count) / mean;
}

}  // namespace

double SettingTrial::per_minute() const {
  return seconds > 0 ? 60 * static_cast<double>(done) / seconds : 0;
}

bool is_clearly_faster(const SettingTrial& one, const SettingTrial& other) {
  const double gain = std::max(least_gain, errors * std::hypot(one.noise, other.noise));
  return one.per_minute() > (1 + gain) * other.per_minute();
}

void TrialTimer::begin(double now_s) {
  if (!begun_s_) begun_s_ = last_s_ = now_s;
}

void TrialTimer::ended(End how, double started_s, double ended_s, std::int64_t job_bytes) {
  if (how == End::out_of_memory) out_of_memory_ = true;
  job_bytes_ = std::max(job_bytes_, job_bytes);
  if (!begun_s_) return;
  if (loaded_ < needs_.to_load) {
    if (++loaded_ == needs_.to_load) begun_s_ = last_s_ = ended_s;
    return;
  }
  ++ended_;
  if (how == End::failed || how == End::out_of_memory) ++failed_;
  if (how == End::done) durations_s_.push_back(ended_s - started_s);
  job_s_ += ended_s - std::max(started_s, *begun_s_);
  last_s_ = std::max(last_s_, ended_s);
}

bool TrialTimer::is_over() const {
  if (out_of_memory_) return true;
  const auto done = static_cast<std::int64_t>(durations_s_.size());
  if (ended_ >= tries * needs_.jobs && done < needs_.jobs) return true;
  return begun_s_ && done >= needs_.jobs && ended_ % needs_.at_once == 0 &&
         last_s_ - *begun_s_ >= needs_.seconds;
}

SettingTrial TrialTimer::result() const {
  SettingTrial trial{.setting = setting_,
                     .seconds = begun_s_ ? last_s_ - *begun_s_ : 0,
                     .done = static_cast<std::int64_t>(durations_s_.size()),
                     .failed = failed_,
                     .out_of_memory = out_of_memory_,
                     .noise = relative_error(durations_s_),
                     .job_bytes = job_bytes_};
  if (trial.seconds > 0) trial.together = job_s_ / trial.seconds;
  return trial;
}

}  // namespace lockstep
