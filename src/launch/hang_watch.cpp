#include "launch/hang_watch.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.h"

namespace lockstep {
namespace {

// Who was not looking for longer than this has slept itself, and knows nothing of the ranks.
constexpr double own_sleep_s = 5;
constexpr double start_factor = 10, own_factor = 3;
// Libraries load their kernels, and the step becomes a graph.
constexpr std::int64_t first_steps = 5;
constexpr double first_factor = 3;

// A GPU that does not come to an end may wait for others too.
bool waits_for_others(const Crumb& crumb) {
  return crumb.waits_in != Collective::none || crumb.activity == Activity::device;
}

// Ranks wait in collectives of one number that are not the same: one has left out or added some.
bool apart(const std::vector<Crumb>& crumbs, const std::vector<bool>& ended) {
  std::map<std::uint64_t, Collective> known;
  for (std::size_t i = 0; i < crumbs.size(); ++i) {
    if (ended[i] || crumbs[i].waits_in == Collective::none) continue;
    if (known.emplace(crumbs[i].number, crumbs[i].waits_in).first->second != crumbs[i].waits_in)
      return true;
  }
  return false;
}

}  // namespace

HangWatch::HangWatch(std::size_t ranks, double hang_after_s)
    : hang_after_s_(hang_after_s), ranks_(ranks) {}

double HangWatch::limit_s(const Rank& rank) const {
  double factor = 1;
  if (rank.crumb.activity != Activity::none) {
    if (rank.crumb.step == 0)
      factor = start_factor;
    else if (rank.crumb.step < rank.first_step + first_steps)
      factor = first_factor;
  }
  return std::max(factor * hang_after_s_, own_factor * rank.longest_s);
}

std::optional<Hang> HangWatch::look(const std::vector<Crumb>& crumbs,
                                    const std::vector<bool>& stopped,
                                    const std::vector<bool>& ended, double now_s) {
  if (hang_after_s_ <= 0) return std::nullopt;
  const bool slept = !looked_s_ || now_s - *looked_s_ > own_sleep_s;
  looked_s_ = now_s;
  std::optional<std::size_t> culprit, behind;
  bool all_wait = true;
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    Rank& rank = ranks_[i];
    const bool moved = crumbs[i].moves != rank.crumb.moves;
    if (moved && !slept) rank.longest_s = std::max(rank.longest_s, now_s - rank.moved_s);
    const bool silent = crumbs[i].activity == Activity::none;  // but may be stopped
    if (moved || slept || (silent && !stopped[i])) rank.moved_s = now_s;
    rank.crumb = crumbs[i];
    if (rank.first_step == 0) rank.first_step = crumbs[i].step;
    if (ended[i]) continue;
    const bool still = now_s - rank.moved_s >= limit_s(rank);
    if (silent && !still) continue;
    const bool waits = waits_for_others(crumbs[i]);
    if (still && (!waits || stopped[i])) culprit = culprit && !stopped[i] ? culprit : i;
    if (!still || !waits) all_wait = false;
    if (!behind || crumbs[i].number < crumbs[*behind].number) behind = i;
  }
  if (!culprit && (!all_wait || !behind)) return std::nullopt;
  const std::size_t named = culprit ? *culprit : *behind;
  const Rank& rank = ranks_[named];
  const std::string time = cat("no sign of life for ", std::lround(now_s - rank.moved_s), " s ");
  const char* const how = !culprit && apart(crumbs, ended)
                              ? "hangs, as ranks wait in different collectives: "
                          : !culprit       ? "hangs, as all ranks wait for each other: "
                          : stopped[named] ? "is stopped by a signal: "
                                           : "hangs: ";
  return Hang{.rank = static_cast<int>(named),
              .how = cat(how, time, describe(rank.crumb),
                         describe_others(crumbs, ended, static_cast<int>(named)))};
}

std::string describe_others(const std::vector<Crumb>& crumbs, const std::vector<bool>& ended,
                            int rank) {
  std::string text;
  for (std::size_t i = 0; i < crumbs.size(); ++i) {
    if (static_cast<int>(i) == rank || ended[i] || crumbs[i].activity == Activity::none) continue;
    text += cat("; rank ", i, crumbs[i].waits_in == Collective::none ? " is " : " ",
                describe(crumbs[i]));
  }
  return text;
}

}  // namespace lockstep
