#include "recipes/gbdt/bars/made_bars.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/base/hash.h"
#include "core/base/text/text.h"
#include "core/base/whole_number.h"

namespace lockstep::gbdt {
namespace {

// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : state_(seed) {}

  double uniform() {  // in (0, 1]
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return static_cast<double>(((z ^ (z >> 31)) >> 11) + 1) * 0x1p-53;
  }
  double normal() {  // Box-Muller transform
    const double radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  std::uint64_t state_;
};

// The drift after the last close. It depends on the RSI of the last 14 bars.
double drift(const std::vector<double>& closes) {
  constexpr std::size_t bars = 14;
  if (closes.size() <= bars) return 0;
  double gains = 0, losses = 0;
  for (std::size_t i = closes.size() - bars; i < closes.size(); ++i) {
    const double change = closes[i] - closes[i - 1];
    (change > 0 ? gains : losses) += std::abs(change);
  }
  const double rsi = 100 * gains / (gains + losses);
  return rsi < 40 ? 0.01 : rsi > 60 ? -0.01 : 0;
}

double to_cents(double price) { return std::max(0.01, std::round(price * 100) / 100); }

}  // namespace

Bars make_bars(const std::string& symbol, const MadeBars& how) {
  Bars bars{.symbol = symbol};
  Numbers numbers(hash64(cat(symbol, " ", how.seed)));
  double exact = 100;
  for (Day day = how.first; day <= how.last; ++day) {
    if (weekday(day) >= 5) continue;
    const double before = exact, move = drift(bars.close) + 0.012 * numbers.normal();
    exact *= std::exp(move);
    const double open = to_cents(before * std::exp(0.003 * numbers.normal()));
    const double close = to_cents(exact);
    const double up = 1 + 0.004 * numbers.uniform(), down = 1 - 0.004 * numbers.uniform();
    bars.stamps.push_back(to_text(day));
    bars.days.push_back(day);
    bars.open.push_back(open);
    bars.close.push_back(close);
    bars.high.push_back(std::max({open, close, to_cents(std::max(open, close) * up)}));
    bars.low.push_back(std::min({open, close, to_cents(std::min(open, close) * down)}));
    bars.volume.push_back(
        std::round(1e6 * (1 + 20 * std::abs(move)) * (0.7 + 0.6 * numbers.uniform())));
  }
  bars.notes.push_back("the prices are made, with a planted signal");
  Hasher hasher;
  hasher.update(cat("made ", symbol, " ", how.first, " ", how.last, " ", how.seed));
  bars.hash = hasher.hex();
  return bars;
}

std::vector<std::string> made_symbols(int count) {
  std::vector<std::string> names;
  for (int i = 1; i <= count; ++i) names.push_back(cat("MADE", i < 10 ? "0" : "", i));
  return names;
}

bool is_made_symbol(const std::string& name) {
  constexpr std::string_view stem = "MADE";
  const std::string number = name.substr(std::min(stem.size(), name.size()));
  return name.starts_with(stem) && number.size() > 1 && whole_number(number, std::int64_t{1});
}

}  // namespace lockstep::gbdt
