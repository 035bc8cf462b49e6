#include "tools/cli/train/go_on.h"

#include <gtest/gtest.h>

#include <memory>

namespace lockstep::cli {
namespace {

class GoOnTest : public ::testing::Test {
 protected:
  GoOnTest() { setup.train = std::make_unique<TrainOptions>(); }
  std::string command(double spent_s = 0) const {
    return go_on_with("runs/a", setup, then, spent_s).command;
  }
  TrainOptions& train() { return *setup.train; }
  RunSetup setup;
  Then then;
};

TEST_F(GoOnTest, NamesWhatAResumeForgets) {
  EXPECT_EQ(command(), "lockstep resume runs/a");
  then.steps = {"evaluate", "predict"};
  train().stop.after = {8.5 * 3600};
  EXPECT_EQ(command(), "lockstep resume runs/a --then evaluate,predict stop.after=8h30m");
  train().stop.reserve = {60};
  EXPECT_EQ(command(), "lockstep resume runs/a --then evaluate,predict stop.after=8h30m")
      << "a reserve that nobody typed is found again";
  train().table.set("stop.reserve", "1m", {.kind = ValueSource::Kind::argument});
  then.force = true;
  EXPECT_EQ(command(),
            "lockstep resume runs/a --then evaluate,predict --force stop.after=8h30m "
            "stop.reserve=1m");
}

TEST_F(GoOnTest, RaisesABudgetThatIsSpent) {
  train().stop.budget = {12};
  EXPECT_EQ(command(), "lockstep resume runs/a");
  EXPECT_EQ(command(11.6), "lockstep resume runs/a stop.budget=24s");
  EXPECT_EQ(command(31), "lockstep resume runs/a stop.budget=48s") << "more than is used";
}

TEST_F(GoOnTest, NamesTheSameCommandUnlessItWouldDoNothing) {
  EXPECT_EQ(go_on_with("runs/a", setup, then, 0).text(), "go on with: lockstep resume runs/a");
  then.by_resume_auto = true;
  EXPECT_EQ(go_on_with("runs/a", setup, then, 0).text(),
            "go on with the same command, or with: lockstep resume runs/a");
  train().stop.budget = {12};
  EXPECT_EQ(go_on_with("runs/a", setup, then, 11.6).text(),
            "go on with: lockstep resume runs/a stop.budget=24s");
}

}  // namespace
}  // namespace lockstep::cli
