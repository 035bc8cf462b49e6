// Who hangs, who is slow, and who only waits.
#include "runtime/launch/watch/hang_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep {
namespace {

using ::testing::HasSubstr;

class HangWatchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (Heartbeat& heartbeat : heartbeats)
      heartbeat = {.moves = 1, .phase = Phase::forward, .step = 1000};
    watch.look(heartbeats, stopped, ended, now_s);  // resumed there, and some steps further by now
    for (Heartbeat& heartbeat : heartbeats) heartbeat.step = 1005;
  }
  void waits(int rank, std::uint64_t number) {
    heartbeats[static_cast<std::size_t>(rank)].waits_in = Collective::all_reduce;
    heartbeats[static_cast<std::size_t>(rank)].number = number;
  }
  // Looks each half second for so long; ranks in `moving` move all the while.
  std::optional<Hang> look_for(double seconds, const std::vector<int>& moving = {}) {
    for (const double end_s = now_s + seconds; now_s < end_s; now_s += 0.5) {
      for (const int rank : moving) ++heartbeats[static_cast<std::size_t>(rank)].moves;
      if (auto hang = watch.look(heartbeats, stopped, ended, now_s)) return hang;
    }
    return std::nullopt;
  }

  HangWatch watch{3, 60};
  std::vector<Heartbeat> heartbeats{3};
  std::vector<bool> stopped = std::vector<bool>(3), ended = std::vector<bool>(3);
  double now_s = 100;
};

TEST_F(HangWatchTest, NamesTheOneThatWaitsForNobody) {
  waits(0, 7);
  waits(2, 7);
  const auto hang = look_for(100);
  ASSERT_TRUE(hang);
  EXPECT_EQ(hang->rank, 1);
  EXPECT_THAT(hang->how,
              HasSubstr("hangs: no sign of life for 60 s in forward of step 1005; rank 0 "
                        "waits in all-reduce 7 of step 1005; rank 2 waits"));
  EXPECT_NEAR(now_s, 160, 1);
}

TEST_F(HangWatchTest, LeavesASlowRankAndThoseThatWaitForItAlone) {
  waits(0, 7);
  waits(2, 7);
  EXPECT_FALSE(look_for(600, {1}));
}

TEST_F(HangWatchTest, SaysThatOneHasLeftOutACollective) {
  waits(0, 8);
  waits(1, 7);
  waits(2, 7);
  heartbeats[2].waits_in = Collective::broadcast;
  const auto hang = look_for(100);
  ASSERT_TRUE(hang);
  EXPECT_THAT(hang->how, HasSubstr("hangs, as ranks wait in different collectives: "));
}

TEST_F(HangWatchTest, NamesTheOneBehindWhereAllWaitForEachOther) {
  waits(0, 8);
  waits(1, 8);
  waits(2, 7);
  const auto hang = look_for(100);
  ASSERT_TRUE(hang);
  EXPECT_EQ(hang->rank, 2);
  EXPECT_THAT(hang->how, HasSubstr("all ranks wait for each other"));
  EXPECT_THAT(hang->how, HasSubstr("all-reduce 7"));
  EXPECT_THAT(hang->how, HasSubstr("rank 0 waits in all-reduce 8"));
}

TEST_F(HangWatchTest, NamesAStoppedRankThoughItWaits) {
  for (int rank = 0; rank < 3; ++rank) waits(rank, 7);
  stopped[1] = true;
  const auto hang = look_for(100);
  ASSERT_TRUE(hang);
  EXPECT_EQ(hang->rank, 1);
  EXPECT_THAT(hang->how, HasSubstr("is stopped by a signal"));
}

TEST_F(HangWatchTest, AGpuThatDoesNotEndIsNotNamedBeforeOneThatLoops) {
  heartbeats[0].phase = heartbeats[2].phase = Phase::device;
  const auto hang = look_for(100);
  ASSERT_TRUE(hang);
  EXPECT_EQ(hang->rank, 1);
}

TEST_F(HangWatchTest, WhatTookLongBeforeMayTakeThreeTimesAsLong) {
  look_for(50);
  look_for(1, {0, 1, 2});
  EXPECT_FALSE(look_for(100));  // after moves that took 50 s
  const auto hang = look_for(100);
  ASSERT_TRUE(hang);
  EXPECT_THAT(hang->how, HasSubstr("no sign of life for 15"));
}

TEST_F(HangWatchTest, GivesAStartTenTimesAsLong) {
  for (Heartbeat& heartbeat : heartbeats) heartbeat = {.moves = 1, .phase = Phase::starting};
  EXPECT_FALSE(look_for(590));
  EXPECT_TRUE(look_for(30));
}

TEST_F(HangWatchTest, GivesTheFirstStepsOfAStartThreeTimesAsLong) {
  for (Heartbeat& heartbeat : heartbeats) heartbeat.step = 1004;
  EXPECT_FALSE(look_for(175));
  EXPECT_TRUE(look_for(10));
}

TEST_F(HangWatchTest, LeavesRanksThatSayNothingAloneUnlessTheyAreStopped) {
  for (Heartbeat& heartbeat : heartbeats) heartbeat = {};
  EXPECT_FALSE(look_for(1000));
  stopped[2] = true;
  const auto hang = look_for(100);
  ASSERT_TRUE(hang);
  EXPECT_EQ(hang->rank, 2);
  EXPECT_THAT(hang->how,
              HasSubstr("is stopped by a signal: no sign of life for 60 s in an unknown"));
}

TEST_F(HangWatchTest, BelievesNothingOfTheTimeThatItSleptItself) {
  look_for(10);
  now_s += 1000;  // the launcher itself was stopped
  EXPECT_FALSE(look_for(50));
  EXPECT_TRUE(look_for(20));
}

TEST_F(HangWatchTest, WatchesNothingWithoutATime) {
  watch = HangWatch(3, 0);
  EXPECT_FALSE(look_for(1000));
}

TEST_F(HangWatchTest, ForgetsRanksThatHaveEnded) {
  ended[1] = true;
  waits(0, 7);
  waits(2, 7);
  const auto hang = look_for(100);
  ASSERT_TRUE(hang);  // they wait for one that is gone
  EXPECT_NE(hang->rank, 1);
}

}  // namespace
}  // namespace lockstep
