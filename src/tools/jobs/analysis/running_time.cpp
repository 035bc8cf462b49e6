#include "tools/jobs/analysis/running_time.h"

#include <algorithm>

#include "core/base/text/text.h"
#include "tools/jobs/ledger/ledger.h"

namespace lockstep {
namespace {

constexpr double shortest_gap_s = 0.1;  // starting another supervisor takes less time

// The first stretch that ends after `time`. Stretches are sorted and do not overlap.
auto first_after(const std::vector<Stretch>& stretches, double time) {
  return std::upper_bound(stretches.begin(), stretches.end(), time,
                          [](double at, const Stretch& one) { return at < one.second; });
}

// The parts of `from` that are not in `taken`. Both are sorted and have no overlaps.
std::vector<Stretch> without(const std::vector<Stretch>& from, const std::vector<Stretch>& taken) {
  std::vector<Stretch> rest;
  for (auto [begin, end] : from) {
    bool is_cut = false;
    for (auto one = first_after(taken, begin); one != taken.end() && one->first < end; ++one) {
      if (one->first > begin) rest.emplace_back(begin, one->first);
      begin = one->second;
      is_cut = true;
    }
    if (begin < end || (begin == end && !is_cut)) rest.emplace_back(begin, end);
  }
  return rest;
}

std::vector<Stretch> attempts_during(Ledger& ledger, const std::vector<Stretch>& pauses) {
  std::vector<Stretch> attempts;
  Statement rows(ledger.database(),
                 "SELECT started, ended FROM attempt WHERE outcome IS NOT NULL AND started > 0 AND "
                 "ended >= started AND ended > ? AND started < ?");
  for (const auto& [begin, end] : pauses) {
    rows.bind(1, begin).bind(2, end);
    while (rows.step()) attempts.emplace_back(rows.number(0), rows.number(1));
    rows.reset();
  }
  return merged(std::move(attempts));
}

std::vector<Stretch> without_short_gaps(const std::vector<Stretch>& stretches) {
  std::vector<Stretch> result;
  for (const Stretch& one : stretches)
    if (!result.empty() && one.first - result.back().second < shortest_gap_s)
      result.back().second = std::max(result.back().second, one.second);
    else
      result.push_back(one);
  return result;
}

std::string times_text(std::size_t count) {
  return count == 1 ? std::string("once") : cat(count, " times");
}

}  // namespace

std::vector<Stretch> merged(std::vector<Stretch> stretches) {
  std::sort(stretches.begin(), stretches.end());
  std::vector<Stretch> result;
  for (const Stretch& one : stretches) {
    if (!result.empty() && one.first <= result.back().second)
      result.back().second = std::max(result.back().second, one.second);
    else
      result.push_back(one);
  }
  return result;
}

double length(const std::vector<Stretch>& stretches) {
  double sum = 0;
  for (const auto& [begin, end] : stretches) sum += end - begin;
  return sum;
}

std::vector<BatchGap> RunningTime::gaps() const {
  std::vector<BatchGap> gaps;
  for (std::size_t i = 1; i < stretches.size(); ++i) {
    const double begin = stretches[i - 1].second, end = stretches[i].first;
    double paused_s = 0;
    for (auto pause = first_after(pauses, begin); pause != pauses.end() && pause->first < end;
         ++pause)
      paused_s += std::min(end, pause->second) - std::max(begin, pause->first);
    gaps.push_back({.begin = begin, .end = end, .paused = paused_s > (end - begin) / 2});
  }
  return gaps;
}

RunningTime running_time(Ledger& ledger) {
  std::vector<Stretch> processes;
  Statement rows(ledger.database(),
                 "SELECT min(started), max(ended) FROM attempt WHERE outcome IS NOT NULL AND "
                 "started > 0 AND ended >= started GROUP BY supervisor");
  while (rows.step()) processes.emplace_back(rows.number(0), rows.number(1));
  RunningTime time{.stretches = merged(std::move(processes)), .pauses = merged(ledger.pauses())};
  if (!time.pauses.empty() && !time.stretches.empty()) {
    std::vector<Stretch> all = without(time.stretches, time.pauses);
    const std::vector<Stretch> jobs = attempts_during(ledger, time.pauses);
    all.insert(all.end(), jobs.begin(), jobs.end());
    time.stretches = merged(std::move(all));
  }
  time.stretches = without_short_gaps(time.stretches);
  time.has_lost =
      Statement(ledger.database(), "SELECT 1 FROM attempt WHERE outcome = 'lost' LIMIT 1").step();
  return time;
}

RunningTime running_time(const std::vector<RunningTime>& parts) {
  RunningTime all;
  for (const RunningTime& part : parts) {
    all.stretches.insert(all.stretches.end(), part.stretches.begin(), part.stretches.end());
    all.pauses.insert(all.pauses.end(), part.pauses.begin(), part.pauses.end());
    all.has_lost = all.has_lost || part.has_lost;
  }
  all.stretches = without_short_gaps(merged(std::move(all.stretches)));
  all.pauses = merged(std::move(all.pauses));
  return all;
}

std::string gaps_text(const std::vector<BatchGap>& gaps) {
  if (gaps.empty()) return {};
  double seconds = 0;
  std::size_t paused = 0;
  for (const BatchGap& gap : gaps) {
    seconds += gap.end - gap.begin;
    paused += gap.paused ? 1 : 0;
  }
  const std::size_t stopped = gaps.size() - paused;
  return cat(stopped > 0 ? cat("stopped ", times_text(stopped)) : "",
             stopped > 0 && paused > 0 ? " and " : "",
             paused > 0 ? cat("paused ", times_text(paused)) : "", ", for ", fixed(seconds, 1),
             " s", gaps.size() > 1 ? " in all" : "");
}

}  // namespace lockstep
