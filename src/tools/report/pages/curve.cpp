#include "tools/report/pages/curve.h"

#include <algorithm>
#include <cmath>

namespace lockstep {
namespace {

double mean_or_nan(double sum, std::int64_t values) {
  return values > 0 ? sum / static_cast<double>(values) : NAN;
}

template <class Range>
void widen_range(Range& range, double low, double high) {
  range.low = range.values == 0 ? low : std::min(range.low, low);
  range.high = range.values == 0 ? high : std::max(range.high, high);
}

// Joins two neighbouring columns into one.
CurveColumn joined(CurveColumn first, const CurveColumn& second) {
  if (second.values > 0) widen_range(first, second.low, second.high);
  first.at = second.at;
  first.values += second.values;
  first.not_finite += second.not_finite;
  first.sum += second.sum;
  first.smooth = second.smooth;
  return first;
}

}  // namespace

double CurveColumn::mean() const { return mean_or_nan(sum, values); }
double CurveTotals::mean() const { return mean_or_nan(sum, values); }

Curve::Curve(double weight, std::size_t most)
    : weight_(weight), most_(std::max<std::size_t>(most, 2)) {}

double Curve::smooth() const { return smooth_weight_ > 0 ? smooth_sum_ / smooth_weight_ : NAN; }

void Curve::halve() {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < columns_.size(); i += 2)
    columns_[kept++] = i + 1 < columns_.size() ? joined(columns_[i], columns_[i + 1]) : columns_[i];
  columns_.resize(kept);
  each_ *= 2;
}

void Curve::add(const CurvePlace& at, double value) {
  const bool finite = std::isfinite(value);
  totals_.last = finite ? value : NAN;
  if (finite) {
    widen_range(totals_, value, value);
    totals_.sum += value;
    ++totals_.values;
    smooth_sum_ = weight_ * smooth_sum_ + (1 - weight_) * value;
    smooth_weight_ = weight_ * smooth_weight_ + (1 - weight_);
  } else {
    ++totals_.not_finite;
  }
  const bool is_full =
      columns_.empty() || columns_.back().values + columns_.back().not_finite >= each_;
  if (is_full && columns_.size() >= most_) halve();
  const bool begins =
      columns_.empty() || columns_.back().values + columns_.back().not_finite >= each_;
  if (begins) columns_.emplace_back();
  CurveColumn& column = columns_.back();
  column.at = at;
  if (finite) {
    widen_range(column, value, value);
    column.sum += value;
    ++column.values;
  } else {
    ++column.not_finite;
  }
  column.smooth = smooth();
}

}  // namespace lockstep
