// A plugin prepares for each purpose in turn, in the worker, and knows the run it is read from.
#include "checkout_paths.h"
#include "fakes/tool.h"
#include "planning/recipe_info.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace lockstep {
namespace {

using testing::run_tool;
using testing::ToolResult;

TEST(Plugin, PreparesForTrainingEvaluationAndPrediction) {
  const TemporaryDirectory folder;
  const std::string plugin = std::string(LOCKSTEP_BUILD_DIR) + "/tests/libtoy-plugin.so";
  const ToolResult trained = run_tool(
      {"train", "toy", "--plugin", plugin, "--devices", "cpu:2", "--name", "a", "stop.steps=3"},
      folder.path());
  ASSERT_EQ(trained.code, 0) << trained.err;
  const ToolResult evaluated =
      run_tool({"evaluate", "a", "--json", "--devices", "cpu:1"}, folder.path());
  ASSERT_EQ(evaluated.code, 0) << evaluated.err;
  EXPECT_EQ(nlohmann::json::parse(evaluated.out).at("metrics").at("purpose"),
            static_cast<int>(Purpose::evaluate));
  const ToolResult predicted = run_tool({"predict", "a", "--devices", "cpu:1"}, folder.path());
  ASSERT_EQ(predicted.code, 0) << predicted.err;
  const auto extra = nlohmann::json::parse(predicted.out);
  EXPECT_EQ(extra.at("purpose"), static_cast<int>(Purpose::predict));
  EXPECT_EQ(extra.at("run"), "a");
}

// Its model may be written for fp32 only.
TEST(Plugin, TrainsInFp32UnlessItSaysThatItCanDoWithLess) {
  const TemporaryDirectory folder;
  const std::string plugin = std::string(LOCKSTEP_BUILD_DIR) + "/tests/libtoy-plugin.so";
  const auto plan = [&](const std::string& option) {
    const ToolResult result = run_tool({"plan", "toy", "--plugin", plugin, "--devices", "2xH100",
                                        "--json", "stop.steps=3", option},
                                       folder.path());
    EXPECT_EQ(result.code, 0) << result.err;
    return nlohmann::json::parse(result.out).at("precision");
  };
  const nlohmann::json by_itself = plan("precision=auto"), asked = plan("precision=bf16");
  EXPECT_EQ(by_itself.at("type"), "fp32");
  EXPECT_EQ(by_itself.at("why"), "the recipe does not say that its model can do with less");
  EXPECT_EQ(asked.at("type"), "bf16");
}

TEST(Plugin, IsRememberedWithItsOptionsForCompletion) {
  const TemporaryDirectory folder;
  const std::string plugin = std::string(LOCKSTEP_BUILD_DIR) + "/tests/libtoy-plugin.so";
  const auto offered = [&] {
    return run_tool({"complete", "fish", "--", "train", "toy", "--plugin", plugin, "data."},
                    folder.path())
        .out;
  };
  EXPECT_EQ(offered().find("data.samples="), std::string::npos) << "TAB must not load it";
  ASSERT_EQ(
      run_tool({"config", "toy", "--plugin", plugin, "--devices", "cpu:1"}, folder.path()).code, 0);
  EXPECT_NE(offered().find("data.samples=\ttraining samples"), std::string::npos) << offered();
}

}  // namespace
}  // namespace lockstep
