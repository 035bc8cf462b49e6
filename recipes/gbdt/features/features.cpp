#include "recipes/gbdt/features/features.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "core/base/process/memory.h"

namespace lockstep::gbdt {
namespace {

using Series = std::vector<double>;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// The number of bars whose values are computed together in SIMD lanes.
constexpr std::size_t lanes = 4;
using Lanes = std::array<double, lanes>;

// Unrolls the loop over lanes at compile time, so that sums stay in registers.
template <class Visit>
void each_lane(Visit visit) {
  [&]<std::size_t... j>(std::index_sequence<j...>) { (visit(j), ...); }
  (std::make_index_sequence<lanes>{});
}

// Calls visit(t, at) for each block of `lanes` bars, beginning with bar t = `before`. `at` points
// to x[t]; the `before` values in front of it and the rest of the block can be read. The last block
// is padded with zeros, so that every bar runs the same instructions.
template <class Visit>
void each_block(const Series& x, std::size_t before, Visit visit) {
  if (x.size() <= before) return;
  const std::size_t last = x.size() - 1 - (x.size() - 1 - before) % lanes;
  Series end(x.begin() + static_cast<std::ptrdiff_t>(last - before), x.end());
  end.resize(before + lanes, 0);
  for (std::size_t t = before; t < x.size(); t += lanes)
    visit(t, t == last ? end.data() + before : x.data() + t);
}

void put(Series& series, std::size_t t, const Lanes& values) {
  for (std::size_t j = 0; j < lanes && t + j < series.size(); ++j) series[t + j] = values[j];
}

// Each window is summed anew, the oldest bar first, so that old bars leave no rounding error.
Series rolling_sum(const Series& x, std::size_t bars) {
  Series sums(x.size(), nan);
  each_block(x, bars - 1, [&](std::size_t t, const double* now) {
    Lanes sum{};
    for (const double* at = now + 1 - bars; at <= now; ++at)
      each_lane([&](std::size_t j) { sum[j] += at[j]; });
    put(sums, t, sum);
  });
  return sums;
}

Series rolling_mean(const Series& x, std::size_t bars) {
  Series means = rolling_sum(x, bars);
  for (double& mean : means) mean /= static_cast<double>(bars);
  return means;
}

// The sample deviation around given means.
Series rolling_deviation(const Series& x, const Series& means, std::size_t bars) {
  Series deviations(x.size(), nan);
  each_block(x, bars - 1, [&](std::size_t t, const double* now) {
    Lanes mean{}, squares{};
    for (std::size_t j = 0; j < lanes && t + j < x.size(); ++j) mean[j] = means[t + j];
    for (const double* at = now + 1 - bars; at <= now; ++at)
      each_lane([&](std::size_t j) { squares[j] += (at[j] - mean[j]) * (at[j] - mean[j]); });
    for (double& sum : squares) sum = std::sqrt(sum / static_cast<double>(bars - 1));
    put(deviations, t, squares);
  });
  return deviations;
}

// Uses the operations of pandas in the same order, because MACD is a difference of two nearly equal
// means. A constant series keeps its exact value. Weights are divided by their sum, because
// rounding may keep it from being 1.
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

Series traded_money(const Bars& bars) {
  Series money(bars.size());
  for (std::size_t t = 0; t < bars.size(); ++t)
    money[t] = (bars.high[t] + bars.low[t] + bars.close[t]) / 3 * bars.volume[t];
  return money;
}

// The volume, with a minus sign if the close fell, and 0 if it did not change. The first bar has 0.
Series signed_volume(const Bars& bars) {
  Series volume(bars.size(), 0);
  for (std::size_t t = 1; t < bars.size(); ++t) {
    const double change = bars.close[t] - bars.close[t - 1];
    volume[t] = change > 0 ? bars.volume[t] : change < 0 ? -bars.volume[t] : 0;
  }
  return volume;
}

Series running_sum(Series x) {
  for (std::size_t t = 1; t < x.size(); ++t) x[t] += x[t - 1];
  return x;
}

Series quotient(const Series& a, const Series& b) {
  Series result(a.size());
  for (std::size_t t = 0; t < a.size(); ++t) result[t] = a[t] / b[t];
  return result;
}

Series combine(const Series& a, const Series& b, double factor) {
  Series sums(a.size());
  for (std::size_t t = 0; t < a.size(); ++t) sums[t] = a[t] + factor * b[t];
  return sums;
}

// The series whose computation differs between the feature sets.
struct Averages {
  Series ema12{}, ema26{}, macd{}, signal{}, vwap{}, obv{};
};

Averages since_the_first_bar(const Bars& bars) {
  Averages all{.ema12 = exponential_mean(bars.close, 12),
               .ema26 = exponential_mean(bars.close, 26),
               .vwap = quotient(running_sum(traded_money(bars)), running_sum(bars.volume)),
               .obv = running_sum(signed_volume(bars))};
  all.macd = combine(all.ema12, all.ema26, -1);
  all.signal = exponential_mean(all.macd, 9);
  return all;
}

constexpr std::size_t lookback = warm_up_bars + 1;  // number of bars, including the newest
using Weights = std::array<double, lookback>;       // indexed by age; the newest bar has age 0

// The weights of the exponential mean of a series of `length` bars.
Weights exponential_weights(double span, std::size_t length) {
  const double old = 1.0 - 2.0 / (span + 1.0);
  Weights weights{};
  double weight = 1, sum = 0;
  for (std::size_t age = 0; age < length; ++age, weight *= old) sum += weights[age] = weight;
  for (double& one : weights) one /= sum;
  return weights;
}

// The weight of each close in the MACD's signal line. A close counts through the MACD of its own
// bar and of each later bar. These means begin at the first bar of the lookback.
Weights signal_weights() {
  const Weights recent = exponential_weights(9, lookback);
  Weights weights{};
  for (std::size_t age = 0; age < lookback; ++age) {
    const Weights fast = exponential_weights(12, lookback - age),
                  slow = exponential_weights(26, lookback - age);
    for (std::size_t i = 0; age + i < lookback; ++i)
      weights[age + i] += recent[age] * (fast[i] - slow[i]);
  }
  return weights;
}

// Each mean is the newest close plus the weighted distances of the other closes from it. So a
// constant price gives exactly itself, and a MACD of 0.
void add_exponential_means(const Series& close, Averages& all) {
  static const Weights weights12 = exponential_weights(12, lookback),
                       weights26 = exponential_weights(26, lookback), weights9 = signal_weights();
  for (Series* const one : {&all.ema12, &all.ema26, &all.macd, &all.signal})
    one->assign(close.size(), nan);
  each_block(close, warm_up_bars, [&](std::size_t t, const double* now) {
    Lanes fast{}, slow{}, signal{};
    for (std::size_t age = warm_up_bars; age > 0; --age)
      each_lane([&](std::size_t j) {
        const double distance = *(now + j - age) - now[j];
        fast[j] += weights12[age] * distance;
        slow[j] += weights26[age] * distance;
        signal[j] += weights9[age] * distance;
      });
    put(all.signal, t, signal);
    Lanes macd{};
    each_lane([&](std::size_t j) {
      macd[j] = fast[j] - slow[j];
      fast[j] += now[j];
      slow[j] += now[j];
    });
    put(all.macd, t, macd);
    put(all.ema12, t, fast);
    put(all.ema26, t, slow);
  });
}

Averages of_the_last_bars(const Bars& bars) {
  constexpr std::size_t bars_of_sums = 20;
  Averages all{.vwap = quotient(rolling_sum(traded_money(bars), bars_of_sums),
                                rolling_sum(bars.volume, bars_of_sums)),
               .obv = rolling_sum(signed_volume(bars), bars_of_sums)};
  add_exponential_means(bars.close, all);
  return all;
}

constexpr std::array<std::array<const char*, feature_count>, 2> names_of_sets = {
    {{"sma_20", "sma_50", "ema_12", "ema_26", "rsi_14", "atr_14", "vwap", "bb_upper", "bb_middle",
      "bb_lower", "macd", "macd_signal", "macd_hist", "adx_14", "obv"},
     {"sma_20", "sma_50", "ema_12", "ema_26", "rsi_14", "atr_14", "vwap_20", "bb_upper",
      "bb_middle", "bb_lower", "macd", "macd_signal", "macd_hist", "adx_14", "obv_20"}}};

}  // namespace

const std::array<const char*, feature_count>& feature_names(FeatureSet set) {
  return names_of_sets[static_cast<std::size_t>(set)];
}

bool FeatureTable::complete(std::size_t index) const {
  return takes_missing || std::none_of(row(index), row(index) + columns(),
                                       [](double value) { return std::isnan(value); });
}

FeatureTable compute_features(const Bars& bars, FeatureSet set) {
  const bool anywhere = set == FeatureSet::v2;
  const Series sma20 = rolling_mean(bars.close, 20);
  const Series deviation = rolling_deviation(bars.close, sma20, 20);
  const Series atr = rolling_mean(true_range(bars), 14);
  const Averages means = anywhere ? of_the_last_bars(bars) : since_the_first_bar(bars);
  const Series sma50 = rolling_mean(bars.close, 50), rsi14 = rsi(bars.close, 14),
               upper = combine(sma20, deviation, 2), lower = combine(sma20, deviation, -2),
               histogram = combine(means.macd, means.signal, -1), adx14 = adx(bars, atr, 14);
  const std::array<const Series*, feature_count> columns = {
      &sma20, &sma50, &means.ema12, &means.ema26,  &rsi14,     &atr,   &means.vwap, &upper,
      &sma20, &lower, &means.macd,  &means.signal, &histogram, &adx14, &means.obv};
  const auto& names = feature_names(set);
  FeatureTable table{.names = {names.begin(), names.end()}, .values = {}};
  reserve_in_large_pages(table.values, bars.size() * feature_count);
  table.values.resize(bars.size() * feature_count, nan);
  for (std::size_t t = anywhere ? warm_up_bars : 0; t < bars.size(); ++t)
    for (std::size_t f = 0; f < feature_count; ++f)
      table.values[t * feature_count + f] = (*columns[f])[t];
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
