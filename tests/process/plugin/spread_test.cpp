// Samples whose rows lie on different devices, and orders of a recipe's own, by the command line:
// the same samples and losses on any number of devices, also where the run goes on in an epoch.
#include "checkout_paths.h"
#include "fakes/events_of.h"
#include "fakes/tenths.h"
#include "fakes/tool.h"
#include "runtime/run/events/samples.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace lockstep {
namespace {

using testing::run_tool;
using testing::ToolResult;
using Words = std::vector<std::string>;

class SpreadRun : public ::testing::Test {
 protected:
  ToolResult train(const std::string& name, int ranks, const Words& more) {
    Words words{"train",          "spread",
                "--plugin",       plugin,
                "--name",         name,
                "--devices",      "cpu:" + std::to_string(ranks),
                "precision=fp32", "run.record_samples=true"};
    words.insert(words.end(), more.begin(), more.end());
    return run_tool(words, folder.path());
  }
  ToolResult resume(const std::string& name, int ranks, const Words& more) {
    Words words{"resume", name, "--plugin", plugin, "--devices", "cpu:" + std::to_string(ranks)};
    words.insert(words.end(), more.begin(), more.end());
    return run_tool(words, folder.path());
  }
  std::filesystem::path run(const std::string& name) const { return folder.path() / "runs" / name; }
  std::vector<double> losses(const std::string& name) const {
    std::vector<double> values;
    for (const auto& event : testing::events_of(run(name) / "events.jsonl", "step"))
      values.push_back(event.at("loss").get<double>());
    return values;
  }
  void expect_same(const std::string& name, const std::string& whole) {
    EXPECT_EQ(effective_samples(run(name)), effective_samples(run(whole)));
    const std::vector<double> these = losses(name), those = losses(whole);
    ASSERT_EQ(these.size(), those.size());
    for (std::size_t i = 0; i < these.size(); ++i) EXPECT_NEAR(these[i], those[i], 1e-4) << i;
  }

  const TemporaryDirectory folder;
  const std::string plugin = std::string(LOCKSTEP_BUILD_DIR) + "/tests/libspread-plugin.so";
};

TEST_F(SpreadRun, OfOneSampleAStepRunsOnTwoDevicesAndGoesOnOnAnyNumber) {
  for (const char* rows : {"data.rows=6", "data.rows=1"}) {
    const std::string name = std::string("rows") + std::string(rows).back();
    const ToolResult whole = train(name + "1", 1, {"batch.global=1", "stop.steps=14", rows});
    ASSERT_EQ(whole.code, 0) << whole.err;
    ASSERT_EQ(effective_samples(run(name + "1")).size(), 14U);
    EXPECT_EQ(effective_samples(run(name + "1"))[0].size(), 1U);
    ToolResult part = train(name + "2", 2, {"batch.global=1", "stop.steps=4", rows});
    ASSERT_EQ(part.code, 0) << part.err;
    if (std::string(rows) == "data.rows=1")
      EXPECT_NE(part.err.find("rank 1 (cpu:1) computes nothing"), std::string::npos) << part.err;
    part = resume(name + "2", 4, {"stop.steps=11"});  // beyond an epoch of 9
    ASSERT_EQ(part.code, 0) << part.err;
    part = resume(name + "2", 3, {"stop.steps=14"});
    ASSERT_EQ(part.code, 0) << part.err;
    EXPECT_EQ(effective_samples(run(name + "2")), effective_samples(run(name + "1")));
  }
}

TEST_F(SpreadRun, HasTheSameCurveWhateverTheOrder) {
  if (!testing::has_turn_twice(1)) GTEST_SKIP() << testing::in_another_tenth;
  const Words orders[] = {{"data.group_by_length=true"},
                          {"data.order=weights", "data.epoch_size=20", "data.drop_last=true"},
                          {"data.order=own"}};
  int number = 0;
  for (const Words& order : orders) {
    Words more{"batch.global=4", "stop.steps=8", "schedule.kind=constant"};
    more.insert(more.end(), order.begin(), order.end());
    const std::string one = "one" + std::to_string(++number), three = "three" + one;
    ToolResult result = train(one, 1, more);
    ASSERT_EQ(result.code, 0) << result.err;
    result = train(three, 3, more);
    ASSERT_EQ(result.code, 0) << result.err;
    expect_same(three, one);
  }
  const ToolResult changed = resume("one1", 1, {"data.group_by_length=false", "stop.steps=9"});
  EXPECT_NE(changed.code, 0);
  EXPECT_NE(changed.err.find("data.group_by_length cannot change"), std::string::npos);
}

TEST_F(SpreadRun, IsRefusedWhereItsOrderCannotBe) {
  const ToolResult none = train("none", 1, {"data.order=none", "stop.steps=2"});
  EXPECT_NE(none.code, 0);
  EXPECT_NE(none.err.find("the weights of all samples are 0"), std::string::npos) << none.err;
  EXPECT_FALSE(std::filesystem::exists(run("none"))) << "no run was begun";
  const ToolResult beyond = train("beyond", 2, {"data.order=beyond", "stop.steps=9"});
  EXPECT_NE(beyond.code, 0);
  EXPECT_NE(beyond.err.find("place 8) of the training data gave 9, but samples are 0 to 8"),
            std::string::npos)
      << beyond.err;
}

TEST_F(SpreadRun, KeepsTheMicroBatchThatItsModelStandsOn) {
  const ToolResult fixed = train("fixed", 2, {"model.fixed_micro=3", "stop.steps=2"});
  ASSERT_EQ(fixed.code, 0) << fixed.err;
  EXPECT_NE(fixed.err.find("2 x 6 rows = 2 CPU ranks x micro-batch 3 x accumulation 2"),
            std::string::npos)
      << fixed.err;
  const ToolResult other = train("other", 2, {"model.fixed_micro=3", "batch.micro=2"});
  EXPECT_NE(other.code, 0);
  EXPECT_NE(other.err.find("batch.micro must be 3, but is 2"), std::string::npos) << other.err;
}

TEST_F(SpreadRun, DoesNotGoOnWithAnotherNumberOfSamples) {
  const auto file = folder.path() / "count.txt";
  write_file_atomic(file, "9");
  const std::string path = "data.path=" + file.string();
  const ToolResult begun = train("counted", 1, {path, "stop.steps=2"});
  ASSERT_EQ(begun.code, 0) << begun.err;
  write_file_atomic(file, "8");
  const ToolResult changed = resume("counted", 2, {"stop.steps=4"});
  EXPECT_NE(changed.code, 0);
  EXPECT_NE(changed.err.find("the training data had another number of samples when the run began: "
                             "9, now: 8 (" +
                             path + ")"),
            std::string::npos)
      << changed.err;
  write_file_atomic(file, "9");
  EXPECT_EQ(resume("counted", 2, {"stop.steps=4"}).code, 0);
}

}  // namespace
}  // namespace lockstep
