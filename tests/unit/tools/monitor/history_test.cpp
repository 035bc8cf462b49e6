// The newest values, packed.
#include "tools/monitor/live/history.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fakes/fake_reader.h"

namespace lockstep {
namespace {

MonitorSample sample_of(long long number, double first, double second) {
  MonitorSample sample{.number = number, .wall_s = 100.0 + static_cast<double>(number)};
  sample.gpus.resize(2);
  sample.gpus[0][GpuMetric::power] = measured(first);
  sample.gpus[1][GpuMetric::power] = measured(second);
  sample.gpus[1][GpuMetric::sm_active].state = ReadingState::unsupported;
  return sample;
}

TEST(History, KeepsTheNewestSamplesInOrder) {
  History history(2, 3);
  EXPECT_EQ(history.size(), 0u);
  for (int i = 1; i <= 5; ++i) history.add(sample_of(i, i, 10.0 * i));
  ASSERT_EQ(history.size(), 3u);
  for (std::size_t age = 0; age < 3; ++age) {
    const double number = 5.0 - static_cast<double>(age);
    EXPECT_EQ(history.number(age), static_cast<long long>(number));
    EXPECT_EQ(history.wall_s(age), 100 + number);
    EXPECT_EQ(history.value(0, GpuMetric::power, age), number);
    EXPECT_EQ(history.value(1, GpuMetric::power, age), 10 * number);
  }
}

TEST(History, WhatWasNotMeasuredIsNoNumber) {
  History history(2, 2);
  history.add(sample_of(1, 0, 7));
  EXPECT_EQ(history.value(0, GpuMetric::power, 0), 0);
  EXPECT_TRUE(std::isnan(history.value(1, GpuMetric::sm_active, 0)));
  EXPECT_TRUE(std::isnan(history.value(0, GpuMetric::temperature, 0)));
}

TEST(History, HoldsAtLeastOneSample) {
  History history(2, 0);
  history.add(sample_of(1, 3, 4));
  history.add(sample_of(2, 5, 6));
  EXPECT_EQ(history.size(), 1u);
  EXPECT_EQ(history.value(0, GpuMetric::power, 0), 5);
}

}  // namespace
}  // namespace lockstep
