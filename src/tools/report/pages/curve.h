// Stores a quantity over the steps of a run in bounded memory. A million values become about a
// thousand columns that still show every peak.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lockstep {

// The place of a value: the number of finished steps, and the seconds of training until that step.
struct CurvePlace {
  double step = 0, time_s = 0;
};

// A column that combines consecutive values.
struct CurveColumn {
  CurvePlace at;            // place of the last value
  std::int64_t values = 0;  // number of finite values
  std::int64_t not_finite = 0;
  double sum = 0, low = 0, high = 0;  // over the finite values
  // the smoothed value after the last value; NaN before the first finite one
  double smooth = 0;

  double mean() const;  // NaN if no value is finite
};

struct CurveTotals {
  std::int64_t values = 0, not_finite = 0;
  double sum = 0, low = 0, high = 0, last = 0;  // last: NaN if it was not finite

  double mean() const;  // NaN if no value is finite
};

class Curve {
 public:
  // weight: the weight of earlier values in the smoothed value, in [0, 1), as in TensorBoard. The
  // smoothed value is an exponential mean without bias towards 0 at its start. most: the largest
  // number of columns, at least 2.
  explicit Curve(double weight = 0, std::size_t most = 2048);

  void add(const CurvePlace& at, double value);

  const std::vector<CurveColumn>& columns() const { return columns_; }
  const CurveTotals& totals() const { return totals_; }
  bool empty() const { return columns_.empty(); }
  bool is_thinned() const { return each_ > 1; }  // whether columns hold more than one value
  double smooth_last() const { return smooth(); }

 private:
  double smooth() const;
  void halve();

  double weight_;
  std::size_t most_;
  std::int64_t each_ = 1;  // number of values per column
  std::vector<CurveColumn> columns_;
  CurveTotals totals_;
  double smooth_sum_ = 0, smooth_weight_ = 0;
};

}  // namespace lockstep
