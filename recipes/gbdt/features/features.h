// The fifteen features of a bar, as pandas computes them, and the label.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "recipes/gbdt/bars/bars.h"

namespace lockstep::gbdt {

inline constexpr std::array feature_names = {
    "sma_20",    "sma_50",   "ema_12", "ema_26",      "rsi_14",    "atr_14", "vwap", "bb_upper",
    "bb_middle", "bb_lower", "macd",   "macd_signal", "macd_hist", "adx_14", "obv"};
inline constexpr std::size_t feature_count = feature_names.size();

// Bars that a window needs before its first: SMA 50 looks back over 49, and further ones let the
// exponential means forget how they began.
inline constexpr std::size_t warm_up_bars = 60;

// A row per bar, row-major. NaN where the bars before do not reach, and where a feature divides by
// nothing (a price that has not moved for 14 bars); of own columns, where a cell is missing.
struct FeatureTable {
  std::vector<std::string> names;
  std::vector<double> values;
  std::size_t warm_up = warm_up_bars;  // bars that a window needs before its first
  bool takes_missing = false;          // a row may lack features: LightGBM knows what to do

  std::size_t columns() const { return names.size(); }
  std::size_t rows() const { return columns() == 0 ? 0 : values.size() / columns(); }
  const double* row(std::size_t index) const { return values.data() + index * columns(); }
  bool complete(std::size_t index) const;  // the row may be used
};

// Of a symbol's whole series: VWAP and OBV count from its first bar.
// Changes d = close[t] - close[t-1], typical price p = (high + low + close) / 3:
//   sma_N, bb_middle   mean of the last N closes (bb: 20)
//   ema_N              y = (1 - a) y + a close, a = 2 / (N + 1), from the first close on
//   rsi_14             100 - 100 / (1 + mean of the last 14 gains / mean of the last 14 losses)
//   atr_14             mean of the last 14 true ranges; the first is high - low
//   vwap               sum of p × volume / sum of volume, from the first bar on
//   bb_upper, bb_lower bb_middle ± 2 sample deviations of the last 20 closes
//   macd…              ema_12 - ema_26; its ema_9; their difference
//   adx_14             mean of the last 14 of 100 |P - M| / (P + M), P and M being the sums of the
//                      last 14 directional movements over atr_14
//   obv                sum of volume × sign of d
FeatureTable compute_features(const Bars& bars);

// The columns that were asked for by name.
FeatureTable own_features(const Bars& bars);

// close[t + horizon] / close[t] - 1 per bar; NaN where there is no such bar. horizon in bars.
std::vector<double> forward_returns(const Bars& bars, std::size_t horizon);

}  // namespace lockstep::gbdt
