#include "tools/cli/train/go_on.h"

#include <gtest/gtest.h>

#include <memory>

namespace lockstep::cli {
namespace {

struct Options : RecipeOptions {
  Options() { table.add(out_key, out, {.meaning = "folder of outputs"}); }
  std::string out;
};

class GoOnTest : public ::testing::Test {
 protected:
  GoOnTest() {
    setup.train = std::make_unique<TrainOptions>();
    setup.options = std::make_unique<Options>();
  }
  std::string command(const StoppedRun& stopped = {}) const {
    return go_on_with("runs/a", setup, then, stopped).command;
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

TEST_F(GoOnTest, NamesAReserveOfNothingThatWasTyped) {
  train().stop.after = {60};
  train().table.set("stop.reserve", "0s", {.kind = ValueSource::Kind::argument});
  EXPECT_EQ(command(), "lockstep resume runs/a stop.after=1m stop.reserve=0s");
}

TEST_F(GoOnTest, ReplacesPredictionsOutsideTheRunByForce) {
  then.steps = {"predict"};
  then.by_resume_auto = true;
  EXPECT_EQ(command({.predicts = true}), "lockstep resume runs/a --then predict");
  setup.options->table.set(out_key, "masks");
  EXPECT_EQ(command(), "lockstep resume runs/a --then predict") << "none were written";
  EXPECT_EQ(go_on_with("runs/a", setup, then, {.predicts = true}).text(),
            "go on with: lockstep resume runs/a --then predict --force");
  then.force = true;
  EXPECT_EQ(go_on_with("runs/a", setup, then, {.predicts = true}).text(),
            "go on with the same command, or with: lockstep resume runs/a --then predict --force");
}

TEST_F(GoOnTest, RaisesABudgetThatIsSpent) {
  train().stop.budget = {12};
  EXPECT_EQ(command(), "lockstep resume runs/a");
  EXPECT_EQ(command({.spent_s = 11.6}), "lockstep resume runs/a stop.budget=24s");
  EXPECT_EQ(command({.spent_s = 31}), "lockstep resume runs/a stop.budget=48s")
      << "more than is used";
}

TEST_F(GoOnTest, NamesTheSameCommandUnlessItWouldDoNothing) {
  EXPECT_EQ(go_on_with("runs/a", setup, then, {}).text(), "go on with: lockstep resume runs/a");
  then.by_resume_auto = true;
  EXPECT_EQ(go_on_with("runs/a", setup, then, {}).text(),
            "go on with the same command, or with: lockstep resume runs/a");
  train().stop.budget = {12};
  EXPECT_EQ(go_on_with("runs/a", setup, then, {.spent_s = 11.6}).text(),
            "go on with: lockstep resume runs/a stop.budget=24s");
}

}  // namespace
}  // namespace lockstep::cli
