#include "runtime/launch/watch/hang_watch.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/text/text.h"

namespace lockstep {
namespace {

constexpr double start_factor = 10, own_factor = 3;
// First steps take longer, because libraries load their kernels and CUDA graphs are captured.
constexpr std::int64_t first_steps = 5;
constexpr double first_factor = 3;

// A rank whose GPU does not finish may also wait for other ranks.
bool waits_for_others(const Heartbeat& heartbeat) {
  return heartbeat.waits_in != Collective::none || heartbeat.phase == Phase::device;
}

// Whether ranks wait in different collectives that have the same number. If so, one of the ranks
// has left out or added a collective.
bool apart(const std::vector<Heartbeat>& heartbeats, const std::vector<bool>& ended) {
  std::map<std::uint64_t, Collective> known;
  for (std::size_t i = 0; i < heartbeats.size(); ++i) {
    if (ended[i] || heartbeats[i].waits_in == Collective::none) continue;
    if (known.emplace(heartbeats[i].number, heartbeats[i].waits_in).first->second !=
        heartbeats[i].waits_in)
      return true;
  }
  return false;
}

}  // namespace

HangWatch::HangWatch(std::size_t ranks, double hang_after_s)
    : hang_after_s_(hang_after_s), ranks_(ranks) {}

double HangWatch::limit_s(const Rank& rank) const {
  double factor = 1;
  if (rank.heartbeat.phase != Phase::none) {
    if (rank.heartbeat.step == 0)
      factor = start_factor;
    else if (rank.heartbeat.step < rank.first_step + first_steps)
      factor = first_factor;
  }
  return std::max(factor * hang_after_s_, own_factor * rank.longest_s);
}

std::optional<Hang> HangWatch::look(const std::vector<Heartbeat>& heartbeats,
                                    const std::vector<bool>& stopped,
                                    const std::vector<bool>& ended, double now_s) {
  if (hang_after_s_ <= 0) return std::nullopt;
  const bool slept = !looked_s_ || now_s - *looked_s_ > own_sleep_s;
  looked_s_ = now_s;
  std::optional<std::size_t> culprit, behind;
  bool all_wait = true;
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    Rank& rank = ranks_[i];
    const bool moved = heartbeats[i].moves != rank.heartbeat.moves;
    if (moved && !slept) rank.longest_s = std::max(rank.longest_s, now_s - rank.moved_s);
    // No heartbeat, but the process may be stopped.
    const bool silent = heartbeats[i].phase == Phase::none;
    if (moved || slept || (silent && !stopped[i])) rank.moved_s = now_s;
    rank.heartbeat = heartbeats[i];
    if (rank.first_step == 0) rank.first_step = heartbeats[i].step;
    if (ended[i]) continue;
    const bool still = now_s - rank.moved_s >= limit_s(rank);
    if (silent && !still) continue;
    const bool waits = waits_for_others(heartbeats[i]);
    if (still && (!waits || stopped[i])) culprit = culprit && !stopped[i] ? culprit : i;
    if (!still || !waits) all_wait = false;
    if (!behind || heartbeats[i].number < heartbeats[*behind].number) behind = i;
  }
  if (!culprit && (!all_wait || !behind)) return std::nullopt;
  const std::size_t named = culprit ? *culprit : *behind;
  const Rank& rank = ranks_[named];
  const std::string time = cat("no sign of life for ", std::lround(now_s - rank.moved_s), " s ");
  const char* const how = !culprit && apart(heartbeats, ended)
                              ? "hangs, as ranks wait in different collectives: "
                          : !culprit       ? "hangs, as all ranks wait for each other: "
                          : stopped[named] ? "is stopped by a signal: "
                                           : "hangs: ";
  return Hang{.rank = static_cast<int>(named),
              .how = cat(how, time, describe(rank.heartbeat),
                         describe_others(heartbeats, ended, static_cast<int>(named)))};
}

std::string describe_others(const std::vector<Heartbeat>& heartbeats,
                            const std::vector<bool>& ended, int rank) {
  std::string text;
  for (std::size_t i = 0; i < heartbeats.size(); ++i) {
    if (static_cast<int>(i) == rank || ended[i] || heartbeats[i].phase == Phase::none) continue;
    text += cat("; rank ", i, heartbeats[i].waits_in == Collective::none ? " is " : " ",
                describe(heartbeats[i]));
  }
  return text;
}

}  // namespace lockstep
