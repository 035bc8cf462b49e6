// Which cores and devices jobs get, and when one more does not fit.
#include "tools/jobs/schedule/placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr auto whole = GpuRequest::Kind::whole;
constexpr auto part = GpuRequest::Kind::share;

QueuedJob on_cpu(double cpus) { return {.cpus = cpus}; }
QueuedJob on_gpus(int devices) { return {.cpus = 1, .gpus = {.kind = whole, .devices = devices}}; }
QueuedJob on_part(double share, double cpus = 0) {
  return {.cpus = cpus, .gpus = {.kind = part, .share = share}};
}
Resources cores(int count, int slots = 0) {
  BatchResources all{.slots = slots};
  for (int core = 0; core < count; ++core) all.cores.push_back(core);
  return Resources(all);
}
Resources two_gpus(int slots = 0) {
  return Resources({.cores = {0, 1, 2, 3, 4, 5, 6, 7}, .slots = slots, .devices = {"A", "B"}});
}

TEST(Placement, GivesEachJobCoresOfItsOwn) {
  Resources all = cores(4);
  EXPECT_THAT(all.place(on_cpu(1))->cores, ElementsAre(0));
  EXPECT_THAT(all.place(on_cpu(2))->cores, ElementsAre(1, 2));
  EXPECT_FALSE(all.place(on_cpu(2)));
  EXPECT_THAT(all.place(on_cpu(1))->cores, ElementsAre(3));
  EXPECT_FALSE(all.place(on_cpu(1)));
}

TEST(Placement, WhatIsGivenBackIsGivenAgain) {
  Resources all = cores(2);
  const Placement first = *all.place(on_cpu(1)), second = *all.place(on_cpu(1));
  EXPECT_EQ(first.slot, 0);
  EXPECT_EQ(second.slot, 1);
  all.release(first);
  const Placement third = *all.place(on_cpu(1));
  EXPECT_EQ(third.slot, 0) << "the lowest that is free";
  EXPECT_THAT(third.cores, ElementsAre(0));
}

TEST(Placement, PartsOfACoreAddUp) {
  Resources all = cores(1);
  for (int i = 0; i < 10; ++i) {
    const auto placed = all.place(on_cpu(0.1));
    if (i >= 4) {
      EXPECT_FALSE(placed) << "four slots for each core";
      continue;
    }
    ASSERT_TRUE(placed) << i;
    EXPECT_THAT(placed->cores, IsEmpty());
  }
  Resources thirds = cores(1);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(thirds.place(on_cpu(1.0 / 3))) << i;
  EXPECT_FALSE(thirds.place(on_cpu(1.0 / 3)));
}

TEST(Placement, NeverMoreAtOnceThanSlots) {
  Resources all = cores(8, 2);
  EXPECT_TRUE(all.place(on_cpu(0)));
  EXPECT_TRUE(all.place(on_cpu(0)));
  EXPECT_FALSE(all.place(on_cpu(0)));
  all.set_slots(3);
  EXPECT_TRUE(all.place(on_cpu(0)));
  all.set_slots(1);
  EXPECT_FALSE(all.place(on_cpu(0)));
}

TEST(Placement, MoreSlotsThanCoresShareThemAll) {
  Resources all = cores(1, 3);
  for (int i = 0; i < 3; ++i) EXPECT_THAT(all.place(on_cpu(1))->cores, IsEmpty()) << i;
  EXPECT_FALSE(all.place(on_cpu(1)));
}

TEST(Placement, SpreadsJobsEvenlyOverDevices) {
  Resources all = two_gpus();
  std::vector<int> order;
  for (int i = 0; i < 8; ++i) order.push_back(all.place(on_part(0.25))->devices.at(0));
  EXPECT_THAT(order, ElementsAre(0, 1, 0, 1, 0, 1, 0, 1));
  EXPECT_FALSE(all.place(on_part(0.25))) << "at most four on each";
}

TEST(Placement, PartsThatAreNoPowersOfTwoFillADeviceToo) {
  Resources all({.cores = {0}, .slots = 9, .devices = {"A"}});
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(all.place(on_part(1.0 / 3))) << i;
  EXPECT_FALSE(all.place(on_part(0.25)));
}

