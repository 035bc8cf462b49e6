#include "core/media/charts/chart_scale.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/text/text.h"

namespace lockstep {
namespace {

constexpr double largest = 1e300, smallest = 1e-300;  // limits for ranges and ratios

// Rounds up to 1, 2, 5 or 10 times a power of ten.
double round_step(double step) {
  const double power = std::pow(10.0, std::floor(std::log10(step)));
  for (const double digit : {1.0, 2.0, 5.0})
    if (digit * power >= step * (1 - 1e-9)) return digit * power;
  return 10 * power;
}

// A label with enough digits to differ from its neighbours.
std::string label_of(double value, double step) {
  constexpr double plain_from = 1e-4, plain_to = 1e6;
  const double most = std::max(std::fabs(value), step);
  if (value != 0 && (most >= plain_to || most < plain_from)) {
    const double size = std::floor(std::log10(most)) - std::floor(std::log10(step));
    return scientific(value, static_cast<int>(std::clamp(size, 0.0, 6.0)));
  }
  const double digits = -std::floor(std::log10(step) + 1e-9);
  return fixed(value, static_cast<int>(std::clamp(digits, 0.0, 6.0)));
}

}  // namespace

DataRange::DataRange(bool log)
    : low(std::numeric_limits<double>::infinity()), high(-low), log_(log) {}

void DataRange::add(double value) {
  if (!std::isfinite(value) || std::fabs(value) > largest || (log_ && value < smallest)) return;
  low = std::min(low, value);
  high = std::max(high, value);
}

void DataRange::add(const std::vector<double>& values) {
  for (const double value : values) add(value);
}

ChartScale::ChartScale(const ChartAxis& axis, double low, double high, double from, double to,
                       int wanted)
    : log_(axis.log), low_(low), high_(high), from_(from), to_(to) {
  DataRange range(log_);
  for (const double value : {axis.low.value_or(low), axis.high.value_or(high)}) range.add(value);
  low_ = range.empty() ? (log_ ? 1 : 0) : range.low;
  high_ = range.empty() ? (log_ ? 10 : 1) : range.high;
  if (!(high_ > low_)) {
    const double room = std::fabs(low_) < smallest ? 1 : std::fabs(low_) / 2;
    low_ -= room;
    high_ += room;
  }
  if (log_)
    log_ticks(wanted);
  else
    linear_ticks(axis, wanted);
}

bool ChartScale::has(double value) const {
  return std::isfinite(value) && std::fabs(value) <= largest && (!log_ || value >= smallest);
}

double ChartScale::place(double value) const {
  const double share = log_ ? std::log(value / low_) / std::log(high_ / low_)
                            : value / (high_ - low_) - low_ / (high_ - low_);
  // Drawing programs have problems with very large coordinates.
  return std::clamp(from_ + share * (to_ - from_), -1e5, 1e5);
}

void ChartScale::linear_ticks(const ChartAxis& axis, int wanted) {
  const double step = round_step((high_ - low_) / std::max(wanted, 1));
  if (!axis.low) low_ = std::floor(low_ / step + 1e-9) * step;
  if (!axis.high) high_ = std::ceil(high_ / step - 1e-9) * step;
  const double first = std::ceil(low_ / step - 1e-9) + 0.0;  // -0 + 0 is 0, which has no sign
  for (double n = first; n * step <= high_ + 1e-9 * step; ++n) {
    if (ticks_.size() > 1000 || n + 1 == n) break;  // the numbers are too close to differ
    ticks_.push_back({n * step, label_of(n * step, step)});
  }
}

void ChartScale::log_ticks(int wanted) {
  const double first = std::floor(std::log10(low_) + 1e-9),
               last = std::ceil(std::log10(high_) - 1e-9);
  const double every = std::max(1.0, std::ceil((last - first) / std::max(wanted, 1)));
  const bool between = last - first <= 2;  // with few decades, 2 and 5 also get marks
  for (double power = first; power <= last; power += every)
    for (const double digit : {1.0, 2.0, 5.0}) {
      const double value = digit * std::pow(10.0, power);
      if ((digit != 1 && !between) || value < low_ * (1 - 1e-9) || value > high_ * (1 + 1e-9))
        continue;
      ticks_.push_back({value, general(value, 3)});
    }
}

}  // namespace lockstep
