// When what is due, by a clock that only the test moves.
#include "training/trainer/stopping/due.h"

#include "fakes/fake_clock.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

StepResult result_of(std::int64_t step) {
  StepResult result;
  result.step = step;
  return result;
}

class Saves : public ::testing::Test {
 protected:
  bool asks(int rank = 0) const {
    RankReport report;
    schedule.ask(report, rank);
    return report.save > 0;
  }
  FakeClock clock;
  TrainOptions options;
  SaveSchedule schedule{options, clock, /*steps_per_epoch=*/4};
};

TEST_F(Saves, AreDueEverySoManyStepsAndOnceEach) {
  options.checkpoint.every_steps = 5;
  schedule.start(-1);
  EXPECT_FALSE(schedule.due(4));
  EXPECT_TRUE(schedule.due(5));
  schedule.saved(5);
  EXPECT_FALSE(schedule.due(5));
  EXPECT_TRUE(schedule.due(10));
}

TEST_F(Saves, AreDueEverySoManyEpochs) {
  options.checkpoint.every_epochs = 0.5;
  schedule.start(-1);
  EXPECT_FALSE(schedule.due(1));
  EXPECT_TRUE(schedule.due(2));
  EXPECT_FALSE(schedule.due(3));
  EXPECT_TRUE(schedule.due(4));
}

TEST_F(Saves, AreAskedForByTheClockOfRank0Alone) {
  options.checkpoint.every_steps = 0;
  options.checkpoint.every.seconds = 60;
  schedule.start(-1);
  EXPECT_FALSE(asks());
  clock.advance(61);
  EXPECT_TRUE(asks());
  EXPECT_FALSE(asks(1));
}

TEST_F(Saves, FollowWhatAllRanksHeardAndForgetWhatWasFulfilled) {
  options.checkpoint.every_steps = 0;
  schedule.start(-1);
  StepResult result = result_of(3);
  result.save = 1;
  schedule.hear(result);
  EXPECT_TRUE(schedule.due(4));
  schedule.saved(4);
  EXPECT_FALSE(schedule.due(5));
  // Of step 4, which was under way when the checkpoint was made.
  result.step = 4;
  schedule.hear(result);
  EXPECT_FALSE(schedule.due(5));
}

TEST_F(Saves, CountFromTheCheckpointThatTheRunGoesOnFrom) {
  options.checkpoint.every_steps = 5;
  schedule.start(10);
  EXPECT_EQ(schedule.saved_step(), 10);
  EXPECT_FALSE(schedule.due(10));
}

TEST(Stop, IsWhatAllRanksHeard) {
  FakeClock clock;
  const Quota quota(clock, {.after = {60}}, 0);
  StopDecision decision(quota);
  RankReport report;
  decision.ask(report, 0);
  EXPECT_EQ(report.stop_quota, 0);
  clock.advance(61);
  decision.ask(report, 1);
  EXPECT_EQ(report.stop_quota, 0);  // rank 0's clock counts
  decision.ask(report, 0);
  EXPECT_EQ(report.stop_quota, 1);
  EXPECT_FALSE(decision.stops());  // not before all have heard of it
  StepResult result = result_of(1);
  decision.hear(result);
  EXPECT_FALSE(decision.stops());
  result.stop_quota = 1;
  decision.hear(result);
  EXPECT_TRUE(decision.stops());
  EXPECT_TRUE(decision.is_by_quota());
  EXPECT_EQ(decision.reason(), "stop.after = 1m is over");
  result.stop_signal = 1;  // too late to be the reason
  decision.hear(result);
  EXPECT_EQ(decision.reason(), "stop.after = 1m is over");
}

TEST(Stop, KeepsTheReserveOfEitherQuota) {
  FakeClock clock;
  const Quota after(clock, {.after = {600}, .reserve = {60}}, 0);
  const Quota budget(clock, {.after = {600}, .budget = {900}, .reserve = {60}}, 500);
  const Quota spent(clock, {.budget = {900}, .reserve = {60}}, 850);
  EXPECT_EQ(after.allowed_s(), 540);
  EXPECT_EQ(budget.allowed_s(), 340);
  EXPECT_TRUE((clock.advance(1e-6), spent.over()));
  EXPECT_FALSE(after.over());
  clock.advance(540);
  EXPECT_TRUE(after.over());
  EXPECT_EQ(after.reason(), "stop.after = 10m is over but for stop.reserve = 1m");
  EXPECT_EQ(budget.reason(), "stop.budget = 15m is spent but for stop.reserve = 1m");
}

TEST(Stop, ComesBeforeAStepThatWouldNotEndInTime) {
  FakeClock clock;
  const Quota quota(clock, {.after = {60}}, 0);
  const StopDecision decision(quota);
  const auto asks = [&](double more_s) {
    RankReport report;
    decision.ask(report, 0, more_s);
    return report.stop_quota > 0;
  };
  clock.advance(50);
  EXPECT_EQ(quota.left_s(), 10);
  EXPECT_FALSE(asks(10));
  EXPECT_TRUE(asks(10.5));
}

TEST(Stop, KeepsMoreForPredictionsButHalfOfTheTimeAtMost) {
  FakeClock clock;
  Quota quota(clock, {.after = {600}, .reserve = {60}}, 0);
  EXPECT_FALSE(quota.keep_for_predictions(50)) << "no less than before";
  EXPECT_TRUE(quota.keep_for_predictions(120));
  EXPECT_EQ(quota.allowed_s(), 480);
  EXPECT_EQ(quota.left_in_all_s(), 600);
  EXPECT_EQ(quota.reason(), "stop.after = 10m is over but for 2m that predictions need");
  EXPECT_TRUE(quota.keep_for_predictions(5000));
  EXPECT_EQ(quota.allowed_s(), 300);
  Quota none(clock, {}, 0);
  EXPECT_FALSE(none.keep_for_predictions(5));
  EXPECT_FALSE(none.over(1e9));
}

TEST(Stop, TheTimeBeforeTheFirstStepIsOfThisStartAndOfNoBudget) {
  FakeClock clock;
  const Quota after(clock, {.after = {600}}, 100, /*begun_s=*/50);
  const Quota budget(clock, {.budget = {600}}, 100, /*begun_s=*/50);
  EXPECT_EQ(after.allowed_s(), 550);
  EXPECT_EQ(budget.allowed_s(), 500);
  clock.advance(7);
  EXPECT_EQ(budget.elapsed_s(), 107);
}

TEST(Stop, NamesASignalToAnotherRank) {
  FakeClock clock;
  const Quota quota(clock, {}, 0);
  StopDecision decision(quota);
  StepResult result = result_of(1);
  result.stop_signal = 1;
  decision.hear(result);
  EXPECT_EQ(decision.reason(), "a signal to another rank");
  EXPECT_FALSE(decision.is_by_quota());
}

TEST(Stop, AnEarlyFinishIsNoStopAfterOne) {
  FakeClock clock;
  const Quota quota(clock, {}, 0);
  StopDecision early(quota), late(quota);
  early.finish_early("no better loss");
  EXPECT_TRUE(early.stops());
  EXPECT_TRUE(early.is_early_finish());
  EXPECT_EQ(early.reason(), "no better loss");
  StepResult result = result_of(1);
  result.stop_signal = 1;
  late.hear(result);
  late.finish_early("no better loss");  // too late
  EXPECT_FALSE(late.is_early_finish());
}

TEST(Due, NeverIsZero) {
  EXPECT_FALSE(is_due(0, 0));
  EXPECT_FALSE(is_due(3, 4));
  EXPECT_TRUE(is_due(3, 6));
}

}  // namespace
}  // namespace lockstep
