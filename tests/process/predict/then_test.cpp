// lockstep train … --then predict: after the end, after a quota, again, and not after anything
// else.
#include "predict_fixture.h"

#include "fakes/tenths.h"
#include "runtime/run/checkpoint/checkpoint_index.h"
#include "runtime/run/events/events.h"
#include "runtime/run/folder/run_dir.h"

#include <csignal>
#include <thread>

namespace lockstep {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::ToolProcess;
using testing::ToolResult;

class ThenPredict : public Predict {
 protected:
  static void SetUpTestSuite() {
    Predict::SetUpTestSuite();
    write_file_atomic(folder->path() / "ids.txt", "r2\nr4\n");
  }
  static std::vector<std::string> words(const std::string& name,
                                        const std::vector<std::string>& more) {
    std::vector<std::string> all{
        "train",    "found", "--plugin", plugin(),  "--devices",           "cpu:2", "--name", name,
        "--resume", "auto",  "--then",   "predict", "data.path=factor.txt"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  static fs::path outputs(const std::string& name) {
    return folder->path() / "runs" / name / "predictions";
  }
};

// Stopped ten seconds after the command has begun, whatever the start took of them. Its steps rest,
// so that tests beside it need not wait.
const std::vector<std::string> endless{"stop.steps=100000000", "data.pause_ms=30",
                                       "eval.every_steps=20", "stop.after=20s", "stop.reserve=10s"};

TEST_F(ThenPredict, TakesTheItemsThatTheRecipeFindsAndBareKeys) {
  if (!testing::has_turn_twice(4)) GTEST_SKIP() << testing::in_another_tenth;
  const ToolResult trained = tool(words("found", {"stop.steps=3", "scale=2", "seed=7"}));
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_THAT(trained.err, HasSubstr("try next:\n  lockstep runs runs/found\n"));
  EXPECT_THAT(trained.err, HasSubstr("\n  lockstep predict runs/found\n"));
  const auto made = contents(outputs("found"));
  EXPECT_TRUE(made.contains("r2.out"));
  EXPECT_TRUE(made.contains("r4.out"));
  EXPECT_THAT(trained.err, HasSubstr("predicted 2 items into " + outputs("found").string()));
  const nlohmann::json config =
      RunDir::open("found", folder->path() / "runs").record().at("config");
  EXPECT_EQ(config.at("predict.scale"), 2.0);
  EXPECT_EQ(config.at("seed"), 7) << "an option of its own comes before predict.seed";
  EXPECT_EQ(config.at("predict.seed"), 1);

  // All is done: straight to the predictions, which are made anew with what is given now.
  const ToolResult again = tool(words("found", {"stop.steps=3", "scale=4", "seed=7"}));
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("run found has finished"));
  EXPECT_THAT(again.err, Not(HasSubstr("global batch")));
  EXPECT_NE(contents(outputs("found")).at("r2.out"), made.at("r2.out"));
}

TEST_F(ThenPredict, ABareKeyIsRefusedWhereNothingFollows) {
  std::vector<std::string> none{"train",  "found",   "--plugin", plugin(),
                                "--name", "nothing", "scale=2",  "data.path=factor.txt"};
  EXPECT_EQ(tool(none).code, 2);
  const ToolResult near = tool(words("nothing", {"scal=2"}));
  EXPECT_EQ(near.code, 2);
  EXPECT_THAT(near.err, HasSubstr("did you mean scale?"));
  EXPECT_FALSE(fs::exists(folder->path() / "runs/nothing"));
}

TEST_F(ThenPredict, FollowsAQuotaFromTheBestCheckpointWithinIt) {
  const auto begin = std::chrono::steady_clock::now();
  const ToolResult stopped = tool(words("quota", endless));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  ASSERT_EQ(stopped.code, 75) << stopped.err;
  EXPECT_THAT(stopped.err, HasSubstr("training stops 10s before stop.after = 20s is over"));
  EXPECT_THAT(stopped.err, HasSubstr("stop.after = 20s is over but for stop.reserve = 10s"));
  EXPECT_THAT(stopped.err, HasSubstr("predicted 2 items into"));
  EXPECT_THAT(stopped.err,
              HasSubstr("go on with the same command, or with: lockstep resume runs/quota --then "
                        "predict stop.after=20s stop.reserve=10s"));
  EXPECT_TRUE(fs::exists(outputs("quota") / "r4.out"));
  EXPECT_LT(took.count(), 30);
  std::vector<CheckpointInfo> damaged;
  const auto best = best_good(folder->path() / "runs/quota/checkpoints", damaged);
  ASSERT_TRUE(best);
  EXPECT_THAT(stopped.err, HasSubstr("weights of step " + std::to_string(best->step) + "\n"));

  // The same command line goes on, and replaces the run's own predictions.
  const std::string before = read_file(outputs("quota") / "r4.out");
  const ToolResult again = tool(words("quota", endless));
  ASSERT_EQ(again.code, 75) << again.err;
  EXPECT_THAT(again.err, HasSubstr("resumed at step"));
  EXPECT_THAT(again.err, HasSubstr("predicted 2 items into"));
}

TEST_F(ThenPredict, OutputsOutsideTheRunAreReplacedByTheCommandThatGoesOn) {
  if (!testing::has_turn_twice(2)) GTEST_SKIP() << testing::in_another_tenth;
  const ToolResult stopped =
      tool(words("outside", {"stop.steps=100000000", "data.pause_ms=30", "stop.after=11s",
                             "stop.reserve=5s", "out=outside"}));
  ASSERT_EQ(stopped.code, 75) << stopped.err;
  EXPECT_THAT(stopped.err, HasSubstr("go on with: lockstep resume runs/outside --then predict "
                                     "--force stop.after=11s stop.reserve=5s"));
  EXPECT_TRUE(fs::exists(folder->path() / "outside/r4.out"));
  const ToolResult again = tool({"resume", "runs/outside", "--then", "predict", "--force",
                                 "stop.after=11s", "stop.reserve=5s", "--devices", "cpu:2"});
  EXPECT_EQ(again.code, 75) << again.err;
  EXPECT_THAT(again.err, HasSubstr("predicted 2 items into"));
}

TEST_F(ThenPredict, EvaluatesAfterAQuotaOrSaysWhyNot) {
  std::vector<std::string> all = words(
      "both", {"stop.steps=100000000", "data.pause_ms=30", "stop.budget=13s", "stop.reserve=10s"});
  std::replace(all.begin(), all.end(), std::string("predict"), std::string("evaluate,predict"));
  const ToolResult stopped = tool(all);
  ASSERT_EQ(stopped.code, 75) << stopped.err;
  EXPECT_THAT(stopped.err, HasSubstr("--then evaluate is left out: the time is over"));
  EXPECT_THAT(stopped.err, HasSubstr("lockstep evaluate runs/both does it"));
  EXPECT_THAT(stopped.err, HasSubstr("predicted 2 items into"));
}

TEST_F(ThenPredict, RefusesAFolderThatCannotBeMadeBeforeTraining) {
  write_file_atomic(folder->path() / "a-file", "x");
  const ToolResult result = tool(words("never", {"stop.steps=3", "out=a-file/masks"}));
  EXPECT_EQ(result.code, 2) << result.err;
  EXPECT_THAT(result.err, HasSubstr("cannot write into"));
  EXPECT_THAT(result.err, HasSubstr("a-file is no folder"));
  EXPECT_FALSE(fs::exists(folder->path() / "runs/never"));
}

TEST_F(ThenPredict, KeepsEnoughOfTheQuotaByItself) {
  if (!testing::has_turn_twice(0)) GTEST_SKIP() << testing::in_another_tenth;
  const ToolResult stopped =
      tool(words("tenth", {"stop.steps=100000000", "data.pause_ms=30", "stop.budget=16s"}));
  ASSERT_EQ(stopped.code, 75) << stopped.err;
  EXPECT_THAT(stopped.err, HasSubstr("stop.budget = 16s is spent but for "));
  EXPECT_TRUE(fs::exists(outputs("tenth") / "r2.out"));
  // It is spent: the run stops at once, and says what it predicted.
  const ToolResult spent =
      tool(words("tenth", {"stop.steps=100000000", "data.pause_ms=30", "stop.budget=5s"}));
  EXPECT_EQ(spent.code, 75) << spent.err;
  EXPECT_THAT(spent.err, HasSubstr("all 2 items are predicted already, in "));
}

TEST_F(ThenPredict, SmallItemsOfEarlierPredictionsSayNothingOfLargeOnes) {
  if (!testing::has_turn_twice(3)) GTEST_SKIP() << testing::in_another_tenth;
  ASSERT_EQ(tool(words("sizes", {"stop.steps=3"})).code, 0);
  std::vector<std::string> plan = words("sizes2", {"stop.steps=3", "stop.after=1h"});
  plan[0] = "plan";
  EXPECT_THAT(tool(plan).out, HasSubstr("predicting 2 items takes "));
  // 141 bytes, where the mean was 190: the nearest powers of two are 128 and 256.
  write_file_atomic(folder->path() / "ids.txt", "r2\n");
  EXPECT_THAT(tool(plan).out, HasSubstr("predicting 1 item takes "));
  std::string large;
  for (int i = 0; i < 1000; ++i) large += "1 2 3 4 5\n";
  write_file_atomic(folder->path() / "in/large.row", large);
  write_file_atomic(folder->path() / "ids.txt", "large\n");
  const ToolResult other = tool(plan);
  write_file_atomic(folder->path() / "ids.txt", "r2\nr4\n");
  fs::remove(folder->path() / "in/large.row");
  EXPECT_EQ(other.code, 0) << other.err;
  EXPECT_THAT(other.out, HasSubstr("training stops 6m before stop.after = 1h is over"));
  EXPECT_THAT(other.out, Not(HasSubstr("by the last time")));
}

// An item rests 5 s; two ranks have time for one each.
TEST_F(ThenPredict, ItemsThatWouldNotEndInTimeAreNotBegun) {
  std::string slow;
  for (int i = 0; i < 17; ++i) slow += "slow\n";
  for (const char* id : {"s1", "s2", "s3", "s4"})
    write_file_atomic(folder->path() / "in" / (std::string(id) + ".row"), slow + "1 2 3 4 5\n");
  write_file_atomic(folder->path() / "ids.txt", "s1\ns2\ns3\ns4\n");
  const auto begin = std::chrono::steady_clock::now();
  const ToolResult result = tool(words("late", {"stop.steps=3", "stop.after=10s"}));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  write_file_atomic(folder->path() / "ids.txt", "r2\nr4\n");
  for (const char* id : {"s1", "s2", "s3", "s4"})
    fs::remove(folder->path() / "in" / (std::string(id) + ".row"));
  EXPECT_EQ(result.code, 75) << result.err;
  EXPECT_THAT(result.err, HasSubstr("predicted 2 items of 4 into"));
  EXPECT_THAT(result.err, HasSubstr("2 would not have ended before the quota is over"));
  EXPECT_THAT(result.err, HasSubstr("to predict again: lockstep predict runs/late --best"));
  EXPECT_TRUE(fs::exists(outputs("late") / "s2.out"));
  EXPECT_FALSE(fs::exists(outputs("late") / "s3.out"));
  EXPECT_LT(took.count(), 20);
}

TEST_F(ThenPredict, RefusesAReserveThatLeavesNoTimeOrHasNoQuota) {
  const auto refuses = [&](const std::vector<std::string>& more, const std::string& what) {
    const ToolResult result = tool(words("never", more));
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_THAT(result.err, HasSubstr(what));
    EXPECT_FALSE(fs::exists(folder->path() / "runs/never"));
  };
  refuses({"stop.steps=3", "stop.after=1h", "stop.reserve=1h"},
          "stop.reserve = 1h leaves no time to train of 1h");
  refuses({"stop.steps=3", "stop.reserve=1h"}, "neither is set");
}

TEST_F(ThenPredict, NothingFollowsAnInterrupt) {
  std::vector<std::string> all = words("ctrl", {"stop.steps=100000000"});
  all.insert(all.begin(), testing::program("lockstep"));
  ToolProcess process(all, folder->path());
  // Its own steps: what it says goes to a file that an earlier command has written to.
  const fs::path events = folder->path() / "runs/ctrl/events.jsonl";
  while (!fs::exists(events) || read_file(events).find("\"kind\":\"step\"") == std::string::npos)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  kill(process.pid(), SIGINT);
  const ToolResult result = process.wait();
  EXPECT_EQ(result.code, 75) << result.err;
  EXPECT_THAT(result.err, Not(HasSubstr("predicted")));
  EXPECT_FALSE(fs::exists(outputs("ctrl")));
}

TEST_F(ThenPredict, AMissingIdOrAnOutputThatIsThereIsAnErrorBeforeAnyWork) {
  write_file_atomic(folder->path() / "ids.txt", "r2\nr77\n");
  const ToolResult missing = tool(words("early", {"stop.steps=3"}));
  write_file_atomic(folder->path() / "ids.txt", "r2\nr4\n");
  EXPECT_EQ(missing.code, 2) << missing.err;
  EXPECT_THAT(missing.err, HasSubstr("there is no file of the id r77"));
  EXPECT_FALSE(fs::exists(folder->path() / "runs/early"));

  fs::create_directories(folder->path() / "there");
  write_file_atomic(folder->path() / "there/r4.out", "mine");
  const ToolResult there = tool(words("early", {"stop.steps=3", "out=there"}));
  EXPECT_EQ(there.code, 2) << there.err;
  EXPECT_THAT(there.err, HasSubstr("there/r4.out is there already"));
  EXPECT_FALSE(fs::exists(folder->path() / "runs/early"));
  const ToolResult also = tool(words("early", {"stop.steps=3", "also=a"}));
  EXPECT_EQ(also.code, 2) << also.err;
  EXPECT_THAT(also.err, HasSubstr("the recipe found cannot average"));
  EXPECT_FALSE(fs::exists(folder->path() / "runs/early"));
  const ToolResult forced = tool(words("early", {"stop.steps=3", "out=there", "--force"}));
  EXPECT_EQ(forced.code, 0) << forced.err;
  EXPECT_NE(read_file(folder->path() / "there/r4.out"), "mine");
}

TEST_F(ThenPredict, APredictionThatFailsSaysThatTheRunIsTrained) {
  if (!testing::has_turn_twice(3)) GTEST_SKIP() << testing::in_another_tenth;
  write_file_atomic(folder->path() / "in/broken.row", "1 2 3\n");
  write_file_atomic(folder->path() / "ids.txt", "r2\nbroken\n");
  const ToolResult result = tool(words("fails", {"stop.steps=3", "scale=2"}));
  const ToolResult quota = tool(words("fails2", endless));
  write_file_atomic(folder->path() / "ids.txt", "r2\nr4\n");
  EXPECT_EQ(result.code, 1) << result.err;
  EXPECT_THAT(result.err, HasSubstr("skipped broken"));
  EXPECT_THAT(result.err, HasSubstr("the run itself is trained"));
  EXPECT_THAT(result.err, HasSubstr("lockstep predict runs/fails --best predict.scale=2"));
  EXPECT_EQ(RunDir::open("fails", folder->path() / "runs").state(), RunState::finished);
  EXPECT_EQ(quota.code, 1) << quota.err;
  EXPECT_THAT(quota.err,
              HasSubstr("to go on: lockstep resume runs/fails2 --then predict stop.after"));
  EXPECT_EQ(RunDir::open("fails2", folder->path() / "runs").state(), RunState::stopped);
}

TEST_F(ThenPredict, ATextIsStreamedAfterAQuotaToo) {
  testing::write_corpus(folder->path() / "corpus.txt", 40'000);
  std::vector<std::string> all{"train",
                               "textgen",
                               "--devices",
                               "cpu:1",
                               "--then",
                               "predict",
                               "--name",
                               "text",
                               "tokens=5",
                               "prompt=The",
                               "stop.steps=10000000",
                               "stop.after=3s"};
  for (const std::string& option : testing::tiny(folder->path() / "corpus.txt"))
    all.push_back(option);
  const ToolResult result = tool(all);
  EXPECT_EQ(result.code, 75) << result.err;
  EXPECT_THAT(result.out, ::testing::StartsWith("The"));
  EXPECT_THAT(result.err, Not(HasSubstr("stop.reserve"))) << "a text needs none";
}

}  // namespace
}  // namespace lockstep
