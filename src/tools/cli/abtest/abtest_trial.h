// Runs two commands in pairs, until the confidence interval is narrow or the time budget is used.
// Several pairs can run at the same time, each in its own place. A place is a thread, with a GPU of
// its own if there are several places.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/base/clock.h"
#include "tools/stats/stopping.h"

namespace lockstep::cli {

enum class AbtestSide { a, b };

struct AbtestRun {
  double value = 0;  // the compared value: seconds, or the metric
  double started = 0, wall_s = 0, user_s = 0, system_s = 0;
  std::optional<std::int64_t> peak_bytes{};
};

struct AbtestPair {
  int number = 0;  // number of the pair, from 0, in the order in which pairs began
  bool b_first = false;
  int place = 0;  // index of the place
  AbtestRun a, b;
};

enum class AbtestEnd { narrow, repeats, budget, interrupted };

struct AbtestSpec {
  StoppingRule rule{};
  PairOrder order = PairOrder::balanced;
  std::uint64_t seed = 0;
  int warmup = 1;  // number of runs of each command in each place before the first pair
  // The largest number of pairs.
  std::optional<int> repeats{};
  // A pair that would probably end after this time is not begun. At least one pair always runs.
  std::optional<double> budget_s{};
  int places = 1;  // number of places, which is the number of concurrent pairs
};

struct AbtestTrial {
  std::vector<AbtestPair> pairs;  // complete pairs, in the order in which they ended
  AbtestEnd end = AbtestEnd::narrow;
  double took_s = 0;
};

struct RunKey {
  AbtestSide side = AbtestSide::a;
  int pair = 0;  // number of the pair; -1, -2, … for warm-ups
  int place = 0;
};
// Makes one run. Returns nothing if the run was interrupted. With several places, several threads
// call it at the same time.
using RunOnce = std::function<std::optional<AbtestRun>(const RunKey&)>;
// Receives the results so far after each pair. After more than 1000 pairs, it is called only once
// in ten pairs or more. Calls never overlap.
using OnPair = std::function<void(const AbtestTrial&, const Contrast&)>;

// Runs the trial. An exception of run_once ends the trial and is rethrown. With several places,
// `give_up` is called first, so that the runs in other places end soon. The exception is rethrown
// after all these runs have ended.
AbtestTrial run_trial(const AbtestSpec& spec, const RunOnce& run_once, const OnPair& on_pair,
                      Clock& clock, const std::function<void()>& give_up);

// Compares B with A over `pairs`.
Contrast trial_contrast(const std::vector<AbtestPair>& pairs, const StoppingRule& rule);

std::vector<double> values_of(const std::vector<AbtestPair>& pairs, AbtestSide side,
                              const std::function<double(const AbtestRun&)>& value);

}  // namespace lockstep::cli
