// The time that a quota leaves, by a clock that only the test moves.
#include "training/trainer/stopping/agreed_time.h"

#include "core/base/files/files.h"
#include "fakes/events_of.h"
#include "fakes/fake_clock.h"

#include <gtest/gtest.h>

#include <cmath>

namespace lockstep {
namespace {

class TimeOfOneRank : public ::testing::Test {
 protected:
  TimeOfOneRank() { plan.devices.resize(1); }
  std::size_t left_out() const {
    return testing::events_of(run.events_path(), "evaluation_left_out").size();
  }

  FakeClock clock;
  ProcessGroup group{World{}, cpu_backend()};
  TemporaryDirectory folder;
  RunDir run = RunDir::create(folder.path(), "run", "toy");
  TrainOptions options;
  Plan plan;
  Recorder recorder{run, plan, options, clock};
};

TEST_F(TimeOfOneRank, HasNoLimitWithoutAQuota) {
  const Quota quota(clock, {}, 0);
  TimeAhead ahead(quota, {}, 0, 30, 1);
  ahead.evaluation_took(1e6);
  AgreedTime time(group, quota, ahead, &recorder);
  EXPECT_TRUE(std::isinf(time.evaluation_limit_s(1)));
  EXPECT_TRUE(time.save_fits());
  EXPECT_FALSE(time.is_spent(1e6));
  EXPECT_EQ(left_out(), 0U);
}

TEST_F(TimeOfOneRank, LeavesOutOneEvaluationByAGuessAndAllByAMeasurement) {
  const Quota quota(clock, {.after = {60}}, 0);
  TimeAhead ahead(quota, {.step_s = 9}, 0, /*evaluation_batches=*/30, /*slow_save_s=*/1);
  AgreedTime time(group, quota, ahead, &recorder);
  EXPECT_EQ(time.evaluation_limit_s(1), 0) << "a guess of 90s";
  ahead.step_took(9);
  ahead.step_took(0.5);
  EXPECT_GT(time.evaluation_limit_s(2), 50) << "a guess of 5s: " << ahead.no_evaluation();
  ahead.evaluation_took(80);
  EXPECT_EQ(time.evaluation_limit_s(3), 0);
  EXPECT_EQ(left_out(), 2U);
  for (int i = 0; i < 3; ++i) ahead.evaluation_took(1);
  EXPECT_EQ(time.evaluation_limit_s(4), 0) << "once one did not fit none does";
  EXPECT_EQ(left_out(), 2U);
}

TEST_F(TimeOfOneRank, LeavesOutAllOnceOneWasGivenUp) {
  const Quota quota(clock, {.after = {60}}, 0);
  const TimeAhead ahead(quota, {.step_s = 1, .evaluation_s = 1}, 0, 30, 1);
  AgreedTime time(group, quota, ahead, &recorder);
  EXPECT_GT(time.evaluation_limit_s(1), 0);
  time.evaluation_given_up();
  EXPECT_EQ(time.evaluation_limit_s(2), 0);
}

TEST_F(TimeOfOneRank, IsSpentWhereLessThanAStepIsLeft) {
  const Quota quota(clock, {.after = {60}}, 0);
  const TimeAhead ahead(quota, {.step_s = 1, .save_s = 5}, 0, 30, 1);
  const AgreedTime time(group, quota, ahead, &recorder);
  EXPECT_TRUE(time.save_fits());
  EXPECT_FALSE(time.is_spent(10));
  clock.advance(52);
  EXPECT_TRUE(time.is_spent(10));
  EXPECT_FALSE(time.save_fits()) << "two saves of 5s and a step";
}

}  // namespace
}  // namespace lockstep
