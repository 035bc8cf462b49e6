// Computes rates from sums.
#include <algorithm>
#include <cmath>
#include <limits>

#include "recipes/dimabsa/sentences/scores/score.h"

namespace lockstep::dimabsa {
namespace {

double ratio(double part, std::int64_t whole) {
  return whole > 0 ? part / static_cast<double>(whole) : 0;
}

double harmonic_mean(double a, double b) { return a + b > 0 ? 2 * a * b / (a + b) : 0; }

double pearson(const VaSums::Products& sums, std::int64_t count) {
  const double n = static_cast<double>(count);
  const double xx = n * sums.xx - sums.x * sums.x, yy = n * sums.yy - sums.y * sums.y;
  const double tiny = 1e-12 * n;  // tolerance for rounding
  if (count < 2 || xx <= tiny * sums.xx || yy <= tiny * sums.yy)
    return std::numeric_limits<double>::quiet_NaN();
  return (n * sums.xy - sums.x * sums.y) / std::sqrt(xx * yy);
}

constexpr double middle = 5;  // the middle of the scale, which keeps squares small

void add_pair(VaSums::Products& sums, double gold, double predicted) {
  const double x = gold - middle, y = predicted - middle;
  sums.x += x;
  sums.y += y;
  sums.xx += x * x;
  sums.yy += y * y;
  sums.xy += x * y;
}

void add_sums(VaSums::Products& sums, const VaSums::Products& other) {
  sums.x += other.x;
  sums.y += other.y;
  sums.xx += other.xx;
  sums.yy += other.yy;
  sums.xy += other.xy;
}

}  // namespace

double TupleSums::c_precision() const { return ratio(credit, predicted); }
double TupleSums::c_recall() const { return ratio(credit, gold); }
double TupleSums::c_f1() const { return harmonic_mean(c_precision(), c_recall()); }
double TupleSums::precision() const {
  return ratio(static_cast<double>(shared_keys), predicted_keys);
}
double TupleSums::recall() const { return ratio(static_cast<double>(shared_keys), gold_keys); }
double TupleSums::f1() const { return harmonic_mean(precision(), recall()); }

TupleSums& TupleSums::operator+=(const TupleSums& other) {
  gold += other.gold;
  predicted += other.predicted;
  matched += other.matched;
  credit += other.credit;
  gold_keys += other.gold_keys;
  predicted_keys += other.predicted_keys;
  shared_keys += other.shared_keys;
  return *this;
}

void VaSums::add(const ValenceArousal& gold, const ValenceArousal& predicted) {
  const double v = predicted.valence - gold.valence, a = predicted.arousal - gold.arousal;
  ++count;
  squared += v * v + a * a;
  add_pair(valence, gold.valence, predicted.valence);
  add_pair(arousal, gold.arousal, predicted.arousal);
}

double VaSums::rmse(bool normalized) const {
  if (count == 0) return std::numeric_limits<double>::quiet_NaN();
  const double rmse = std::sqrt(squared / static_cast<double>(count));
  return normalized ? rmse / std::sqrt(128.0) : rmse;
}

double VaSums::rmse_of_constant(const ValenceArousal& prediction) const {
  if (count == 0) return std::numeric_limits<double>::quiet_NaN();
  const auto n = static_cast<double>(count);
  const auto squares = [&](const Products& sums, double constant) {
    return sums.xx - 2 * constant * sums.x + n * constant * constant;
  };
  const double sum =
      squares(valence, prediction.valence - middle) + squares(arousal, prediction.arousal - middle);
  return std::sqrt(std::max(0.0, sum) / n);
}

double VaSums::pearson_valence() const { return pearson(valence, count); }
double VaSums::pearson_arousal() const { return pearson(arousal, count); }

VaSums& VaSums::operator+=(const VaSums& other) {
  count += other.count;
  squared += other.squared;
  add_sums(valence, other.valence);
  add_sums(arousal, other.arousal);
  return *this;
}

}  // namespace lockstep::dimabsa
