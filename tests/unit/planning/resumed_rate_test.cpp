// A learning rate that jumps where a run goes on is said, with the rates and the way to avoid it.
#include "planning/schedule/resumed_rate.h"

#include "plan_fixtures.h"
#include "planning/options/schedule_options.h"

#include <gtest/gtest.h>

#include <utility>

namespace lockstep {
namespace {

class ResumedRate : public ::testing::Test {
 protected:
  ResumedRate() {
    options.precision = Precision::fp32;
    options.optimizer.lr = 0.003;
    options.schedule.min_lr = 3e-4;
    options.schedule.warmup = 20;
  }
  Plan plan_of(std::int64_t steps) {
    options.stop.steps = steps;
    return make_plan(options, text_facts(), {}, gpus(1));
  }

  TrainOptions options;
};

TEST_F(ResumedRate, AFinishedRunThatIsExtendedJumps) {
  const Plan before = plan_of(300), now = plan_of(600);
  const std::string note = resumed_rate_note(before, now, options, 300);
  EXPECT_TRUE(contains(note, "the learning rate jumps from 0.0003001 in step 300 to 0.0017"))
      << note;
  EXPECT_TRUE(contains(note,
                       "in step 301: cosine reached its value for step 300 of 300, and now "
                       "ends at step 600"))
      << note;
  EXPECT_TRUE(contains(note,
                       "; to go on at 0.0003001: schedule.kind=constant schedule.warmup=0 "
                       "optimizer.lr=0.0003001"))
      << note;
}

TEST_F(ResumedRate, ARunThatHasNoStepLeftSaysNothing) {
  options.schedule.warmup = 300;  // its last step is the top of the warm-up
  const Plan plan = plan_of(300);
  EXPECT_EQ(resumed_rate_note(plan, plan, options, 300), "");
}

// Their ratio to optimizer.lr would change.
TEST_F(ResumedRate, ProposesNothingWhereGroupsHaveRatesThatTheOptionMoves) {
  for (const auto& [group, proposes] :
       {std::pair{"a: lr=1e-4", false}, std::pair{"a: schedule=constant", false},
        std::pair{"a: lr=1e-4 schedule=constant", true}, std::pair{"a: lr_factor=0.1", true}}) {
    options.optimizer.groups = {group};
    const std::string note = resumed_rate_note(plan_of(300), plan_of(600), options, 300);
    EXPECT_TRUE(contains(note, "the learning rate jumps")) << note;
    EXPECT_EQ(contains(note, "optimizer.lr="), proposes) << note;
  }
}

TEST_F(ResumedRate, WhatItProposesKeepsTheRate) {
  const Plan before = plan_of(300);
  options.schedule.kind = "constant";
  options.schedule.warmup = 0;
  options.optimizer.lr = 0.0003001;
  EXPECT_EQ(resumed_rate_note(before, plan_of(600), options, 300), "");
}

TEST_F(ResumedRate, ProposesTheOptionInFrontOfScaleLr) {
  options.optimizer.scale_lr = ScaleLr::linear;
  options.optimizer.base_batch = 16;  // the batch is 64: times 4
  options.schedule.kind = "linear";
  const Plan before = plan_of(300), now = plan_of(600);
  const std::string note = resumed_rate_note(before, now, options, 300);
  EXPECT_TRUE(contains(note, "jumps from 0.0003418")) << note;
  EXPECT_TRUE(contains(note, "optimizer.lr=8.54")) << note;
}

TEST_F(ResumedRate, ARunThatGoesOnAsItWasSaysNothing) {
  const Plan plan = plan_of(300);
  for (std::int64_t step = 0; step < 300; ++step)
    EXPECT_EQ(resumed_rate_note(plan, plan, options, step), "") << step;
  options.schedule.kind = "step";  // which jumps by itself
  options.schedule.parameters["every"] = 10;
  const Plan steps = plan_of(300);
  for (std::int64_t step = 0; step < 300; ++step)
    EXPECT_EQ(resumed_rate_note(steps, steps, options, step), "") << step;
}

TEST_F(ResumedRate, OneCycleGoesOnInTheMiddleOfItsRiseAndFall) {
  options.schedule.kind = "one_cycle";
  const Plan plan = plan_of(300);
  for (std::int64_t step = 0; step < 300; ++step)
    EXPECT_EQ(resumed_rate_note(plan, plan, options, step), "") << step;
  EXPECT_TRUE(
      contains(resumed_rate_note(plan, plan_of(600), options, 200),
               "one_cycle reached its value for step 200 of 300, and now ends at step 600"));
}

TEST_F(ResumedRate, AnotherRateIsSaidWithoutBlamingTheLength) {
  const Plan before = plan_of(300);
  options.optimizer.lr = 0.03;
  const std::string note = resumed_rate_note(before, plan_of(300), options, 100);
  EXPECT_TRUE(contains(note, "the learning rate jumps from")) << note;
  EXPECT_FALSE(contains(note, "now ends at")) << note;
}

}  // namespace
}  // namespace lockstep
