// What is foreseen of evaluations, by a clock that only the test moves.
#include "training/trainer/stopping/time_ahead.h"

#include "fakes/fake_clock.h"
#include "training/trainer/stopping/expected_end.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

TEST(Ahead, AnEvaluationIsAGuessUntilOneWasMeasuredOrIsRemembered) {
  FakeClock clock;
  const Quota quota(clock, {.after = {60}}, 0);
  TimeAhead ahead(quota, {}, /*ahead=*/0, /*evaluation_batches=*/30, /*slow_save_s=*/1);
  ahead.step_took(9);
  EXPECT_NE(ahead.no_evaluation(), "") << "90s by the first step, which loads kernels";
  EXPECT_FALSE(ahead.knows_evaluations());
  ahead.step_took(0.5);
  EXPECT_EQ(ahead.no_evaluation(), "");
  ahead.evaluation_took(80);
  EXPECT_NE(ahead.no_evaluation(), "");
  EXPECT_TRUE(ahead.knows_evaluations());
  const TimeAhead remembers(quota, {.evaluation_s = 4}, 0, 30, 1);
  EXPECT_TRUE(remembers.knows_evaluations());
}

TEST(ExpectedEnd, GoesByTheBatchesAfterTheFirst) {
  FakeClock clock;
  ExpectedEnd end(clock);
  clock.advance(10);
  end.update(0.25);
  EXPECT_DOUBLE_EQ(end.expected_s(), 10);
  clock.advance(1);
  end.update(0.5);
  EXPECT_DOUBLE_EQ(end.expected_s(), 13);
  EXPECT_DOUBLE_EQ(end.gone_s(), 11);
}

TEST(ExpectedEnd, BeginsAnewWithTheEvaluation) {
  FakeClock clock;
  ExpectedEnd end(clock);
  for (const double done : {0.5, 0.5, 0.25, 0.5}) {  // in smaller batches, after memory ran out
    clock.advance(2);
    end.update(done);
    EXPECT_LE(end.expected_s(), 12) << done;
    EXPECT_GE(end.expected_s(), end.gone_s()) << done;
  }
  EXPECT_DOUBLE_EQ(end.expected_s(), 12) << "8s are gone, and two quarters of 2s are left";
}

}  // namespace
}  // namespace lockstep
