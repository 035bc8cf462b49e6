// The estimate of time left, against runs whose time is known.
#include "runtime/run/progress/time_left.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "fakes/fake_clock.h"

namespace lockstep {
namespace {

struct SimulatedRun {
  std::int64_t first = 0, total = 1000;
  std::int64_t eval_every = 0;
  double eval_s = 0;
  std::int64_t save_every = 0;
  double save_s = 0;
  std::function<double(std::int64_t)> step_s;
};

// Plays the run and calls `look` after each step with the estimate and the truth.
void play(const SimulatedRun& run, const std::function<void(std::int64_t, double, double)>& look) {
  FakeClock clock;
  TimeLeft time_left;
  time_left.start(run.first);
  std::vector<std::tuple<std::int64_t, double, double>> looks;  // step, now, estimate
  for (std::int64_t step = run.first + 1; step <= run.total; ++step) {
    const bool saves = run.save_every && step % run.save_every == 0;
    const double save_s = saves ? run.save_s : 0;
    const double seconds = run.step_s(step) + save_s;
    clock.advance(seconds);
    time_left.on_step(step, seconds, save_s / seconds);
    if (run.eval_every && step % run.eval_every == 0) {
      clock.advance(run.eval_s);
      time_left.on_eval(step, run.eval_s);
    }
    looks.emplace_back(step, clock.now_s(), time_left.seconds_left(run.total).value());
  }
  for (const auto& [step, now, estimate] : looks) look(step, estimate, clock.now_s() - now);
}

// Within 10 % of what is left, and of a step or an evaluation near the end.
void expect_good_after_a_tenth(const SimulatedRun& run) {
  play(run, [&](std::int64_t step, double estimate, double truth) {
    if (step - run.first < (run.total - run.first) / 10) return;
    EXPECT_NEAR(estimate, truth, 0.1 * truth + run.eval_s + run.save_s + 0.01) << "step " << step;
  });
}

TEST(TimeLeftEstimate, IsUnknownBeforeTheFirstStep) {
  TimeLeft time_left;
  time_left.start(0);
  EXPECT_EQ(time_left.seconds_left(100), std::nullopt);
}

TEST(TimeLeftEstimate, OfConstantStepsIsExact) {
  play({.step_s = [](auto) { return 0.25; }},
       [](std::int64_t, double estimate, double truth) { EXPECT_NEAR(estimate, truth, 1e-6); });
}

TEST(TimeLeftEstimate, ExpectsEvaluationsThatNobodyMeasuredYet) {
  TimeLeft time_left;
  time_left.start(0);
  time_left.expect_evaluations(/*every=*/0, /*batches=*/30);
  time_left.on_step(10, 2.0, 0);
  EXPECT_NEAR(time_left.seconds_left(100).value(), 90 * 2 + 20, 1e-9);  // one at the end
  time_left.start(0);
  time_left.expect_evaluations(/*every=*/40, /*batches=*/30);
  time_left.on_step(10, 2.0, 0);
  EXPECT_NEAR(time_left.seconds_left(100).value(), 90 * 2 + 3 * 20, 1e-9);  // 40, 80, 100
  time_left.on_step(40, 2.0, 0);
  time_left.on_eval(40, 10);
  EXPECT_NEAR(time_left.seconds_left(100).value(), 60 * (2 + 0.25), 1e-9);
}

TEST(TimeLeftEstimate, CountsNoEvaluationTwiceThatCameBeforeTheFirstStep) {
  TimeLeft time_left;
  time_left.start(0);
  time_left.expect_evaluations(/*every=*/40, /*batches=*/30);
  time_left.on_eval(0, 10);
  time_left.on_step(10, 2.0, 0);
  EXPECT_NEAR(time_left.seconds_left(100).value(), 90 * 2 + 3 * 10, 1e-9);  // 40, 80, 100
  time_left.on_step(40, 2.0, 0);
  time_left.on_eval(40, 10);
  EXPECT_NEAR(time_left.seconds_left(100).value(), 60 * (2 + 0.25), 1e-9);
}

TEST(TimeLeftEstimate, CountsTheEvaluationsBetweenSteps) {
  const SimulatedRun run{.eval_every = 50, .eval_s = 20, .step_s = [](auto) { return 0.5; }};
  play(run, [&](std::int64_t step, double estimate, double truth) {
    // In the last steps one evaluation more or less is most of what is left.
    if (step < 100 || step > 800) return;
    EXPECT_NEAR(estimate, truth, 0.1 * truth) << step;
  });
}

TEST(TimeLeftEstimate, IsWithinATenthOverManyKindsOfRuns) {
  std::mt19937 random(14);
  for (int round = 0; round < 60; ++round) {
    const std::int64_t total = 200 + random() % 2000;
    const double base = std::pow(10, -3 + static_cast<double>(random() % 40) / 10);
    const SimulatedRun run{
        .total = total,
        .eval_every = 1 + static_cast<std::int64_t>(random() % (total / 10)),
        .eval_s = base * (random() % 50),
        .save_every = 1 + static_cast<std::int64_t>(random() % (total / 20)),
        .save_s = base * (random() % 5),
        .step_s = [&](auto) { return base * (0.95 + 0.1 * (random() % 1000) / 1000); }};
    expect_good_after_a_tenth(run);
  }
}

TEST(TimeLeftEstimate, IsNotSpoiltBySlowFirstStepsOrRareHiccups) {
  expect_good_after_a_tenth({.eval_every = 40, .eval_s = 10, .step_s = [](std::int64_t step) {
                               return step <= 3 ? 60.0 : step == 70 ? 30.0 : 1.0;
                             }});
}

// Most steps find their data there; every eighth waits for all of them. The median alone would say
// that hardly anything is left.
TEST(TimeLeftEstimate, CountsWhatFewStepsWaitForData) {
  TimeLeft time_left;
  time_left.start(0);
  for (int step = 1; step <= 400; ++step) {
    const bool waits = step % 8 == 0;
    time_left.on_step(step, waits ? 0.81 : 0.01, 0, waits ? 0.8 / 0.81 : 0);
  }
  EXPECT_NEAR(time_left.seconds_left(1400).value(), 1000 * 0.11, 5);
}

TEST(TimeLeftEstimate, HoldsForAResumedRun) {
  expect_good_after_a_tenth(
      {.first = 1730, .total = 3000, .eval_every = 100, .eval_s = 30, .step_s = [](auto) {
         return 1.0;
       }});
}

TEST(TimeLeftEstimate, HoldsWhereOnlyEveryTenthStepIsReported) {
  TimeLeft time_left;
  time_left.start(0);
  for (int step = 10; step <= 100; step += 10) time_left.on_step(step, 1.25, 0.2);
  EXPECT_NEAR(time_left.seconds_left(1000).value(), 900 * 1.25, 1e-6);
}

TEST(TimeLeftEstimate, FollowsStepsThatBecomeSlower) {
  TimeLeft time_left;
  time_left.start(0);
  for (int step = 1; step <= 500; ++step) time_left.on_step(step, 1, 0);
  for (int step = 501; step <= 602; ++step) time_left.on_step(step, 3, 0);
  EXPECT_NEAR(time_left.seconds_left(702).value(), 300, 1e-6);
}

TEST(TimeLeftEstimate, IgnoresNumbersThatMakeNoSense) {
  TimeLeft time_left;
  time_left.start(0);
  for (double seconds : std::initializer_list<double>{NAN, INFINITY, -1.0}) {
    time_left.on_step(1, seconds, 0);
    time_left.on_eval(1, seconds);
  }
  EXPECT_EQ(time_left.seconds_left(100), std::nullopt);
  time_left.on_step(2, 1, NAN);
  EXPECT_EQ(time_left.seconds_left(100), 98);
  EXPECT_EQ(time_left.seconds_left(1), 0);
}

TEST(FormatSpan, UsesAtMostTwoUnits) {
  EXPECT_EQ(format_span(0), "0s");
  EXPECT_EQ(format_span(-5), "0s");
  EXPECT_EQ(format_span(59.4), "59s");
  EXPECT_EQ(format_span(59.6), "1m");
  EXPECT_EQ(format_span(320), "5m20s");
  EXPECT_EQ(format_span(599.6), "10m");
  EXPECT_EQ(format_span(12 * 60 + 10), "12m");
  EXPECT_EQ(format_span(3599), "1h");
  EXPECT_EQ(format_span(2 * 3600 + 41 * 60), "2h41m");
  EXPECT_EQ(format_span(86399), "1d");
  EXPECT_EQ(format_span(76 * 3600), "3d4h");
  EXPECT_EQ(format_span(NAN), "unknown");
}

}  // namespace
}  // namespace lockstep
