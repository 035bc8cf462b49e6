#include "tools/report/logs/log_restarts.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

namespace lockstep {
namespace {

using Points = std::vector<ForeignPoint>;

// Successive points with the same place.
struct PlaceRun {
  double place = 0;
  std::size_t begin = 0, count = 0;
};

std::vector<PlaceRun> runs_of(const Points& points) {
  std::vector<PlaceRun> runs;
  for (std::size_t i = 0; i < points.size(); ++i)
    if (!runs.empty() && runs.back().place == points[i].place)
      ++runs.back().count;
    else
      runs.push_back({points[i].place, i, 1});
  return runs;
}

// The number of points that most places have. 0 if there is no such number.
std::size_t usual_count(const std::vector<PlaceRun>& runs) {
  std::map<std::size_t, std::size_t> by_count;
  for (const PlaceRun& run : runs) ++by_count[run.count];
  const auto most =
      std::max_element(by_count.begin(), by_count.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return most != by_count.end() && 2 * most->second > runs.size() ? most->first : 0;
}

// The median time between successive points. If `apart`, only between different places.
std::optional<double> usual_gap_s(const Points& points, bool apart) {
  std::vector<double> gaps;
  for (std::size_t i = 1; i < points.size(); ++i)
    if (const double gap = points[i].time - points[i - 1].time;
        gap >= 0 && (!apart || points[i].place > points[i - 1].place))
      gaps.push_back(gap);
  if (gaps.empty()) return std::nullopt;
  const auto middle = gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2);
  std::nth_element(gaps.begin(), middle, gaps.end());
  return *middle;
}

// Decides whether places with more points than usual were trained again after a restart.
class Repeats {
 public:
  Repeats(const Points& points, const std::vector<PlaceRun>& runs, bool lines)
      : points_(points), usual_(usual_count(runs)), lines_(lines) {
    gap_s_ = usual_gap_s(points, usual_ == 1);
    constexpr std::size_t share_of_few = 10;
    std::vector<PlaceRun> found;
    std::copy_if(runs.begin(), runs.end(), std::back_inserter(found),
                 [&](const PlaceRun& run) { return looks_done_anew(run); });
    are_few_ = found.size() <= std::max<std::size_t>(1, runs.size() / share_of_few) &&
               !come_regularly(found, runs);
  }

  std::size_t usual() const { return usual_; }  // points per place; 0 = it varies
  // Whether the last points of this place were logged by a second training.
  bool was_done_anew(const PlaceRun& run) const { return are_few_ && looks_done_anew(run); }

 private:
  // Time between the last `usual_` points of the place and the point before them.
  double gap_before(const PlaceRun& run) const {
    const std::size_t first = run.begin + run.count - usual_;
    return points_[first].time - points_[first - 1].time;
  }

  // Whether the additional points are not from restarts. Lines of evaluations appear at equal
  // distances in the whole log, each after about the same time. A test of the model appears once,
  // at the last place.
  bool come_regularly(const std::vector<PlaceRun>& found, const std::vector<PlaceRun>& all) const {
    if (found.size() < 2) return !found.empty() && found.front().begin == all.back().begin;
    const double distance = found[1].place - found[0].place;
    double shortest = INFINITY, longest = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (i > 0 && std::abs(found[i].place - found[i - 1].place - distance) > distance * 1e-6)
        return false;
      const double gap = gap_before(found[i]);
      shortest = std::min(shortest, gap);
      longest = std::max(longest, gap);
    }
    return distance > 0 && shortest > 0 && longest <= 2 * shortest &&
           found.front().place - distance <= all.front().place &&
           found.back().place + distance > all.back().place;
  }

  bool looks_done_anew(const PlaceRun& run) const {
    if (usual_ == 0 || run.count <= usual_) return false;
    const double gap = gap_before(run);
    if (!gap_s_ || std::isnan(gap)) return lines_ && (usual_ == 1 || run.count >= 2 * usual_);
    // An additional point that follows within a moment was not trained. A longer pause is required
    // if places may have several lines, and for steps, because steps are short.
    constexpr double least_of_one = 0.5, least_of_several = 10;
    return gap < 0 || gap >= (usual_ == 1 && lines_ ? least_of_one : least_of_several) * *gap_s_;
  }

  const Points& points_;
  std::size_t usual_;
  bool lines_, are_few_ = true;
  std::optional<double> gap_s_;
};

}  // namespace

std::vector<FoundRestart> find_restarts(const Points& points, bool lines) {
  const auto rises = [](const ForeignPoint& a, const ForeignPoint& b) { return a.place < b.place; };
  if (std::adjacent_find(points.begin(), points.end(), std::not_fn(rises)) == points.end())
    return {};
  const std::vector<PlaceRun> runs = runs_of(points);
  const Repeats repeats(points, runs, lines);
  const std::size_t usual = repeats.usual();
  std::vector<FoundRestart> found;
  std::vector<PlaceRun> kept;
  for (const PlaceRun& run : runs) {
    const bool back = !kept.empty() && kept.back().place > run.place;
    while (!kept.empty() && kept.back().place > run.place) kept.pop_back();
    const bool again = !kept.empty() && kept.back().place == run.place;
    if (back) {
      // Earlier lines of this epoch stay unless they are repeated.
      const std::size_t stay = usual > run.count ? usual - run.count : 0;
      found.push_back({run.begin, again && lines
                                      ? kept.back().begin + std::min(stay, kept.back().count)
                                      : run.begin});
    }
    if (repeats.was_done_anew(run)) found.push_back({run.begin + run.count - usual, run.begin});
    if (again)
      kept.back() = run;
    else
      kept.push_back(run);
  }
  return found;
}

std::vector<double> passes_of(const std::vector<double>& steps) {
  std::vector<double> passes(steps.size(), 0);
  double last = NAN;
  for (std::size_t row = 1; row < steps.size(); ++row) {
    passes[row] = passes[row - 1];
    if (steps[row] >= steps[row - 1]) continue;
    if (steps[row] != steps[0] || (!std::isnan(last) && steps[row - 1] != last)) return {};
    last = steps[row - 1];
    ++passes[row];
  }
  const bool fits = !steps.empty() && passes.back() >= 2 && steps.back() <= last;
  return fits ? passes : std::vector<double>();
}

Restarts::Restarts(std::vector<Restart> restarts)
    : restarts_(std::move(restarts)), lowest_(restarts_) {
  for (std::size_t i = lowest_.size(); i-- > 1;) {
    Restart& one = lowest_[i - 1];
    const Restart& next = lowest_[i];
    if (next.place < one.place) {
      one.place = next.place;
      one.repeated_from = next.repeated_from;
    } else if (next.place == one.place) {
      one.repeated_from = std::min(one.repeated_from, next.repeated_from);
    }
  }
}

bool Restarts::counts(double at, double place) const {
  const auto next =
      std::upper_bound(restarts_.begin(), restarts_.end(), at,
                       [](double value, const Restart& one) { return value < one.at; });
  if (next == restarts_.end()) return true;
  const Restart& lowest = lowest_[static_cast<std::size_t>(next - restarts_.begin())];
  return place < lowest.place || (place == lowest.place && at < lowest.repeated_from);
}

}  // namespace lockstep
