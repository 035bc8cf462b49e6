#include "recipes/gbdt/features/features.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "base/memory.h"

namespace lockstep::gbdt {
namespace {

using Series = std::vector<double>;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// Each window is added up by itself: what left it leaves no rounding behind.
Series rolling_sum(const Series& x, std::size_t bars) {
  Series sums(x.size(), nan);
  for (std::size_t t = bars - 1; t < x.size(); ++t) {
    double sum = 0;
    for (std::size_t i = t + 1 - bars; i <= t; ++i) sum += x[i];
    sums[t] = sum;
  }
  return sums;
}

Series rolling_mean(const Series& x, std::size_t bars) {
  Series means = rolling_sum(x, bars);
  for (double& mean : means) mean /= static_cast<double>(bars);
  return means;
}

// Sample deviation around given means.
Series rolling_deviation(const Series& x, const Series& means, std::size_t bars) {
  Series deviations(x.size(), nan);
  for (std::size_t t = bars - 1; t < x.size(); ++t) {
    double squares = 0;
    for (std::size_t i = t + 1 - bars; i <= t; ++i)
      squares += (x[i] - means[t]) * (x[i] - means[t]);
    deviations[t] = std::sqrt(squares / static_cast<double>(bars - 1));
  }
  return deviations;
}

// The same operations in the same order as pandas, because MACD is a difference of two that are
// nearly equal: a value that does not move stays what it is, and the weights are divided by their
// sum, which rounding may keep from being 1.
Series exponential_mean(const Series& x, double span) {
  const double alpha = 1.0 / (1.0 + (span - 1.0) / 2.0), old = 1.0 - alpha;
  Series means(x.size());
  if (x.empty()) return means;
  means[0] = x[0];
  for (std::size_t t = 1; t < x.size(); ++t)
    means[t] = means[t - 1] == x[t] ? x[t] : (old * means[t - 1] + alpha * x[t]) / (old + alpha);
  return means;
}

Series rsi(const Series& close, std::size_t bars) {
  Series gains(close.size(), 0), losses(close.size(), 0);
  for (std::size_t t = 1; t < close.size(); ++t) {
    const double change = close[t] - close[t - 1];
    gains[t] = std::max(change, 0.0);
    losses[t] = std::max(-change, 0.0);
  }
  const Series gain = rolling_mean(gains, bars), loss = rolling_mean(losses, bars);
  Series index(close.size());
  for (std::size_t t = 0; t < close.size(); ++t) index[t] = 100 - 100 / (1 + gain[t] / loss[t]);
  return index;
}

Series true_range(const Bars& bars) {
  Series range(bars.size());
  for (std::size_t t = 0; t < bars.size(); ++t) {
    range[t] = bars.high[t] - bars.low[t];
    if (t == 0) continue;
    range[t] = std::max({range[t], std::abs(bars.high[t] - bars.close[t - 1]),
                         std::abs(bars.low[t] - bars.close[t - 1])});
  }
  return range;
}

Series adx(const Bars& bars, const Series& atr, std::size_t length) {
  Series plus(bars.size(), 0), minus(bars.size(), 0);
  for (std::size_t t = 1; t < bars.size(); ++t) {
    const double up = bars.high[t] - bars.high[t - 1], down = bars.low[t - 1] - bars.low[t];
    if (up > down && up > 0) plus[t] = up;
    if (down > up && down > 0) minus[t] = down;
  }
  const Series up = rolling_sum(plus, length), down = rolling_sum(minus, length);
  Series dx(bars.size());
  for (std::size_t t = 0; t < bars.size(); ++t) {
    const double p = 100 * (up[t] / atr[t]), m = 100 * (down[t] / atr[t]);
    dx[t] = 100 * std::abs(p - m) / (p + m);
  }
  return rolling_mean(dx, length);
}

Series vwap(const Bars& bars) {
  Series prices(bars.size());
  double money = 0, volume = 0;
  for (std::size_t t = 0; t < bars.size(); ++t) {
    money += (bars.high[t] + bars.low[t] + bars.close[t]) / 3 * bars.volume[t];
    volume += bars.volume[t];
    prices[t] = money / volume;
  }
  return prices;
}

Series obv(const Bars& bars) {
  Series sums(bars.size(), 0);
  for (std::size_t t = 1; t < bars.size(); ++t) {
    const double change = bars.close[t] - bars.close[t - 1];
    sums[t] = sums[t - 1] + (change > 0 ? bars.volume[t] : change < 0 ? -bars.volume[t] : 0);
  }
  return sums;
}

Series combine(const Series& a, const Series& b, double factor) {
  Series sums(a.size());
  for (std::size_t t = 0; t < a.size(); ++t) sums[t] = a[t] + factor * b[t];
  return sums;
}

}  // namespace

bool FeatureTable::complete(std::size_t index) const {
  return takes_missing || std::none_of(row(index), row(index) + columns(),
                                       [](double value) { return std::isnan(value); });
}

FeatureTable compute_features(const Bars& bars) {
  const Series sma20 = rolling_mean(bars.close, 20);
  const Series deviation = rolling_deviation(bars.close, sma20, 20);
  const Series ema12 = exponential_mean(bars.close, 12), ema26 = exponential_mean(bars.close, 26);
  const Series macd = combine(ema12, ema26, -1), signal = exponential_mean(macd, 9);
  const Series atr = rolling_mean(true_range(bars), 14);
  const std::array<Series, feature_count> columns = {sma20,
                                                     rolling_mean(bars.close, 50),
                                                     ema12,
                                                     ema26,
                                                     rsi(bars.close, 14),
                                                     atr,
                                                     vwap(bars),
                                                     combine(sma20, deviation, 2),
                                                     sma20,
                                                     combine(sma20, deviation, -2),
                                                     macd,
                                                     signal,
                                                     combine(macd, signal, -1),
                                                     adx(bars, atr, 14),
                                                     obv(bars)};
  FeatureTable table{.names = {feature_names.begin(), feature_names.end()}, .values = {}};
  reserve_in_large_pages(table.values, bars.size() * feature_count);
  table.values.resize(bars.size() * feature_count);
  for (std::size_t t = 0; t < bars.size(); ++t)
    for (std::size_t f = 0; f < feature_count; ++f)
      table.values[t * feature_count + f] = columns[f][t];
  return table;
}

FeatureTable own_features(const Bars& bars) {
  return {.names = bars.own_names, .values = bars.own, .warm_up = 0, .takes_missing = true};
}

std::vector<double> forward_returns(const Bars& bars, std::size_t horizon) {
  std::vector<double> returns(bars.size(), nan);
  for (std::size_t t = 0; t + horizon < bars.size(); ++t)
    returns[t] = bars.close[t + horizon] / bars.close[t] - 1;
  return returns;
}

}  // namespace lockstep::gbdt
