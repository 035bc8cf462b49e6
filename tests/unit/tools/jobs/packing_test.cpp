#include "tools/jobs/schedule/packing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t gib = std::int64_t{1} << 30;

// As many as make the level full, of which each takes so long.
void run_level(Packing& packing, double duration_s) {
  const int limit = packing.per_device();
  for (int i = 0; i < 2 * limit && packing.per_device() == limit; ++i)
    packing.ended({.duration_s = duration_s, .together = limit + 0.0, .limit = limit});
}

TEST(Packing, HasOneUntilItIsMeasured) {
  Packing packing(80 * gib);
  EXPECT_EQ(packing.per_device(), 1);
  EXPECT_FALSE(packing.ended({.duration_s = 1}));
  EXPECT_EQ(packing.per_device(), 1);
  EXPECT_FALSE(packing.measured());
}

TEST(Packing, BeginsWithWhatActivityAllowsAndMemoryHolds) {
  Packing quiet(80 * gib);
  EXPECT_TRUE(quiet.saw(2 * gib, 20.0));
  EXPECT_EQ(quiet.per_device(), 4);
  Packing large(80 * gib);
  EXPECT_TRUE(large.saw(30 * gib, 20.0));
  EXPECT_EQ(large.per_device(), 2);
  Packing whole(80 * gib);
  EXPECT_FALSE(whole.saw(60 * gib, 1.0));
  EXPECT_EQ(whole.per_device(), 1);
  Packing untold(80 * gib);
  EXPECT_TRUE(untold.saw(2 * gib, std::nullopt));
  EXPECT_EQ(untold.per_device(), 2);
}

TEST(Packing, NeverMoreThanItsMost) {
  Packing packing(80 * gib);
  packing.saw(1, 0.5);
  EXPECT_EQ(packing.per_device(), Packing::most_per_device);
}

TEST(Packing, GoesBackWhereADeviceGetsLessDoneWithMore) {
  Packing packing(80 * gib);
  packing.ended({.duration_s = 10});
  packing.saw(2 * gib, 30.0);
  ASSERT_EQ(packing.per_device(), 3);
  run_level(packing, 15);  // 5 s of the device per job instead of 10
  ASSERT_EQ(packing.per_device(), 4);
  EXPECT_THAT(packing.why(), HasSubstr("with 3 it does 12 a minute (6 a minute before)"));
  run_level(packing, 24);  // 6 s
  EXPECT_EQ(packing.per_device(), 3);
  EXPECT_THAT(packing.why(), HasSubstr("3 jobs per device from here on: with 4 it does 10 a "
                                       "minute, with 3 12 a minute"));
  run_level(packing, 10);  // settled
  EXPECT_EQ(packing.per_device(), 3);
}

TEST(Packing, GoesOnWhileItGains) {
  Packing packing(80 * gib);
  packing.ended({.duration_s = 10});
  packing.saw(gib, 30.0);
  for (int level = 0; level < 20; ++level) run_level(packing, 10);
  EXPECT_EQ(packing.per_device(), Packing::most_per_device);
}

TEST(Packing, CountsOnlyAttemptsOfAFullDevice) {
  Packing packing(80 * gib);
  packing.ended({.duration_s = 10});
  packing.saw(2 * gib, 30.0);
  for (int i = 0; i < 20; ++i) {
    packing.ended({.duration_s = 1, .together = 2, .limit = 3});
    packing.ended({.duration_s = 1, .together = 3, .limit = 2});
  }
  EXPECT_EQ(packing.per_device(), 3);
}

TEST(Packing, AHigherPeakLowersWhatFits) {
  Packing packing(80 * gib);
  packing.saw(2 * gib, 20.0);
  EXPECT_TRUE(packing.saw(30 * gib, 20.0));
  EXPECT_EQ(packing.per_device(), 2);
  EXPECT_FALSE(packing.saw(3 * gib, 20.0));
  EXPECT_EQ(packing.per_device(), 2);
}

TEST(Packing, OneFewerWhereMemoryRanOut) {
  Packing packing(80 * gib);
  packing.saw(2 * gib, 20.0);
  EXPECT_TRUE(packing.out_of_memory());
  EXPECT_EQ(packing.per_device(), 3);
  EXPECT_THAT(packing.why(), HasSubstr("memory ran out"));
  while (packing.per_device() > 1) packing.out_of_memory();
  EXPECT_FALSE(packing.out_of_memory());
}

TEST(Packing, WhatIsGivenNeedsNoMeasurement) {
  EXPECT_EQ(Packing(80 * gib, 2 * gib).per_device(), 4);
  EXPECT_EQ(Packing(80 * gib, 30 * gib).per_device(), 2);
  EXPECT_EQ(Packing(0, 2 * gib).per_device(), 1);  // nobody knows how much there is
}

TEST(Packing, IsKeptOverAStart) {
  Packing packing(80 * gib);
  packing.saw(2 * gib, 20.0);
  Packing again(80 * gib);
  again.restore(packing.text());
  EXPECT_EQ(again.per_device(), 4);
  EXPECT_EQ(again.peak_bytes(), 2 * gib);
  Packing smaller(5 * gib);
  smaller.restore(packing.text());
  EXPECT_EQ(smaller.per_device(), 2);
  for (const char* damaged : {"", "{", "[]", "{\"limit\": \"x\"}"}) {
    Packing other(80 * gib);
    other.restore(damaged);
    EXPECT_EQ(other.per_device(), 1) << damaged;
  }
}

TEST(CpuOrGpu, TriesBothOnceAndTakesWhatGetsMoreDone) {
  using Choice = CpuOrGpu::Choice;
  CpuOrGpu choice;
  EXPECT_TRUE(choice.wants_trial(Choice::gpu));
  choice.trial_begins(Choice::gpu);
  EXPECT_FALSE(choice.wants_trial(Choice::gpu));
  EXPECT_TRUE(choice.wants_trial(Choice::cpu));
  choice.trial_begins(Choice::cpu);
  EXPECT_FALSE(choice.trial_ended(Choice::gpu, true, 1, 2));
  // Slower, but sixteen at once.
  EXPECT_TRUE(choice.trial_ended(Choice::cpu, true, 4, 16));
  EXPECT_EQ(choice.choice(), Choice::cpu);
  EXPECT_EQ(choice.why(),
            "gpus = auto takes the CPU from here on: a job took 4 s on the CPU, 16 at once, and 1 "
            "s on a GPU, 2 at once");
  CpuOrGpu again;
  again.restore(choice.text());
  EXPECT_EQ(again.choice(), Choice::cpu);
  EXPECT_FALSE(again.wants_trial(Choice::gpu));
}

TEST(CpuOrGpu, TakesWhereItRunsAtAll) {
  using Choice = CpuOrGpu::Choice;
  CpuOrGpu choice;
  choice.trial_ended(Choice::cpu, false, 0.01, 16);
  EXPECT_TRUE(choice.trial_ended(Choice::gpu, true, 100, 1));
  EXPECT_EQ(choice.choice(), Choice::gpu);
  EXPECT_THAT(choice.why(), HasSubstr("it fails on the CPU"));
  CpuOrGpu both;
  both.trial_ended(Choice::cpu, false, 0.01, 16);
  EXPECT_FALSE(both.trial_ended(Choice::gpu, false, 1, 1));
  EXPECT_EQ(both.choice(), Choice::unknown);
  EXPECT_TRUE(both.wants_trial(Choice::cpu));
}

}  // namespace
}  // namespace lockstep
