// Trials of made times through the code of `lockstep abtest`: how often equal commands are called
// different, and how often a known slow-down is found. Writes tables of a record.
//   bench-abtest-simulation TRIALS SEED
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "core/base/clock.h"
#include "core/base/philox.h"
#include "tools/cli/abtest/abtest_trial.h"

namespace lockstep::cli {
namespace {

class StoppedClock : public Clock {
 public:
  double now_s() override { return 0; }
  double wall_s() override { return 0; }
  void sleep_s(double) override {}
};

struct Case {
  double ratio, spread, margin;
  int repeats = 0;        // 0: until the interval is narrow
  bool outliers = false;  // one run in twenty takes 20 % longer
};

struct Counts {
  int same = 0, slower = 0, faster = 0, inconclusive = 0, held = 0;
  double pairs = 0, apart = 0;  // apart: intervals without 1
};

AbtestTrial one(const Case& the, std::uint64_t seed, std::uint64_t number) {
  Random random(seed, RandomStream::sample, number, 0);
  StoppedClock clock;
  AbtestSpec spec{.seed = number};
  spec.rule.margin = the.margin;
  if (the.repeats > 0) {
    spec.repeats = the.repeats;
    spec.rule.least_pairs = the.repeats + 1;  // the number alone ends it
  }
  return run_trial(
      spec,
      [&](const RunKey& key) -> std::optional<AbtestRun> {
        double value =
            (key.side == AbtestSide::b ? the.ratio : 1) * std::exp(the.spread * random.normal());
        if (the.outliers && random.uniform() < 0.05) value *= 1.2;
        return AbtestRun{.value = value};
      },
      [](const AbtestTrial&, const Contrast&) {}, clock, [] {});
}

Counts simulate(const Case& the, int trials, std::uint64_t seed) {
  Counts counts;
  for (int i = 0; i < trials; ++i) {
    const AbtestTrial trial = one(the, seed, static_cast<std::uint64_t>(i));
    const Contrast found = trial_contrast(trial.pairs, {.margin = the.margin});
    switch (find(found, the.margin)) {
      case Finding::same:
        ++counts.same;
        break;
      case Finding::more:
        ++counts.slower;
        break;
      case Finding::less:
        ++counts.faster;
        break;
      case Finding::inconclusive:
        ++counts.inconclusive;
        break;
    }
    counts.held += found.interval.low <= the.ratio && the.ratio <= found.interval.high ? 1 : 0;
    counts.apart += found.interval.low > 1 || found.interval.high < 1 ? 1 : 0;
    counts.pairs += static_cast<double>(trial.pairs.size()) / trials;
  }
  return counts;
}

void write(const char* table, const Case& the, int trials, std::uint64_t seed) {
  const Counts counts = simulate(the, trials, seed);
  std::printf("\n[[%s]]\nslowdown = %.4g\nspread = %.4g\nmargin = %.4g\n", table, the.ratio - 1,
              the.spread, the.margin);
  if (the.outliers) std::printf("outliers = true\n");
  std::printf("trials = %d\nno_difference = %d\nslower = %d\nfaster = %d\ninconclusive = %d\n",
              trials, counts.same, counts.slower, counts.faster, counts.inconclusive);
  std::printf("intervals_that_hold_the_truth = %d\npairs_on_average = %.1f\n", counts.held,
              counts.pairs);
  if (the.repeats > 0)
    std::printf("intervals_without_1 = %.0f\nstated_power = %.4f\n", counts.apart,
                power(Scale::ratio, the.ratio, the.spread * std::sqrt(2.0), the.repeats, true));
  else if (the.ratio > 1)
    std::printf("stated_power = 0.95\npower_with_many_pairs = %.4f\n",
                chance_to_find(the.ratio, {.margin = the.margin}));
  std::fflush(stdout);
}

}  // namespace
}  // namespace lockstep::cli

int main(int argc, char** argv) {
  using namespace lockstep::cli;
  const int trials = argc > 1 ? std::atoi(argv[1]) : 1000;
  const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  for (const double spread : {0.01, 0.03}) {
    write("equal_100", {1, spread, 0.02}, 100, seed);
    for (const double margin : {0.01, 0.02, 0.05})
      write("equal", {1, spread, margin}, trials, seed);
    write("equal", {1, spread, 0.02, 0, true}, trials, seed);
    for (const double slowdown : {0.01, 0.02, 0.05})
      write("slower", {1 + slowdown, spread, slowdown}, trials, seed);
    write("slower", {1.02, spread, 0.02, 0, true}, trials, seed);
    for (const double slowdown : {0.01, 0.02, 0.05})
      for (const int repeats : {5, 20, 80})
        write("fixed_repeats", {1 + slowdown, spread, 0.02, repeats}, trials, seed);
  }
}
