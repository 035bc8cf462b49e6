// Models of other kinds than text, by the command line: the same curve on any number of ranks, with
// whatever a model may have.
#include "checkout_paths.h"
#include "fakes/events_of.h"
#include "fakes/tool.h"
#include "run/samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <signal.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

namespace lockstep {
namespace {

using testing::run_tool;
using testing::ToolProcess;
using testing::ToolResult;
using Words = std::vector<std::string>;
using ::testing::HasSubstr;

class Tasks : public ::testing::Test {
 protected:
  Words train_words(const std::string& recipe, const std::string& name, int ranks,
                    const Words& more) const {
    Words words{"train",          recipe,
                "--plugin",       plugin,
                "--name",         name,
                "--devices",      "cpu:" + std::to_string(ranks),
                "precision=fp32", "run.record_samples=true"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  ToolResult train(const std::string& recipe, const std::string& name, int ranks,
                   const Words& more) const {
    return run_tool(train_words(recipe, name, ranks, more), folder.path());
  }
  std::filesystem::path run(const std::string& name) const { return folder.path() / "runs" / name; }
  std::vector<nlohmann::json> steps(const std::string& name) const {
    return testing::events_of(run(name) / "events.jsonl", "step");
  }
  // Of steps that count: a step that a resume repeats stands for the one before.
  std::map<std::int64_t, nlohmann::json> by_step(const std::string& name) const {
    std::map<std::int64_t, nlohmann::json> all;
    for (const nlohmann::json& event : steps(name)) all[event.at("step")] = event;
    return all;
  }
  void expect_same_curve(const std::string& name, const std::string& whole) const {
    EXPECT_EQ(effective_samples(run(name)), effective_samples(run(whole)));
    const auto these = by_step(name), those = by_step(whole);
    ASSERT_EQ(these.size(), those.size());
    for (const auto& [step, event] : those) {
      const nlohmann::json& other = these.at(step);
      for (const char* key : {"loss", "grad_norm"})
        EXPECT_NEAR(other.at(key).get<double>(), event.at(key).get<double>(),
                    2e-4 * event.at(key).get<double>())
            << key << " of step " << step << " of " << name;
      if (event.contains("logged")) EXPECT_EQ(other.at("logged"), event.at("logged"));
    }
  }

  const TemporaryDirectory folder;
  const std::string plugin = std::string(LOCKSTEP_BUILD_DIR) + "/tests/libtasks-plugin.so";
  // Ragged rows, two terms, a frozen part, and statistics over 12 rows.
  const Words of_sync{"norm.statistics=sync", "norm.rows=12", "train.freeze=trunk.*",
                      "batch.global=24",      "stop.steps=8", "schedule.kind=constant"};
};

TEST_F(Tasks, RaggedRowsWithBatchNormOverRanksHaveOneCurveOnAnyNumber) {
  ASSERT_EQ(train("ragged", "on1", 1, of_sync).code, 0);
  for (const int ranks : {2, 3, 4}) {
    const std::string name = "on" + std::to_string(ranks);
    const ToolResult result = train("ragged", name, ranks, of_sync);
    ASSERT_EQ(result.code, 0) << result.err;
    EXPECT_THAT(result.err, HasSubstr("statistics of batch norm span norm.rows = 12 rows"));
    expect_same_curve(name, "on1");
  }
}

TEST_F(Tasks, TheRowsOfStatisticsAreRecordedAndAskedForAgain) {
  Words open = of_sync;
  open[1] = "batch.micro=6";  // on 2 ranks: 12 rows
  ASSERT_EQ(train("ragged", "whole", 2, open).code, 0);
  open[4] = "stop.steps=3";
  ASSERT_EQ(train("ragged", "part", 2, open).code, 0);
  const ToolResult refused =
      run_tool({"resume", "part", "--devices", "cpu:5", "stop.steps=8"}, folder.path());
  EXPECT_NE(refused.code, 0);
  EXPECT_THAT(refused.err, HasSubstr("norm.rows 12 does not divide into 5 CPU ranks"));
  EXPECT_THAT(refused.err, HasSubstr("10 or 15"));
  const ToolResult other =
      run_tool({"resume", "part", "--devices", "cpu:2", "norm.rows=8"}, folder.path());
  EXPECT_THAT(other.err, HasSubstr("norm.rows cannot change"));
  const ToolResult resumed =
      run_tool({"resume", "part", "--devices", "cpu:4", "stop.steps=8"}, folder.path());
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  expect_same_curve("part", "whole");
}

TEST_F(Tasks, AreTheSameAfterAKillOnAnotherNumberOfRanks) {
  Words longer = of_sync;
  longer[4] = "stop.steps=60";
  ASSERT_EQ(train("ragged", "whole", 1, longer).code, 0);
  longer.push_back("checkpoint.every_steps=5");
  Words words = train_words("ragged", "killed", 3, longer);
  words.insert(words.begin(), testing::program("lockstep"));
  ToolProcess process(words, folder.path());
  const auto checkpoints = run("killed") / "checkpoints";
  for (int i = 0; i < 600 && !std::filesystem::exists(checkpoints / "step-000000010"); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  for (const pid_t rank : testing::ranks_of(process.pid())) kill(rank, SIGKILL);
  kill(process.pid(), SIGKILL);
  process.wait();
  const ToolResult resumed = run_tool({"resume", "killed", "--devices", "cpu:2"}, folder.path());
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  expect_same_curve("killed", "whole");
}

TEST_F(Tasks, OfFrozenStatisticsAreBitwiseTheSameInExactMode) {
  const Words exact{"exact=true",      "norm.statistics=frozen", "train.freeze=trunk.*",
                    "batch.global=12", "batch.micro=2",          "stop.steps=6"};
  std::vector<double> losses;
  for (const int ranks : {1, 2, 3}) {
    const std::string name = "exact" + std::to_string(ranks);
    const ToolResult result = train("ragged", name, ranks, exact);
    ASSERT_EQ(result.code, 0) << result.err;
    std::vector<double> own;
    for (const nlohmann::json& event : steps(name)) own.push_back(event.at("loss"));
    if (losses.empty()) losses = own;
    EXPECT_EQ(own, losses) << ranks << " ranks";
  }
  const ToolResult refused =
      train("ragged", "both", 2, {"exact=true", "norm.statistics=sync", "batch.global=12"});
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
    Words more = options;
    more.insert(more.end(), {"batch.global=12", "stop.steps=6", "schedule.kind=constant"});
    ASSERT_EQ(train(recipe, recipe + "1", 1, more).code, 0);
    const ToolResult result = train(recipe, recipe + "3", 3, more);
    ASSERT_EQ(result.code, 0) << result.err;
    expect_same_curve(recipe + "3", recipe + "1");
  }
  EXPECT_TRUE(std::filesystem::exists(run("detector3") / "evaluations"));
}

TEST_F(Tasks, LeaveOutAStepThatIsNotFinite) {
  for (const char* recipe : {"ragged", "detector", "unet"}) {
    const ToolResult result =
        train(recipe, recipe, 2,
              {"data.nan_at=5", "data.samples=24", "on_nan=skip", "batch.global=12",
               "norm.statistics=sync", "stop.steps=8", "model.width=4"});
    ASSERT_EQ(result.code, 0) << result.err;
    EXPECT_THAT(result.err, HasSubstr("field 0 of the samples")) << recipe;
    EXPECT_TRUE(steps(recipe).back().at("loss").is_number()) << result.err;
  }
}

}  // namespace
}  // namespace lockstep
