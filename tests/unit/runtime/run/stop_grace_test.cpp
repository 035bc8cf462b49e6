#include "runtime/run/stop_grace.h"

#include <gtest/gtest.h>

#include "run_fixtures.h"
#include "runtime/run/events/events.h"

namespace lockstep {
namespace {

TEST(StopGraceTest, IsAMinuteForARunThatSavesInNoTime) {
  StopGrace grace(0, 1e6);
  EXPECT_EQ(grace.seconds(), 60);
  grace.on_event({{"kind", "checkpoint"}, {"seconds", 0.1}});
  grace.on_event({{"kind", "step"}, {"step_s", 0.2}});
  EXPECT_EQ(grace.seconds(), 60);
}

TEST(StopGraceTest, IsSeveralTimesTheLongestOfWhatAStopWaitsFor) {
  StopGrace grace(0, 1e6);
  for (const double seconds : {100.0, 300.0, 200.0})
    grace.on_event({{"kind", "checkpoint"}, {"seconds", seconds}});
  EXPECT_EQ(grace.seconds(), 5 * 300);
  grace.on_event({{"kind", "eval"}, {"seconds", 60}});
  grace.on_event({{"kind", "step"}, {"step_s", 7}});
  EXPECT_EQ(grace.seconds(), 5 * (300 + 60 + 7));
}

TEST(StopGraceTest, AllowsForTheSizeOfASaveThatWasNeverSeen) {
  StopGrace grace(0, 100e9);  // of a model of 6 billion parameters
  EXPECT_EQ(grace.seconds(), 2000);
  grace.on_event({{"kind", "checkpoint"}, {"seconds", 20}});
  EXPECT_EQ(grace.seconds(), 100) << "now it was";
}

TEST(StopGraceTest, IsWhatWasGiven) {
  StopGrace grace(5, 100e9);
  grace.on_event({{"kind", "checkpoint"}, {"seconds", 300}});
  EXPECT_EQ(grace.seconds(), 5);
}

TEST(StopGraceTest, LearnsFromEarlierStarts) {
  const TemporaryDirectory folder;
  const RunDir run = RunDir::create(folder.path(), "a", "toy");
  EventWriter events(run.events_path());
  events.write({{"kind", "step"}, {"step", 1}, {"step_s", 1000}});  // of other hardware, perhaps
  events.write({{"kind", "checkpoint"}, {"step", 1}, {"seconds", 40}});
  events.write({{"kind", "eval"}, {"step", 1}, {"seconds", 10}, {"metrics", {{"loss", 1}}}});
  StopGrace grace(0, 1e6);
  grace.learn_from(run);
  EXPECT_EQ(grace.seconds(), 250);
}

}  // namespace
}  // namespace lockstep
