// Computes the fifteen features of a bar, in two versions, and the returns from which labels are
// made.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "recipes/gbdt/bars/bars.h"

namespace lockstep::gbdt {

// The formulas of the features. A model always uses the set with which it was trained.
//   v1  EMA, MACD, VWAP and OBV are computed from the first bar of the file on, so values depend on
//       where the file begins.
//   v2  Every value is computed from its bar and the 60 bars before it. So a value is bitwise the
//       same wherever the file begins.
enum class FeatureSet { v1, v2 };

inline constexpr std::size_t feature_count = 15;
// Returns the names of the features, in the order of the columns.
const std::array<const char*, feature_count>& feature_names(FeatureSet set);

// The number of bars that the file must have before the first bar of a window. v2 uses 60 earlier
// bars. In v1, SMA 50 uses 49 earlier bars, and more bars reduce the influence of the file's
// beginning on EMA and MACD.
inline constexpr std::size_t warm_up_bars = 60;

// A table with one row per bar, row-major. A computed feature is NaN if there are too few earlier
// bars. It is also NaN if it would divide by 0, for example if a price has not moved for 14 bars.
// In columns of own_features, a missing cell is NaN.
struct FeatureTable {
  std::vector<std::string> names;
  std::vector<double> values;
  std::size_t warm_up = warm_up_bars;  // rows that must lie before a window
  // whether rows with missing features are used, because LightGBM accepts missing values
  bool takes_missing = false;

  std::size_t columns() const { return names.size(); }
  std::size_t rows() const { return columns() == 0 ? 0 : values.size() / columns(); }
  const double* row(std::size_t index) const { return values.data() + index * columns(); }
  bool complete(std::size_t index) const;  // whether the row may be used
};

// Computes the features of a symbol's whole series. d = close[t] - close[t-1] is the change, and p
// = (high + low + close) / 3 is the typical price. Both sets have:
//   sma_N, bb_middle   mean of the last N closes; bb_middle: N = 20
//   rsi_14             100 - 100 / (1 + mean of the last 14 gains / mean of the last 14 losses)
//   atr_14             mean of the last 14 true ranges; the first one of a file is high - low
//   bb_upper, bb_lower bb_middle ± 2 sample deviations of the last 20 closes
//   adx_14             mean of the last 14 values of 100 |P - M| / (P + M). P and M are the sums of
//                      the last 14 positive and negative directional movements, each divided by
//                      atr_14.
// v1:
//   ema_N              y = (1 - a) y + a close, a = 2 / (N + 1), from the first close on
//   macd…              macd: ema_12 - ema_26; macd_signal: its ema_9; macd_hist: the difference
//   vwap               sum of p × volume / sum of volume, from the first bar on
//   obv                sum of volume × sign of d, from the second bar on
// v2, whose rows before the 61st bar are NaN:
//   ema_N              mean of the last 61 closes weighted by (1 - a)^age
//   macd…              macd and macd_hist as in v1; macd_signal: mean of the macd of the last 61
//                      bars, weighted as in ema_9. For each of these bars, macd is computed only
//                      from closes of the 61 bars.
//   vwap_20, obv_20    as in v1, but sums over the last 20 bars
FeatureTable compute_features(const Bars& bars, FeatureSet set);

// Returns the columns that the user requested by name (Bars::own).
FeatureTable own_features(const Bars& bars);

// Returns close[t + horizon] / close[t] - 1 for each bar t. The value is NaN if bar t + horizon
// does not exist.
std::vector<double> forward_returns(const Bars& bars, std::size_t horizon);

}  // namespace lockstep::gbdt