TEST(Placement, AWholeDeviceIsSharedWithNobody) {
  Resources all = two_gpus();
  const Placement shared = *all.place(on_part(0.25));
  EXPECT_THAT(shared.devices, ElementsAre(0));
  const Placement alone = *all.place(on_gpus(1));
  EXPECT_THAT(alone.devices, ElementsAre(1));
  EXPECT_FALSE(all.place(on_gpus(1)));
  EXPECT_THAT(all.place(on_part(0.5))->devices, ElementsAre(0));
  all.release(alone);
  EXPECT_FALSE(all.place(on_gpus(2)));
}

TEST(Placement, ADeviceThatOthersUseIsPassedOverUntilTheyAreGone) {
  Resources all = two_gpus();
  all.set_busy(0);
  EXPECT_THAT(all.place(on_gpus(1))->devices, ElementsAre(1));
  EXPECT_FALSE(all.place(on_gpus(1)));
  EXPECT_EQ(all.never(on_gpus(2)), "") << "it waits for them";
  all.none_busy();
  EXPECT_THAT(all.place(on_gpus(1))->devices, ElementsAre(0));
}

TEST(Placement, ADeviceThatIsSetAsideGetsNoMore) {
  Resources all = two_gpus();
  all.set_aside(0);
  EXPECT_THAT(all.place(on_part(0.25))->devices, ElementsAre(1));
  EXPECT_EQ(all.never(on_gpus(2)), "needs 2 GPUs, and there are 1");
  all.set_aside(1);
  EXPECT_EQ(all.never(on_gpus(1)), "needs a GPU, and there is none");
}

TEST(Placement, SaysWhatCanNeverRun) {
  EXPECT_EQ(cores(2).never(on_cpu(3)), "needs 3 cores, and there are 2");
  EXPECT_EQ(cores(2).never(on_cpu(2)), "");
  EXPECT_EQ(cores(2, 5).never(on_cpu(3)), "") << "more slots than cores: nobody counts them";
  EXPECT_THAT(cores(2).never(on_gpus(1)), HasSubstr("needs a GPU"));
  EXPECT_EQ(two_gpus().never(on_gpus(3)), "needs 3 GPUs, and there are 2");
}

TEST(Placement, TakesOverWhatAnEarlierSchedulerGave) {
  Resources all = two_gpus();
  const Placement adopted = all.take(on_part(0.5, 2), 3, {6, 7, 99}, {"B", "gone"});
  EXPECT_EQ(adopted.slot, 3);
  EXPECT_THAT(adopted.cores, ElementsAre(6, 7)) << "99 is not there";
  EXPECT_THAT(adopted.devices, ElementsAre(1));
  EXPECT_EQ(all.free_share(1), 0.5);
  EXPECT_THAT(all.place(on_gpus(1))->devices, ElementsAre(0));
  EXPECT_FALSE(all.place(on_gpus(1)));
  all.release(adopted);
  EXPECT_THAT(all.place(on_gpus(1))->devices, ElementsAre(1));
}

TEST(Placement, TwoThatWereAdoptedInOneSlotGetTwo) {
  Resources all = cores(4);
  EXPECT_EQ(all.take(on_cpu(1), 0, {0}, {}).slot, 0);
  EXPECT_EQ(all.take(on_cpu(1), 0, {0}, {}).slot, 1);
}

TEST(Placement, GivesBackExactlyWhatItTook) {
  Resources all = two_gpus(6);
  for (int round = 0; round < 1000; ++round) {
    std::vector<Placement> taken;
    for (const double share : {0.3, 0.7, 0.25, 0.6, 0.4})
      if (const auto placed = all.place(on_part(share, 0.7))) taken.push_back(*placed);
    ASSERT_THAT(taken, SizeIs(::testing::Ge(4U)));
    for (const Placement& each : taken) all.release(each);
  }
  EXPECT_TRUE(all.place(on_gpus(2))) << "sums of parts leave no rest";
}

}  // namespace
}  // namespace lockstep
