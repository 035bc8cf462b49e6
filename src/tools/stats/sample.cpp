#include "tools/stats/sample.h"

#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/base/text/text.h"

namespace lockstep {
namespace {

bool fits(Scale scale, double value) {
  return std::isfinite(value) && (scale == Scale::difference || value > 0);
}

double on_scale(Scale scale, double value) {
  return scale == Scale::ratio ? std::log(value) : value;
}

}  // namespace

Sample::Sample(Scale scale, std::span<const double> values)
    : count(static_cast<int>(values.size())) {
  constexpr double not_known = std::numeric_limits<double>::quiet_NaN();
  mean = variance = not_known;
  if (values.empty()) return;
  // Values are taken relative to the first one, so that equal values have a spread of exactly 0.
  const double first = on_scale(scale, values[0]);
  double sum = 0;
  for (const double value : values) sum += on_scale(scale, value) - first;
  const double shift = sum / count;
  mean = first + shift;
  if (count == 1) return;
  double squares = 0;
  for (const double value : values) {
    const double apart = on_scale(scale, value) - first - shift;
    squares += apart * apart;
  }
  variance = squares / (count - 1);
}

double Sample::mean_value(Scale scale) const {
  return scale == Scale::ratio ? std::exp(mean) : mean;
}

std::vector<double> fitting(Scale scale, std::span<const double> values) {
  std::vector<double> kept;
  for (const double value : values)
    if (fits(scale, value)) kept.push_back(value);
  return kept;
}

std::pair<std::vector<double>, std::vector<double>> fitting_pairs(Scale scale,
                                                                  std::span<const double> a,
                                                                  std::span<const double> b) {
  if (a.size() != b.size())
    throw Error(
        cat("pairs need as many values of A as of B, but there are ", a.size(), " and ", b.size()));
  std::pair<std::vector<double>, std::vector<double>> kept;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!fits(scale, a[i]) || !fits(scale, b[i])) continue;
    kept.first.push_back(a[i]);
    kept.second.push_back(b[i]);
  }
  return kept;
}

std::vector<double> shifts_of(Scale scale, std::span<const double> a, std::span<const double> b) {
  std::vector<double> shifts;
  for (std::size_t i = 0; i < a.size(); ++i)
    shifts.push_back(on_scale(scale, b[i]) - on_scale(scale, a[i]));
  return shifts;
}

void check_confidence(double confidence) {
  if (!(confidence > 0 && confidence < 1))
    throw Error(cat("the confidence of an interval must be between 0 and 1, but is ", confidence),
                "0.95 is usual");
}

}  // namespace lockstep
