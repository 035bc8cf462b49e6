// The trial on a clock that ticks by what the runs are said to take.
#include "tools/cli/abtest/abtest_trial.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <mutex>
#include <set>

#include "core/base/error.h"
#include "core/base/philox.h"
#include "fakes/error_of.h"
#include "fakes/fake_clock.h"

namespace lockstep::cli {
namespace {

using ::testing::ElementsAre;

// Runs that take a second each, by default; `ratio` times that of B.
struct Machine {
  FakeClock clock;
  double ratio = 1, noise = 0;
  int interrupt_after = -1, fail_after = -1;  // runs
  int runs = 0;
  std::string order;  // "ABBA…"; warm-ups in lower case
  Random random{11, RandomStream::sample, 0, 0};
  AbtestTrial last_shown{};

  std::optional<AbtestRun> once(const RunKey& key) {
    if (runs == interrupt_after) return std::nullopt;
    if (runs++ == fail_after) throw Error("it failed");
    const bool is_b = key.side == AbtestSide::b;
    order += key.pair < 0 ? (is_b ? 'b' : 'a') : (is_b ? 'B' : 'A');
    const double took_s = (is_b ? ratio : 1) * std::exp(noise * random.normal());
    clock.sleep_s(took_s);
    return AbtestRun{.value = took_s, .wall_s = took_s};
  }
  AbtestTrial run(const AbtestSpec& spec) {
    return run_trial(
        spec, [&](const RunKey& key) { return once(key); },
        [&](const AbtestTrial& trial, const Contrast&) { last_shown = trial; }, clock, [] {});
  }
};

TEST(RunTrial, WarmsUpAndRunsBothOrdersEquallyOften) {
  Machine machine;
  const AbtestTrial trial = machine.run({.warmup = 2, .repeats = 20});
  EXPECT_EQ(trial.end, AbtestEnd::narrow) << "no spread at all";
  ASSERT_EQ(trial.pairs.size(), 10u);
  EXPECT_EQ(machine.order.substr(0, 4), "abab");
  EXPECT_EQ(machine.order.size(), 24u);
  for (std::size_t i = 4; i < machine.order.size(); i += 4) {
    const std::string two = machine.order.substr(i, 4);
    EXPECT_TRUE(two == "ABBA" || two == "BAAB") << machine.order;
  }
  EXPECT_EQ(machine.last_shown.pairs.size(), 10u);
  EXPECT_DOUBLE_EQ(trial.took_s, 24);
}

TEST(RunTrial, CanAlwaysBeginWithA) {
  Machine machine;
  machine.run({.order = PairOrder::a_first, .warmup = 0, .repeats = 3});
  EXPECT_EQ(machine.order, "ABABAB");
}

TEST(RunTrial, EndsWithItsRepeatsHoweverOpenItIs) {
  Machine machine;
  machine.noise = 0.5;
  const AbtestTrial trial = machine.run({.repeats = 7});
  EXPECT_EQ(trial.end, AbtestEnd::repeats);
  EXPECT_EQ(trial.pairs.size(), 7u);
}

TEST(RunTrial, DoesNotEndBecauseADifferenceIsClear) {
  Machine machine;
  machine.ratio = 3;
  machine.noise = 0.1;
  const AbtestTrial trial = machine.run({.repeats = 40});
  EXPECT_EQ(trial.end, AbtestEnd::repeats);
  EXPECT_EQ(find(trial_contrast(trial.pairs, {}), 0.02), FoundDifference::more);
}

TEST(RunTrial, BeginsNoPairThatWouldEndBehindTheBudget) {
  Machine machine;
  machine.noise = 0.01;
  // A warm-up of 2 s and pairs of 2 s: five pairs end within 12.9 s.
  const AbtestTrial trial = machine.run({.budget_s = 12.9});
  EXPECT_EQ(trial.end, AbtestEnd::budget);
  EXPECT_EQ(trial.pairs.size(), 5u);
  EXPECT_LT(trial.took_s, 12.9);
  Machine short_of_time;
  EXPECT_EQ(short_of_time.run({.budget_s = 0.1}).pairs.size(), 1u) << "one pair always runs";
}

TEST(RunTrial, KeepsWholePairsWhenItIsInterrupted) {
  for (const int runs : {0, 1, 2, 3, 8, 9}) {
    Machine machine;
    machine.interrupt_after = runs;
    const AbtestTrial trial = machine.run({});
    EXPECT_EQ(trial.end, AbtestEnd::interrupted);
    EXPECT_EQ(trial.pairs.size(), static_cast<std::size_t>(std::max(0, runs - 2) / 2)) << runs;
  }
}

TEST(RunTrial, EndsWithTheErrorOfARun) {
  Machine machine;
  machine.fail_after = 5;
  EXPECT_EQ(error_of([&] { machine.run({}); }), "it failed | ");
}

// Several places, in threads: the clock does not move.
TEST(RunTrial, RunsBothOfAPairOnOnePlace) {
  FakeClock clock;
  std::mutex mutex;
  std::vector<RunKey> keys;
  const AbtestTrial trial = run_trial(
      {.warmup = 1, .repeats = 12, .places = 3},
      [&](const RunKey& key) -> std::optional<AbtestRun> {
        const std::lock_guard guard(mutex);
        keys.push_back(key);
        return AbtestRun{.value = 1.0 + 0.5 * static_cast<double>(keys.size() % 3)};
      },
      [](const AbtestTrial&, const Contrast&) {}, clock, [] {});
  EXPECT_EQ(trial.pairs.size(), 12u);
  EXPECT_EQ(keys.size(), 2u * 12 + 2u * 3) << "each place is warmed up";
  std::set<int> numbers;
  for (const AbtestPair& pair : trial.pairs) {
    numbers.insert(pair.number);
    for (const RunKey& key : keys)
      if (key.pair == pair.number) {
        EXPECT_EQ(key.place, pair.place);
      }
  }
  EXPECT_EQ(numbers.size(), 12u);
}

TEST(RunTrial, EndsAllPlacesWithTheErrorOfOne) {
  FakeClock clock;
  std::atomic<bool> given_up = false;
  const auto run = [&](const RunKey& key) -> std::optional<AbtestRun> {
    if (key.place == 1 && key.pair >= 0) throw Error("device 1 is gone");
    if (given_up) return std::nullopt;
    const bool odd = (key.pair + (key.side == AbtestSide::b ? 1 : 0)) % 2 != 0;
    return AbtestRun{.value = odd ? 3.0 : 1.0};  // never narrow
  };
  const std::string error = error_of([&] {
    run_trial(
        {.repeats = 1'000'000, .places = 3}, run, [](const AbtestTrial&, const Contrast&) {}, clock,
        [&] { given_up = true; });
  });
  EXPECT_EQ(error, "device 1 is gone | ");
}

}  // namespace
}  // namespace lockstep::cli
