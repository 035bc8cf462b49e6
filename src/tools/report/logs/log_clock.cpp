#include "tools/report/logs/log_clock.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/base/text/text.h"

namespace lockstep {
namespace {

// Kinds of gaps between points. If the place rises, the rate is time per place. If it stays, as for
// several lines of an epoch, the rate is the gap itself.
enum class GapKind { rises, stays };

double rate_of(double seconds, double places) { return places > 0 ? seconds / places : seconds; }

bool is_of(GapKind kind, double places) { return (places > 0) == (kind == GapKind::rises); }

// The rates of all gaps of this kind that are not known pauses.
std::vector<double> rates_of(GapKind kind, const std::vector<double>& times,
                             const std::vector<double>& places, const std::vector<bool>& pauses) {
  std::vector<double> rates;
  if (kind == GapKind::rises) rates.reserve(times.size());
  for (std::size_t i = 1; i < times.size(); ++i)
    if (const double gap = places[i] - places[i - 1]; !pauses[i] && is_of(kind, gap))
      rates.push_back(rate_of(times[i] - times[i - 1], gap));
  return rates;
}

// The rate from which a gap is a pause. A pause is at least ten times as long as every gap that is
// not one, and only few gaps are so long. Several gaps of similar length are not pauses, because
// evaluations and checkpoints cause them.
double shortest_pause(std::vector<double> rates) {
  constexpr std::size_t least_rates = 5, least_few = 3, share_of_few = 100;
  constexpr double far = 10;
  if (rates.size() < least_rates) return INFINITY;
  double finest = INFINITY;  // the log's clock may have a resolution of one second
  for (const double rate : rates)
    if (rate > 0 && rate < finest) finest = rate;
  const std::size_t few =
      std::min(std::max(least_few, rates.size() / share_of_few), rates.size() - least_rates + 1);
  // Sorts the longest rates to the front, and the median to the middle.
  const auto long_ones = rates.begin() + static_cast<std::ptrdiff_t>(few);
  std::nth_element(rates.begin(), long_ones, rates.end(), std::greater<>());
  std::sort(rates.begin(), long_ones, std::greater<>());
  const auto middle = rates.begin() + static_cast<std::ptrdiff_t>(rates.size() / 2);
  if (middle > long_ones) std::nth_element(long_ones + 1, middle, rates.end(), std::greater<>());
  const double usual = std::max(*middle, finest);
  double shortest = INFINITY;
  for (std::size_t i = 0; i < few; ++i)
    if (rates[i] >= far * std::max(rates[i + 1], usual)) shortest = rates[i];
  const bool are_alike = rates[1] >= shortest && 2 * shortest > rates[0];
  return are_alike ? INFINITY : shortest;
}

}  // namespace

LogClock::LogClock(const ForeignSeries& series, const std::vector<double>& starts,
                   double places_per_epoch) {
  std::vector<double> places;
  std::vector<bool> pauses;  // whether a pause is before each point
  places.reserve(series.points.size());
  times_.reserve(series.points.size());
  auto start = starts.begin();
  for (const ForeignPoint& point : series.points) {
    if (!std::isfinite(point.time)) continue;
    while (start != starts.end() && !times_.empty() && *start <= times_.back()) ++start;
    pauses.push_back(!times_.empty() && start != starts.end() && *start <= point.time);
    times_.push_back(point.time);
    places.push_back(point.place);
  }
  for (const double each : starts)
    if (!times_.empty() && each <= times_.front()) first_start_ = each;
  for (const GapKind kind : {GapKind::rises, GapKind::stays}) {
    const double shortest = shortest_pause(rates_of(kind, times_, places, pauses));
    if (std::isinf(shortest)) continue;
    for (std::size_t i = 1; i < times_.size(); ++i)
      if (const double gap = places[i] - places[i - 1];
          is_of(kind, gap) && rate_of(times_[i] - times_[i - 1], gap) >= shortest)
        pauses[i] = true;
  }
  leave_out(places, pauses);
  take_steps(places, pauses, places_per_epoch);
}

void LogClock::leave_out(const std::vector<double>& places, const std::vector<bool>& pauses) {
  // [0]: gaps whose place rises; [1]: gaps whose place stays
  double seconds[2] = {}, counts[2] = {};
  for (std::size_t i = 1; i < times_.size(); ++i) {
    if (pauses[i]) continue;
    const double gap = places[i] - places[i - 1];
    seconds[gap > 0 ? 0 : 1] += times_[i] - times_[i - 1];
    counts[gap > 0 ? 0 : 1] += gap > 0 ? gap : 1;
  }
  const auto usual_s = [&](double gap) {
    const int kind = gap > 0 ? 0 : 1;
    return counts[kind] > 0 ? seconds[kind] / counts[kind] * (gap > 0 ? gap : 1) : 0;
  };
  trained_.reserve(times_.size());
  for (std::size_t i = 0; i < times_.size(); ++i) {
    const double gap_s = i == 0 ? 0 : times_[i] - times_[i - 1];
    const double own_s =
        i > 0 && pauses[i] ? std::min(gap_s, usual_s(places[i] - places[i - 1])) : gap_s;
    if (own_s < gap_s) pauses_.push_back({places[i], gap_s - own_s});
    trained_.push_back(i == 0 ? 0 : trained_.back() + own_s);
  }
}

void LogClock::take_steps(const std::vector<double>& places, const std::vector<bool>& pauses,
                          double places_per_epoch) {
  const auto epoch = [&](double place) {
    return places_per_epoch > 0 ? std::floor(place / places_per_epoch) : 0;
  };
  for (std::size_t i = 1; i < times_.size(); ++i) {
    const double steps = places[i] - places[i - 1];
    if (pauses[i] || !(steps > 0) || epoch(places[i - 1]) != epoch(places[i])) continue;
    steps_s_ += times_[i] - times_[i - 1];
    steps_ += steps;
  }
}

double LogClock::at(double time) {
  if (times_.empty() || std::isnan(time)) return NAN;
  // Whether the time is before the point after this one.
  const auto is_before = [&](std::size_t i) {
    return i + 1 >= times_.size() || time < times_[i + 1];
  };
  std::size_t i = near_;  // calls are mostly in ascending order
  if (time < times_[i] || !is_before(i)) ++i;
  if (i >= times_.size() || time < times_[i] || !is_before(i)) {
    const auto next = std::upper_bound(times_.begin(), times_.end(), time);
    if (next == times_.begin()) return std::max(time, first_start_) - times_.front();
    i = static_cast<std::size_t>(next - times_.begin()) - 1;
  }
  near_ = i;
  const double seconds = trained_[i] + (time - times_[i]);
  return i + 1 == times_.size() ? seconds : std::min(seconds, trained_[i + 1]);
}

std::optional<double> LogClock::place_s() const {
  return steps_ > 0 && steps_s_ > 0 ? std::optional(steps_s_ / steps_) : std::nullopt;
}

std::string LogClock::pauses_text(const std::string& word) const {
  if (pauses_.empty()) return "";
  double sum = 0;
  for (const Pause& pause : pauses_) sum += pause.seconds;
  const Pause& longest =
      *std::max_element(pauses_.begin(), pauses_.end(),
                        [](const Pause& a, const Pause& b) { return a.seconds < b.seconds; });
  const std::string where =
      word.empty() ? "" : cat(" before ", word, " ", general(longest.place, 15));
  if (pauses_.size() == 1)
    return cat("a pause of ", quantity_text(sum, "s"), where, " is left out of its times");
  return cat(pauses_.size(), " pauses, ", quantity_text(sum, "s"),
             " together, are left out of its times; the longest is of ",
             quantity_text(longest.seconds, "s"), where);
}

}  // namespace lockstep
