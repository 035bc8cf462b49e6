// Two commands in turn: pairs until the interval is narrow, or the budget ends.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "stats/stopping.h"

namespace lockstep::cli {

enum class AbtestSide { a, b };

struct AbtestRun {
  double value = 0;  // what is compared: seconds, or the metric
  double started = 0, wall_s = 0, user_s = 0, system_s = 0;
  std::optional<std::int64_t> peak_bytes{};
};

struct AbtestPair {
  int number = 0;  // from 0, in the order of starting
  bool b_first = false;
  int place = 0;  // which of the devices
  AbtestRun a, b;
};

enum class AbtestEnd { narrow, repeats, budget, interrupted };

struct AbtestSpec {
  StoppingRule rule{};
  PairOrder order = PairOrder::balanced;
  std::uint64_t seed = 0;
  int warmup = 1;                    // runs of each command, on each place, before the first pair
  std::optional<int> repeats{};      // pairs at most
  std::optional<double> budget_s{};  // no pair begins that would likely end later; one always does
  int places = 1;                    // pairs that run at once, each in a thread of its own
};

struct AbtestTrial {
  std::vector<AbtestPair> pairs;  // whole ones, in the order in which they ended
  AbtestEnd end = AbtestEnd::narrow;
  double took_s = 0;
};

struct RunKey {
  AbtestSide side = AbtestSide::a;
  int pair = 0;  // -1, -2, …: warm-ups
  int place = 0;
};
// One run; nothing: it was interrupted. With several places called by several threads.
using RunOnce = std::function<std::optional<AbtestRun>(const RunKey&)>;
// After each pair (of thousands: after some), with what there is so far; one call at a time.
using OnPair = std::function<void(const AbtestTrial&, const Contrast&)>;

// What run_once throws ends the trial: with several places once all runs are over; `give_up` is
// called first, after which runs should end soon.
AbtestTrial run_trial(const AbtestSpec& spec, const RunOnce& run_once, const OnPair& on_pair,
                      Clock& clock, const std::function<void()>& give_up);

// Of the pairs so far: B against A.
Contrast trial_contrast(const std::vector<AbtestPair>& pairs, const StoppingRule& rule);

std::vector<double> values_of(const std::vector<AbtestPair>& pairs, AbtestSide side,
                              const std::function<double(const AbtestRun&)>& value);

}  // namespace lockstep::cli
