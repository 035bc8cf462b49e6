// Learning-rate curves against closed forms, published values, and what every curve must satisfy.
#include "plan/schedule.h"

#include "plan/train_options.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

namespace lockstep {
namespace {

constexpr ScheduleKind kinds[] = {ScheduleKind::constant, ScheduleKind::linear,
                                  ScheduleKind::step,     ScheduleKind::polynomial,
                                  ScheduleKind::cosine,   ScheduleKind::cosine_restarts};

Schedule curve(ScheduleKind kind, double base_lr = 0.1) {
  return {
      .kind = kind, .base_lr = base_lr, .total_steps = 100, .every_steps = 30, .period_steps = 10};
}

void expect_rates(const Schedule& schedule, const std::vector<double>& rates) {
  for (std::size_t step = 0; step < rates.size(); ++step)
    EXPECT_NEAR(learning_rate(schedule, static_cast<std::int64_t>(step)), rates[step], 1e-15)
        << "step " << step;
}

TEST(Schedule, ConstantStays) {
  for (std::int64_t step = 0; step < 1000; ++step)
    EXPECT_EQ(learning_rate(curve(ScheduleKind::constant), step), 0.1);
}

// The example in PyTorch's documentation of PolynomialLR: power 1, 4 iterations.
TEST(Schedule, LinearAndPolynomialGiveThePublishedRatesOfPolynomialLr) {
  for (const ScheduleKind kind : {ScheduleKind::linear, ScheduleKind::polynomial}) {
    Schedule schedule = curve(kind, 0.001);
    schedule.total_steps = 4;
    expect_rates(schedule, {0.001, 0.00075, 0.0005, 0.00025, 0, 0, 0});
  }
}

TEST(Schedule, PolynomialRaisesWhatIsLeftToItsPower) {
  Schedule schedule = curve(ScheduleKind::polynomial, 1);
  schedule.min_lr = 0.2;
  schedule.power = 2;
  for (std::int64_t step = 0; step <= 100; ++step)
    EXPECT_NEAR(learning_rate(schedule, step), 0.2 + 0.8 * std::pow(1 - step / 100.0, 2), 1e-15);
}

// The example in PyTorch's documentation of StepLR: step_size 30, gamma 0.1.
TEST(Schedule, StepGivesThePublishedRatesOfStepLr) {
  const Schedule schedule = curve(ScheduleKind::step, 0.05);
  for (std::int64_t step = 0; step < 100; ++step)
    EXPECT_NEAR(learning_rate(schedule, step), 0.05 * std::pow(0.1, step / 30), 1e-17) << step;
}

TEST(Schedule, StepStopsAtTheFloor) {
  Schedule schedule = curve(ScheduleKind::step);
  schedule.min_lr = 0.004;
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 59), 0.01);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 60), 0.004);
}

// PyTorch's CosineAnnealingLR computes each rate from the one before it.
TEST(Schedule, CosineEqualsTheRecursionOfCosineAnnealingLr) {
  const double floor = 0.01, pi = std::numbers::pi;
  Schedule schedule = curve(ScheduleKind::cosine);
  schedule.min_lr = floor;
  double rate = 0.1;
  for (int step = 0; step < 100; ++step) {
    EXPECT_NEAR(learning_rate(schedule, step), rate, 1e-13) << step;
    rate =
        (1 + std::cos(pi * (step + 1) / 100)) / (1 + std::cos(pi * step / 100)) * (rate - floor) +
        floor;
  }
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 100), floor);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 1000), floor);
}

// Loshchilov and Hutter, SGDR, equation 5, with T_cur and T_i counted step by step.
TEST(Schedule, RestartsEqualTheirDefinition) {
  for (const double mult : {1.0, 2.0, 3.0}) {
    Schedule schedule = curve(ScheduleKind::cosine_restarts);
    schedule.min_lr = 0.001;
    schedule.period_mult = mult;
    double current = 0, period = 10;
    for (std::int64_t step = 0; step < 2000; ++step) {
      const double expected =
          0.001 + 0.099 * (1 + std::cos(std::numbers::pi * current / period)) / 2;
      EXPECT_NEAR(learning_rate(schedule, step), expected, 1e-14) << mult << " step " << step;
      if (++current >= period) {
        current = 0;
        period *= mult;
      }
    }
  }
}

TEST(Schedule, RestartsOnTheStepThatAFractionalPeriodReaches) {
  Schedule schedule = curve(ScheduleKind::cosine_restarts);
  schedule.period_steps = 10.0 / 3;  // three periods are ten steps, but for rounding
  for (std::int64_t step = 0; step < 10000; step += 10)
    EXPECT_DOUBLE_EQ(learning_rate(schedule, step), 0.1) << step;
  EXPECT_LT(learning_rate(schedule, 9), 0.1 / 4);
}

TEST(Schedule, WarmsUpLinearlyAndThenStartsTheCurve) {
  for (const ScheduleKind kind : kinds) {
    Schedule plain = curve(kind), warm = plain;
    warm.warmup_steps = 20;
    warm.total_steps += 20;
    for (std::int64_t step = 0; step < 20; ++step)
      EXPECT_DOUBLE_EQ(learning_rate(warm, step), 0.1 * static_cast<double>(step + 1) / 20);
    for (std::int64_t step = 0; step < 150; ++step)
      EXPECT_NEAR(learning_rate(warm, step + 20), learning_rate(plain, step), 1e-15) << step;
  }
}

TEST(Schedule, StaysWithinItsBounds) {
  for (const ScheduleKind kind : kinds)
    for (const double min_lr : {0.0, 0.01, 0.1})
      for (const double warmup : {0.0, 0.4, 1.0, 7.5, 50.0, 100.0, 200.0})
        for (const double mult : {1.0, 1.5, 2.0}) {
          Schedule schedule = curve(kind);
          schedule.min_lr = min_lr;
          schedule.warmup_steps = warmup;
          schedule.period_mult = mult;
          schedule.power = mult;
          for (std::int64_t step = 0; step < 300; ++step) {
            const double rate = learning_rate(schedule, step);
            ASSERT_GT(rate, step < warmup ? 0 : min_lr - 1e-15);
            ASSERT_LE(rate, 0.1 + 1e-15);
          }
        }
}

TEST(Schedule, HasNoJumpsButThoseOfItsKind) {
  for (const ScheduleKind kind : {ScheduleKind::constant, ScheduleKind::linear,
                                  ScheduleKind::polynomial, ScheduleKind::cosine})
    for (const double warmup : {0.0, 10.0, 33.3}) {
      Schedule schedule = curve(kind, 1);
      schedule.warmup_steps = warmup;
      schedule.total_steps = 10000;
      schedule.power = 3;
      for (std::int64_t step = 0; step < 11000; ++step) {
        const double change =
            std::abs(learning_rate(schedule, step + 1) - learning_rate(schedule, step));
        ASSERT_LE(change, step < warmup ? 1 / warmup + 1e-12 : 4e-4) << step;
      }
    }
}

TEST(Schedule, FallsFromTheEndOfWarmUpToTheLastStep) {
  for (const ScheduleKind kind :
       {ScheduleKind::linear, ScheduleKind::polynomial, ScheduleKind::cosine}) {
    Schedule schedule = curve(kind);
    schedule.warmup_steps = 10;
    for (std::int64_t step = 10; step < 100; ++step)
      ASSERT_GT(learning_rate(schedule, step), learning_rate(schedule, step + 1)) << step;
    EXPECT_NEAR(learning_rate(schedule, 100), 0, 1e-17);
  }
}

}  // namespace
}  // namespace lockstep
