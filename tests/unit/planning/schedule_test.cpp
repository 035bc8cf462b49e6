// Learning-rate curves against closed forms, published values, and what every curve must satisfy.
#include "planning/schedule/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

namespace lockstep {
namespace {

double& parameter(Schedule& schedule, const std::string& name) {
  for (std::size_t i = 0; i < schedule.parameters.size(); ++i)
    if (schedule.kind->parameters[i].name == name) return schedule.parameters[i];
  ADD_FAILURE() << schedule.kind->name << " has no " << name;
  return schedule.base_lr;
}

// 100 steps; lengths of 30, all else as by default.
Schedule curve(const std::string& kind, double base_lr = 0.1) {
  Schedule schedule{.kind = find_schedule_kind(kind), .base_lr = base_lr, .total_steps = 100};
  for (const ScheduleParameter& parameter : schedule.kind->parameters)
    schedule.parameters.push_back(parameter.is_length ? 30 : parameter.standard);
  return schedule;
}

std::vector<std::string> kinds() {
  std::vector<std::string> names;
  for (const ScheduleKind& kind : schedule_kinds()) names.emplace_back(kind.name);
  return names;
}

void expect_rates(const Schedule& schedule, const std::vector<double>& rates) {
  for (std::size_t step = 0; step < rates.size(); ++step)
    EXPECT_NEAR(learning_rate(schedule, static_cast<std::int64_t>(step)), rates[step], 1e-15)
        << "step " << step;
}

TEST(Schedule, ConstantStays) {
  for (std::int64_t step = 0; step < 1000; ++step)
    EXPECT_EQ(learning_rate(curve("constant"), step), 0.1);
}

// The example in PyTorch's documentation of PolynomialLR: power 1, 4 iterations.
TEST(Schedule, LinearAndPolynomialGiveThePublishedRatesOfPolynomialLr) {
  for (const char* kind : {"linear", "polynomial"}) {
    Schedule schedule = curve(kind, 0.001);
    schedule.total_steps = 4;
    expect_rates(schedule, {0.001, 0.00075, 0.0005, 0.00025, 0, 0, 0});
  }
}

TEST(Schedule, PolynomialRaisesWhatIsLeftToItsPower) {
  Schedule schedule = curve("polynomial", 1);
  schedule.min_lr = 0.2;
  parameter(schedule, "power") = 2;
  for (std::int64_t step = 0; step <= 100; ++step)
    EXPECT_NEAR(learning_rate(schedule, step), 0.2 + 0.8 * std::pow(1 - step / 100.0, 2), 1e-15);
}

// The example in PyTorch's documentation of StepLR: step_size 30, gamma 0.1.
TEST(Schedule, StepGivesThePublishedRatesOfStepLr) {
  const Schedule schedule = curve("step", 0.05);
  for (std::int64_t step = 0; step < 100; ++step)
    EXPECT_NEAR(learning_rate(schedule, step), 0.05 * std::pow(0.1, step / 30), 1e-17) << step;
}

TEST(Schedule, StepStopsAtTheFloor) {
  Schedule schedule = curve("step");
  schedule.min_lr = 0.004;
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 59), 0.01);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 60), 0.004);
}

// PyTorch's CosineAnnealingLR computes each rate from the one before it.
TEST(Schedule, CosineEqualsTheRecursionOfCosineAnnealingLr) {
  const double floor = 0.01, pi = std::numbers::pi;
  Schedule schedule = curve("cosine");
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
    Schedule schedule = curve("cosine_restarts");
    schedule.min_lr = 0.001;
    parameter(schedule, "period") = 10;
    parameter(schedule, "period_mult") = mult;
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
  Schedule schedule = curve("cosine_restarts");
  parameter(schedule, "period") = 10.0 / 3;  // three periods are ten steps, but for rounding
  for (std::int64_t step = 0; step < 10000; step += 10)
    EXPECT_DOUBLE_EQ(learning_rate(schedule, step), 0.1) << step;
  EXPECT_LT(learning_rate(schedule, 9), 0.1 / 4);
}

// torch.optim.lr_scheduler.OneCycleLR, two phases, anneal_strategy "cos", step by step as its
// get_lr does it.
double one_cycle_lr(double max_lr, double total, double step, double pct_start, double div_factor,
                    double final_div_factor) {
  const auto anneal = [](double start, double end, double pct) {
    return end + (start - end) / 2.0 * (std::cos(std::numbers::pi * pct) + 1);
  };
  const double initial = max_lr / div_factor, min = initial / final_div_factor;
  const double first_end = pct_start * total - 1, last_end = total - 1;
  if (step <= first_end) return anneal(initial, max_lr, step / first_end);
  return anneal(max_lr, min, (step - first_end) / (last_end - first_end));
}

TEST(Schedule, OneCycleEqualsOneCycleLr) {
  for (const double total : {10.0, 100.0, 2500.0})
    for (const double rise : {0.1, 0.3, 0.45, 0.8}) {
      Schedule schedule = curve("one_cycle");
      schedule.total_steps = total;
      parameter(schedule, "rise_share") = rise;
      // Where the rise ends at step 0, PyTorch divides 0 by 0 there.
      for (std::int64_t step = rise * total > 1 ? 0 : 1; static_cast<double>(step) < total; ++step)
        EXPECT_NEAR(learning_rate(schedule, step),
                    one_cycle_lr(0.1, total, static_cast<double>(step), rise, 25, 1e4), 1e-15)
            << total << " " << rise << " step " << step;
    }
}

