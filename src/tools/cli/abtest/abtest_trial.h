// Runs two commands in turn: pairs until the interval is narrow, or the budget ends.
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
  int number = 0;  // from 0, in the order of starts
  bool b_first = false;
  int place = 0;  // index of the device
  AbtestRun a, b;
};

enum class AbtestEnd { narrow, repeats, budget, interrupted };

struct AbtestSpec {
  StoppingRule rule{};
  PairOrder order = PairOrder::balanced;
  std::uint64_t seed = 0;
  int warmup = 1;                    // runs of each command, in each place, before the first pair
  std::optional<int> repeats{};      // the most pairs
  std::optional<double> budget_s{};  // no pair begins that would likely end later; at least one
                                     // always runs
  int places = 1;                    // concurrent pairs, each on its own thread
};

struct AbtestTrial {
  std::vector<AbtestPair> pairs;  // complete ones, in the order in which they ended
  AbtestEnd end = AbtestEnd::narrow;
  double took_s = 0;
};

struct RunKey {
  AbtestSide side = AbtestSide::a;
  int pair = 0;  // -1, -2, … for warm-ups
  int place = 0;
};
// Makes one run; returns nothing if it was interrupted. If there are several places, several
// threads call it.
using RunOnce = std::function<std::optional<AbtestRun>(const RunKey&)>;
// Called with the results so far after each pair, or after some of thousands; one call at a time.
using OnPair = std::function<void(const AbtestTrial&, const Contrast&)>;

// An exception of run_once ends the trial; if there are several places, once all runs are over.
// `give_up` is called first, after which runs should end soon.
AbtestTrial run_trial(const AbtestSpec& spec, const RunOnce& run_once, const OnPair& on_pair,
                      Clock& clock, const std::function<void()>& give_up);

// Compares B with A over the pairs so far.
Contrast trial_contrast(const std::vector<AbtestPair>& pairs, const StoppingRule& rule);

std::vector<double> values_of(const std::vector<AbtestPair>& pairs, AbtestSide side,
                              const std::function<double(const AbtestRun&)>& value);

}  // namespace lockstep::cli
