// Computes a device's energy from samples of its power. Samples may be missing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace lockstep {

class SampleGaps {
 public:
  // Returns the seconds since the previous sample. Returns 0 if samples are missing in between, or
  // if there is no previous sample.
  double next(double time) {
    // A gap of more than this many usual intervals between samples means that samples are missing.
    constexpr double longest = 4;
    // For the first three samples, such a gap must exceed a number of seconds, and also a multiple
    // of the usual interval.
    constexpr double least_pause_s = 60, pause_times = 10;
    const double gap = samples_ > 0 ? time - time_ : 0;
    time_ = time;
    ++samples_;
    if (!(gap > 0)) return 0;
    const bool missing = samples_ > 3
                             ? gap > longest * usual_
                             : usual_ > 0 && gap > least_pause_s && gap > pause_times * usual_;
    if (missing) return 0;
    usual_ = usual_ == 0 ? gap : std::min(usual_ * 1.05, std::max(gap, usual_));
    return gap;
  }

 private:
  double time_ = 0, usual_ = 0;
  std::int64_t samples_ = 0;
};

// Sums the energy of a device as trapezoids between samples. A gap with missing samples adds
// nothing.
class DeviceEnergy {
 public:
  void add(double time, double watts) {
    joules_ += gaps_.next(time) * (watts + watts_) / 2;
    watts_ = watts;
    ++samples_;
  }
  std::optional<double> joules() const {
    return samples_ < 2 ? std::nullopt : std::optional(joules_);
  }

 private:
  SampleGaps gaps_;
  double watts_ = 0, joules_ = 0;
  std::int64_t samples_ = 0;
};

}  // namespace lockstep
