// Two commands in turn: pairs until the interval is narrow, or the budget ends.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "stats/stopping.h"

namespace lockstep::cli {

enum class Side { a, b };

struct Measured {
  double value = 0;  // what is compared: seconds, or the metric
  double started = 0, wall_s = 0, user_s = 0, system_s = 0;
  std::optional<std::int64_t> peak_bytes{};
};

struct Pair {
  int number = 0;  // from 0, in the order of starting
  bool b_first = false;
  int place = 0;  // which of the devices
  Measured a, b;
};

enum class TrialEnd { narrow, repeats, budget, interrupted };

struct TrialSpec {
  StoppingRule rule{};
  PairOrder order = PairOrder::balanced;
  std::uint64_t seed = 0;
  int warmup = 1;                    // runs of each command, on each place, before the first pair
  std::optional<int> repeats{};      // pairs at most
  std::optional<double> budget_s{};  // no pair begins that would likely end later; one always does
  int places = 1;                    // pairs that run at once, each in a thread of its own
};

struct Trial {
  std::vector<Pair> pairs;  // whole ones, in the order in which they ended
  TrialEnd end = TrialEnd::narrow;
  double took_s = 0;
};

struct RunKey {
  Side side = Side::a;
  int pair = 0;  // -1, -2, …: warm-ups
  int place = 0;
};
// One run; nothing: it was interrupted. With several places called by several threads.
using RunOnce = std::function<std::optional<Measured>(const RunKey&)>;
// After each pair (of thousands: after some), with what there is so far; one call at a time.
using OnPair = std::function<void(const Trial&, const Contrast&)>;

// What run_once throws ends the trial: with several places once all runs are over; `give_up` is
// called first, after which runs should end soon.
Trial run_trial(const TrialSpec& spec, const RunOnce& run_once, const OnPair& on_pair, Clock& clock,
                const std::function<void()>& give_up);

// Of the pairs so far: B against A.
Contrast trial_contrast(const std::vector<Pair>& pairs, const StoppingRule& rule);

std::vector<double> values_of(const std::vector<Pair>& pairs, Side side,
                              const std::function<double(const Measured&)>& value);

}  // namespace lockstep::cli
