#include "report/log_clock.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/text.h"

namespace lockstep {
namespace {

// From each point to the next: seconds, and places.
struct Gap {
  double seconds = 0, places = 0;
  double rate() const { return seconds / places; }
};

// The seconds a place from which on a gap is a pause: ten times as long as all others, and so are
// few. Evaluations and checkpoints that come again and again are none.
double shortest_pause(const std::vector<Gap>& gaps, const std::vector<bool>& known) {
  constexpr std::size_t least_gaps = 5, least_few = 3, share_of_few = 100;
  constexpr double far = 10;
  std::vector<double> rates;
  double finest = INFINITY;  // the log's clock may tick in whole seconds
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    if (known[i] || !(gaps[i].places > 0)) continue;
    rates.push_back(gaps[i].rate());
    if (gaps[i].seconds > 0) finest = std::min(finest, gaps[i].rate());
  }
  if (rates.size() < least_gaps) return INFINITY;
  const std::size_t few =
      std::min(std::max(least_few, rates.size() / share_of_few), rates.size() - least_gaps + 1);
  const auto middle = rates.begin() + static_cast<std::ptrdiff_t>(rates.size() / 2);
  std::nth_element(rates.begin(), middle, rates.end());
  const double usual = std::max(*middle, finest);
  const auto end = rates.begin() + static_cast<std::ptrdiff_t>(few) + 1;
  std::partial_sort(rates.begin(), std::min(end, rates.end()), rates.end(), std::greater<>());
  double shortest = INFINITY;
  for (std::size_t i = 0; i < few && i + 1 < rates.size(); ++i)
    if (rates[i] >= far * std::max(rates[i + 1], usual)) shortest = rates[i];
  return shortest;
}

}  // namespace

LogClock::LogClock(const ForeignSeries& series, const std::vector<double>& starts,
                   double places_per_epoch) {
  std::vector<double> places;
  std::vector<Gap> gaps;
  std::vector<bool> pauses;
  auto start = starts.begin();
  for (const ForeignPoint& point : series.points) {
    if (std::isnan(point.time)) continue;
    if (!times_.empty()) {
      while (start != starts.end() && *start <= times_.back()) ++start;
      gaps.push_back({point.time - times_.back(), point.place - places.back()});
      pauses.push_back(start != starts.end() && *start <= point.time);
    }
    times_.push_back(point.time);
    places.push_back(point.place);
  }
  const double shortest = shortest_pause(gaps, pauses);
  double seconds = 0, count = 0;
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    if (gaps[i].places > 0 && gaps[i].rate() >= shortest) pauses[i] = true;
    if (pauses[i]) continue;
    seconds += gaps[i].seconds;
    count += gaps[i].places;
  }
  const double usual = count > 0 ? seconds / count : 0;
  if (!times_.empty()) trained_.push_back(0);
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    const double own =
        pauses[i] ? std::min(gaps[i].seconds, usual * gaps[i].places) : gaps[i].seconds;
    if (own < gaps[i].seconds) pauses_.push_back({places[i + 1], gaps[i].seconds - own});
    trained_.push_back(trained_.back() + own);
  }
  take_steps(pauses, places, places_per_epoch);
}

void LogClock::take_steps(const std::vector<bool>& pauses, const std::vector<double>& places,
                          double places_per_epoch) {
  const auto epoch = [&](double place) {
    return places_per_epoch > 0 ? std::floor(place / places_per_epoch) : 0;
  };
  for (std::size_t i = 0; i + 1 < times_.size(); ++i) {
    const double steps = places[i + 1] - places[i];
    if (pauses[i] || !(steps > 0) || epoch(places[i]) != epoch(places[i + 1])) continue;
    steps_s_ += times_[i + 1] - times_[i];
    steps_ += steps;
  }
}

double LogClock::at(double time) const {
  if (times_.empty() || std::isnan(time)) return NAN;
  const auto next = std::upper_bound(times_.begin(), times_.end(), time);
  if (next == times_.begin()) return time - times_.front();
  const auto i = static_cast<std::size_t>(next - times_.begin()) - 1;
  const double seconds = trained_[i] + (time - times_[i]);
  return next == times_.end() ? seconds : std::min(seconds, trained_[i + 1]);
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
