// What the events of steps say of time, against a clock that only the test moves.
#include "training/trainer/output/recorder.h"

#include "core/base/files/files.h"
#include "fakes/events_of.h"
#include "fakes/fake_clock.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

class RecordedSteps : public ::testing::Test {
 protected:
  RecordedSteps() {
    plan.total_steps = 60;
    plan.units_per_step = 32;
    plan.compute = {.flops_per_step = 1e12, .peak_flops = 2e13, .mfu_unknown = ""};
    plan.devices.resize(1);
    recorder = std::make_unique<Recorder>(run, plan, options, clock);
    recorder->started(0, 0, "");
  }

  // The step's result comes after `seconds`, of which data_s went by waiting for data.
  void step(double seconds, double data_s = 0) {
    clock.advance(seconds);
    StepResult result;
    result.step = ++steps;
    result.ranks.resize(1);
    recorder->step(result, {.data_s = data_s}, 0.1);
  }
  std::vector<nlohmann::json> events(const std::string& kind) const {
    return testing::events_of(run.events_path(), kind);
  }

  TemporaryDirectory folder;
  FakeClock clock;
  TrainOptions options;
  Plan plan;
  RunDir run = RunDir::create(folder.path(), "run", "toy");
  std::unique_ptr<Recorder> recorder;
  std::int64_t steps = 0;
};

TEST_F(RecordedSteps, BeginWithWhatTheStartComputesIn) {
  plan.precision.type = Precision::bf16;
  recorder->started(7, 0, "");
  EXPECT_EQ(events("start").back().at("precision"), "bf16");
}

// The last step of a run waits for no data any more, and others come in bursts: what the last event
// says of speed must be what the run's own sum says.
TEST_F(RecordedSteps, EndWithTheRateOfTheWholeRun) {
  step(5);
  for (int i = 2; i < 60; ++i) step(i % 4 == 0 ? 0.641 : 0.001, i % 4 == 0 ? 0.64 : 0);
  step(0.001);
  recorder->ended(60, {}, {});
  const nlohmann::json last = events("step").back(), end = events("end").at(0);
  EXPECT_NEAR(end.at("units_per_s"), 32 * 59 / (14 * 0.64 + 59 * 0.001), 1e-6);
  EXPECT_NEAR(last.at("units_per_s").get<double>(), end.at("units_per_s").get<double>(), 1e-6);
  EXPECT_NEAR(last.at("mfu").get<double>(), end.at("mfu").get<double>(), 1e-9);
  EXPECT_NEAR(last.at("step_s"), 0.001, 1e-9);  // this one step's own
}

// Nine samples in batches of eight: every second step trains one, and seven places are padding.
TEST_F(RecordedSteps, HaveTheRateOfTheirSamplesWithoutPadding) {
  plan.batch.global = 8;
  plan.units_per_step = 8;
  plan.epoch_size = 9;
  plan.steps_per_epoch = 2;
  step(5);
  for (int i = 0; i < 20; ++i) step(1);
  recorder->ended(21, {}, {});
  for (const nlohmann::json& event : {events("step").back(), events("end").at(0)}) {
    EXPECT_NEAR(event.at("units_per_s"), 90.0 / 20, 1e-9);
    EXPECT_NEAR(event.at("mfu"), 1e12 / 2e13 * 90 / 160, 1e-9);
  }
  EXPECT_NEAR(events("step").back().at("step_s"), 1, 1e-9);
}

TEST_F(RecordedSteps, AreAllFullWhereTheLastOfAnEpochIsDropped) {
  plan.batch.global = 8;
  plan.units_per_step = 8;
  plan.epoch_size = 9;
  plan.steps_per_epoch = 1;
  for (int i = 0; i < 5; ++i) step(1);
  EXPECT_NEAR(events("step").back().at("units_per_s"), 8, 1e-9);
}

// The host reads a result late, and the next one at once.
TEST_F(RecordedSteps, AreNotFasterWhereTheHostReadsThemLate) {
  step(1);
  for (int i = 0; i < 10; ++i) {
    step(0.19);
    step(0.01);
    const nlohmann::json event = events("step").back();
    EXPECT_NEAR(event.at("units_per_s"), 320, 1) << i;
    EXPECT_NEAR(event.at("mfu"), 0.5, 1e-2) << i;
  }
}

TEST_F(RecordedSteps, WaitInTheTimeInWhichTheyWaited) {
  step(1);
  step(0.5, 0.45);
  step(0.05, 0);
  const std::vector<nlohmann::json> all = events("step");
  EXPECT_NEAR(all.at(1).at("data_share"), 0.9, 1e-9);
  EXPECT_NEAR(all.at(1).at("compute_share"), 0.1, 1e-9);
  EXPECT_EQ(all.at(2).at("data_share"), 0);
}

}  // namespace
}  // namespace lockstep