// OneCycleLR(optimizer, max_lr=0.1, total_steps=100) by the formulas of its get_lr, in Python.
TEST(Schedule, OneCycleHasTheRatesOfOneCycleLrsDefaults) {
  const Schedule schedule = curve("one_cycle");
  const std::pair<std::int64_t, double> rates[] = {
      {0, 0.004},      {10, 0.029516394846410082},
      {29, 0.1},       {30, 0.09994965352845243},
      {64, 0.0500002}, {98, 5.07464715475788e-05},
      {99, 4e-07},     {100, 4e-07},  // after its end it stays there
      {1000, 4e-07}};
  for (const auto& [step, rate] : rates) EXPECT_NEAR(learning_rate(schedule, step), rate, 1e-16);
}

TEST(Schedule, OneCycleWithoutRoomForARiseFallsFromTheStart) {
  for (const double total : {1.0, 2.0, 3.0})
    for (const double rise : {0.0, 0.3, 0.5, 1.0}) {
      Schedule schedule = curve("one_cycle");
      schedule.total_steps = total;
      parameter(schedule, "rise_share") = rise;
      for (std::int64_t step = 0; step < 5; ++step) {
        ASSERT_GT(learning_rate(schedule, step), 0) << total << " " << rise;
        ASSERT_LE(learning_rate(schedule, step), 0.1 + 1e-15) << total << " " << rise;
      }
    }
}

TEST(Schedule, OneCycleRisesToThePeakAndFallsFromThere) {
  const Schedule schedule = curve("one_cycle");
  for (std::int64_t step = 0; step < 99; ++step)
    ASSERT_EQ(learning_rate(schedule, step) < learning_rate(schedule, step + 1), step < 29) << step;
}

TEST(Schedule, HasAKindForEveryNameAndNoOther) {
  for (const std::string& kind : kinds()) EXPECT_EQ(find_schedule_kind(kind)->name, kind);
  EXPECT_EQ(find_schedule_kind("one-cycle"), nullptr);
  std::vector<std::string> names;
  for (const ScheduleKind& kind : schedule_kinds())
    for (const ScheduleParameter& parameter : kind.parameters) names.emplace_back(parameter.name);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

TEST(Schedule, HasAFaultWhereAParameterIsOutOfItsRange) {
  for (const std::string& kind : kinds()) {
    const Schedule good = curve(kind);
    EXPECT_FALSE(schedule_fault(good)) << kind;
    for (std::size_t i = 0; i < good.parameters.size(); ++i)
      for (const double value : {-1.0, std::numeric_limits<double>::quiet_NaN()}) {
        Schedule bad = good;
        bad.parameters[i] = value;
        EXPECT_TRUE(schedule_fault(bad)) << kind << " " << good.kind->parameters[i].name;
      }
  }
}

TEST(Schedule, WarmsUpLinearlyAndThenStartsTheCurve) {
  for (const std::string& kind : kinds()) {
    Schedule plain = curve(kind), warm = plain;
    if (!plain.kind->uses_warmup) continue;
    warm.warmup_steps = 20;
    warm.total_steps += 20;
    for (std::int64_t step = 0; step < 20; ++step)
      EXPECT_DOUBLE_EQ(learning_rate(warm, step), 0.1 * static_cast<double>(step + 1) / 20);
    for (std::int64_t step = 0; step < 150; ++step)
      EXPECT_NEAR(learning_rate(warm, step + 20), learning_rate(plain, step), 1e-15) << step;
  }
}

TEST(Schedule, StaysWithinItsBounds) {
  for (const std::string& kind : kinds())
    for (const double min_lr : {0.0, 0.01, 0.1})
      for (const double warmup : {0.0, 0.4, 1.0, 7.5, 50.0, 100.0, 200.0})
        for (const double mult : {1.0, 1.5, 2.0}) {
          Schedule schedule = curve(kind);
          const ScheduleKind& row = *schedule.kind;
          schedule.min_lr = min_lr;
          schedule.warmup_steps = row.uses_warmup ? warmup : 0;
          for (std::size_t i = 0; i < row.parameters.size(); ++i)
            schedule.parameters[i] = std::min(schedule.parameters[i] * mult, row.parameters[i].max);
          ASSERT_FALSE(schedule_fault(schedule)) << kind;
          const double lowest = row.uses_min_lr ? min_lr - 1e-15 : 0;
          for (std::int64_t step = 0; step < 300; ++step) {
            const double rate = learning_rate(schedule, step);
            ASSERT_GT(rate, step < warmup ? 0 : lowest) << kind;
            ASSERT_LE(rate, 0.1 + 1e-15) << kind;
          }
        }
}

TEST(Schedule, HasNoJumpsButThoseOfItsKind) {
  for (const char* kind : {"constant", "linear", "polynomial", "cosine"})
    for (const double warmup : {0.0, 10.0, 33.3}) {
      Schedule schedule = curve(kind, 1);
      schedule.warmup_steps = warmup;
      schedule.total_steps = 10000;
      if (std::string(kind) == "polynomial") parameter(schedule, "power") = 3;
      for (std::int64_t step = 0; step < 11000; ++step) {
        const double change =
            std::abs(learning_rate(schedule, step + 1) - learning_rate(schedule, step));
        ASSERT_LE(change, step < warmup ? 1 / warmup + 1e-12 : 4e-4) << step;
      }
    }
}

TEST(Schedule, FallsFromTheEndOfWarmUpToTheLastStep) {
  for (const char* kind : {"linear", "polynomial", "cosine"}) {
    Schedule schedule = curve(kind);
    schedule.warmup_steps = 10;
    for (std::int64_t step = 10; step < 100; ++step)
      ASSERT_GT(learning_rate(schedule, step), learning_rate(schedule, step + 1)) << step;
    EXPECT_NEAR(learning_rate(schedule, 100), 0, 1e-17);
  }
}

}  // namespace
}  // namespace lockstep
