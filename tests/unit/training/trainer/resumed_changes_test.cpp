// Changes of the micro-batch that were asked for, in a run that begins and in one that resumes.
#include "core/base/files/files.h"
#include "fakes/events_of.h"
#include "fakes/fake_clock.h"
#include "fakes/toy_recipe.h"
#include "planning/batch/micro_batch.h"
#include "training/trainer/trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

namespace lockstep {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr std::int64_t train_samples = 40, valid_samples = 12, global = 4;

class ResumedChanges : public ::testing::Test {
 protected:
  ResumedChanges() {
    options.precision = Precision::fp32;
    options.data.threads = 0;
    plan.batch = {.world_size = 1, .micro = global, .accumulation = 1, .global = global};
    plan.devices.resize(1);
    plan.train_samples = train_samples;
    plan.valid_samples = valid_samples;
    plan.steps_per_epoch = train_samples / global;
    plan.schedule.base_lr = 0.01;
  }
  void begin(std::int64_t until, const std::string& changes) { train(until, changes, false); }
  // As `resume` plans it: with this micro-batch.
  void go_on(std::int64_t until, const std::string& changes, std::int64_t micro) {
    plan.batch = with_micro(plan.batch, micro);
    train(until, changes, true);
  }
  // After how many steps which micro-batch came.
  std::vector<std::pair<std::int64_t, std::int64_t>> changes() const {
    std::vector<std::pair<std::int64_t, std::int64_t>> all;
    for (const nlohmann::json& event : testing::events_of(run.events_path(), "micro"))
      all.emplace_back(event.at("step"), event.at("micro"));
    return all;
  }

 private:
  void train(std::int64_t until, const std::string& changes, bool resume) {
    options.batch.micro_changes = changes;
    plan.total_steps = until;
    EXPECT_EQ(lockstep::train({.options = options,
                               .plan = plan,
                               .recipe = recipe,
                               .group = group,
                               .backend = cpu_backend(),
                               .run = run,
                               .clock = clock,
                               .resume = resume}),
              TrainEnd::finished);
  }

  TemporaryDirectory folder;
  FakeClock clock;
  TrainOptions options;
  Plan plan;
  testing::ToyRecipe recipe{train_samples, valid_samples};
  ProcessGroup group{World{}, cpu_backend()};
  RunDir run = RunDir::create(folder.path(), "run", "toy");
};

TEST_F(ResumedChanges, ActAfterTheirStepsInARunThatBegins) {
  begin(4, "0:2,3:1");
  EXPECT_THAT(changes(), ElementsAre(Pair(0, 2), Pair(3, 1)));
}

TEST_F(ResumedChanges, ThatAreBehindTheCheckpointAreSkipped) {
  begin(4, "2:2,4:4");
  EXPECT_THAT(changes(), ElementsAre(Pair(2, 2)));
  go_on(6, "2:2,4:4", 1);
  EXPECT_THAT(changes(), ElementsAre(Pair(2, 2))) << "memory left 1";
}

TEST_F(ResumedChanges, ThatAreStillToComeAct) {
  begin(4, "");
  EXPECT_THAT(changes(), IsEmpty());
  go_on(6, "2:4,5:2", 4);
  EXPECT_THAT(changes(), ElementsAre(Pair(5, 2)));
}

}  // namespace
}  // namespace lockstep
