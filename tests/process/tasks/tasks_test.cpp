// Models of other kinds than text, by the command line: the same curve on any number of ranks, with
// whatever a model may have.
#include "fakes/task_runs.h"
#include "fakes/tenths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>

namespace lockstep {
namespace {

using testing::run_tool;
using testing::ToolProcess;
using testing::ToolResult;
using testing::operator+;
using Words = std::vector<std::string>;
using ::testing::HasSubstr;
using ::testing::Not;
using Tasks = testing::TaskRuns;

std::string cpu(int ranks) { return "cpu:" + std::to_string(ranks); }

const Words fp32{"precision=fp32"};

TEST_F(Tasks, RaggedRowsWithBatchNormOverRanksHaveOneCurveOnAnyNumber) {
  if (!testing::has_turn_twice(0)) GTEST_SKIP() << testing::in_another_tenth;
  const Words options = of_sync + Words{"stop.steps=8"};
  ASSERT_EQ(train("ragged", "on1", cpu(1), options).code, 0);
  for (const int ranks : {2, 3, 4}) {
    const std::string name = "on" + std::to_string(ranks);
    const ToolResult result = train("ragged", name, cpu(ranks), options);
    ASSERT_EQ(result.code, 0) << result.err;
    EXPECT_THAT(result.err, HasSubstr("statistics of batch norm span norm.rows = 12 rows"));
    expect_same_curve(name, "on1");
    EXPECT_EQ(steps(name).at(8).at("logged"), steps("on1").at(8).at("logged"));
  }
}

TEST_F(Tasks, TheEndOfATrainingOffersNoPredictionWhereTheRecipeHasNone) {
  const ToolResult result = train("ragged", "a", cpu(1), of_sync + Words{"stop.steps=2"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("try next:\n  lockstep runs runs/a\n"));
  EXPECT_THAT(result.err, Not(HasSubstr("lockstep predict")));
}

TEST_F(Tasks, TheRowsOfStatisticsAreRecordedAndAskedForAgain) {
  if (!testing::has_turn_twice(1)) GTEST_SKIP() << testing::in_another_tenth;
  Words open = of_sync;
  open[1] = "batch.micro=6";  // on 2 ranks: 12 rows
  ASSERT_EQ(train("ragged", "whole", cpu(2), open + Words{"stop.steps=8"}).code, 0);
  ASSERT_EQ(train("ragged", "part", cpu(2), open + Words{"stop.steps=3"}).code, 0);
  const auto resume = [&](int ranks, const Words& more) {
    return run_tool(Words{"resume", "part", "--devices", cpu(ranks), "stop.steps=8"} + more,
                    folder.path());
  };
  const ToolResult refused = resume(8, {});
  EXPECT_NE(refused.code, 0);
  EXPECT_THAT(refused.err, HasSubstr("norm.rows 12 does not divide into 8 CPU ranks"));
  EXPECT_THAT(refused.err, HasSubstr("8 or 16"));
  EXPECT_THAT(resume(2, {"norm.rows=8"}).err, HasSubstr("norm.rows cannot change"));
  const ToolResult resumed = resume(4, {});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  expect_same_curve("part", "whole");
}

TEST_F(Tasks, AreTheSameAfterAKillOnAnotherNumberOfRanks) {
  const Words options = of_sync + Words{"stop.steps=60"};
  ASSERT_EQ(train("ragged", "whole", cpu(1), options).code, 0);
  ToolProcess process(
      Words{testing::program("lockstep")} +
          train_words("ragged", "killed", cpu(3), options + Words{"checkpoint.every_steps=5"}),
      folder.path());
  const auto checkpoint = run("killed") / "checkpoints/step-000000010";
  for (int i = 0; i < 600 && !std::filesystem::exists(checkpoint); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  for (const pid_t rank : testing::ranks_of(process.pid())) kill(rank, SIGKILL);
  kill(process.pid(), SIGKILL);
  process.wait();
  const ToolResult resumed = run_tool({"resume", "killed", "--devices", cpu(2)}, folder.path());
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  expect_same_curve("killed", "whole");
}

TEST_F(Tasks, OfFrozenStatisticsAreBitwiseTheSameInExactMode) {
  if (!testing::has_turn_twice(1)) GTEST_SKIP() << testing::in_another_tenth;
  const Words exact =
      fp32 + Words{"exact=true",      "norm.statistics=frozen", "train.freeze=trunk.*",
                   "batch.global=12", "batch.micro=2",          "stop.steps=6"};
  std::vector<double> losses;
  for (const int ranks : {1, 2, 3}) {
    const std::string name = "exact" + std::to_string(ranks);
    const ToolResult result = train("ragged", name, cpu(ranks), exact);
    ASSERT_EQ(result.code, 0) << result.err;
    std::vector<double> own;
    for (const auto& [step, event] : steps(name)) own.push_back(event.at("loss"));
    if (losses.empty()) losses = own;
    EXPECT_EQ(own, losses) << ranks << " ranks";
  }
  const ToolResult refused =
      train("ragged", "both", cpu(2), {"exact=true", "norm.statistics=sync", "batch.global=12"});
  EXPECT_NE(refused.code, 0);
  EXPECT_THAT(refused.err, HasSubstr("norm.statistics = sync adds up statistics by ranks"));
}

TEST_F(Tasks, ADetectorAndAnUnetTrainOnAnyNumberOfRanks) {
  struct Case {
    std::string recipe;
    Words options;
  };
  for (const auto& [recipe, options] : {Case{"detector", {"norm.statistics=sync", "norm.rows=12"}},
                                        Case{"unet", {"data.sizes=2", "model.width=4"}}}) {
    const Words more =
        fp32 + options + Words{"batch.global=12", "stop.steps=6", "schedule.kind=constant"};
    ASSERT_EQ(train(recipe, recipe + "1", cpu(1), more).code, 0);
    const ToolResult result = train(recipe, recipe + "3", cpu(3), more);
    ASSERT_EQ(result.code, 0) << result.err;
    expect_same_curve(recipe + "3", recipe + "1");
  }
  EXPECT_TRUE(std::filesystem::exists(run("detector3") / "evaluations"));
}

TEST_F(Tasks, LeaveOutAStepThatIsNotFinite) {
  for (const char* recipe : {"ragged", "detector", "unet"}) {
    const ToolResult result =
        train(recipe, recipe, cpu(2),
              fp32 + Words{"data.nan_at=5", "data.samples=24", "on_nan=skip", "batch.global=12",
                           "norm.statistics=sync", "stop.steps=8", "model.width=4"});
    ASSERT_EQ(result.code, 0) << result.err;
    EXPECT_THAT(result.err, HasSubstr("field 0 of the samples")) << recipe;
    EXPECT_TRUE(steps(recipe).rbegin()->second.at("loss").is_number()) << result.err;
  }
}

TEST_F(Tasks, LeaveOutAStepThatIsNotFiniteWithOneRowOfStatisticsOnEachRank) {
  const ToolResult result =
      train("ragged", "one", cpu(2),
            fp32 + Words{"data.nan_at=5", "data.samples=24", "on_nan=skip", "batch.global=12",
                         "norm.statistics=sync", "norm.rows=2", "stop.steps=4"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("field 0 of the samples"));
}

TEST_F(Tasks, KeepTheMeanOfStatisticsAndTheBestEvaluation) {
  const ToolResult result = train(
      "ragged", "mean", cpu(2),
      fp32 + Words{"norm.keep=mean", "eval.every_steps=3", "stop.steps=12", "batch.global=8"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(events("mean", "eval").size(), 4U);
  EXPECT_TRUE(events("mean", "eval")[0].at("best").get<bool>());
}

TEST_F(Tasks, TakeSmallerMicroBatchesWhenMemoryRunsOutUnlessStatisticsStandOnThem) {
  if (!testing::has_turn_twice(4)) GTEST_SKIP() << testing::in_another_tenth;
  const Words options = fp32 + Words{"model.most_rows=3", "batch.global=12", "stop.steps=4"};
  ASSERT_EQ(train("unet", "whole", cpu(2), fp32 + Words{"batch.global=12", "stop.steps=4"}).code,
            0);
  const ToolResult smaller = train("unet", "smaller", cpu(2), options);
  ASSERT_EQ(smaller.code, 0) << smaller.err;
  EXPECT_THAT(smaller.err, HasSubstr("micro-batch 6 -> 3"));
  expect_same_curve("smaller", "whole");
  const ToolResult stands =
      train("detector", "stands", cpu(2), options + Words{"norm.statistics=sync"});
  EXPECT_NE(stands.code, 0);
  EXPECT_THAT(stands.err, HasSubstr("the micro-batch cannot shrink"));
}

}  // namespace
}  // namespace lockstep
