// The gbdt recipe from the command to the files that a user keeps.
#include "base/files.h"
#include "base/text.h"
#include "fakes/tool.h"

#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace lockstep {
namespace {

using ::testing::HasSubstr;
using testing::run_tool;
using testing::ToolResult;
namespace fs = std::filesystem;

class Gbdt : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(fs::path(LOCKSTEP_BUILD_DIR) / "lightgbm/lib/lib_lightgbm.so"))
      GTEST_SKIP() << "LightGBM is not there";
  }
  ToolResult tool(const std::vector<std::string>& words) const {
    return run_tool(words, folder_.path());
  }
  // As a job of a batch.
  ToolResult job(const std::vector<std::string>& words) const {
    return run_tool(words, folder_.path(), {{"LOCKSTEP_OUT", (folder_.path() / "out").string()}});
  }
  TemporaryDirectory folder_;
};

TEST_F(Gbdt, TrainsOnMadePricesAndEndsWithATableAndCommands) {
  const ToolResult result = tool({"train", "gbdt", "--name", "g"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("the prices are made, with a planted signal"));
  EXPECT_THAT(result.out, HasSubstr("test, 1"));
  EXPECT_THAT(result.out, HasSubstr("AUC         0."));
  EXPECT_THAT(result.err, HasSubstr("try next:\n  lockstep train gbdt preset=experiment"));
  EXPECT_THAT(result.err, HasSubstr("  lockstep batch gbdt"));
  const fs::path run = folder_.path() / "runs/g";
  for (const char* file : {"model.txt", "labels.csv.gz", "predictions.csv", "metadata.json",
                           "feature_importance.csv", "teacher_runs.json", "training_run_g.jsonl"})
    EXPECT_TRUE(fs::exists(run / file)) << file;
  const auto record = nlohmann::json::parse(read_file(run / "run.json"));
  EXPECT_EQ(record.at("result").at("parameters").at("used").at("num_leaves"), "127");
  EXPECT_THAT(tool({"runs"}).out, HasSubstr("gbdt"));
}

TEST_F(Gbdt, TrainsOnFilesIntoTheFolderOfAJob) {
  std::string csv = "Date,Open,High,Low,Close,Volume\n";
  for (int day = 0; day < 420; ++day) {
    const double close = 100 + 20 * std::sin(day / 9.0);
    const int month = day / 28 % 12 + 1;
    csv += cat(2020 + day / 336, "-", month < 10 ? "0" : "", month, "-", day % 28 < 9 ? "0" : "",
               day % 28 + 1, ",", close, ",", close + 1, ",", close - 1, ",", close, ",1000\n");
  }
  fs::create_directories(folder_.path() / "prices");
  write_file_atomic(folder_.path() / "prices/AB.csv", csv);
  const ToolResult done = job({"train", "gbdt", "symbol=AB", "data.path=prices", "start=2020-06-01",
                               "end=2020-12-01", "horizon=3"});
  const ToolResult skipped = job({"train", "gbdt", "data.path=prices", "start=2020-01-05"});
  const ToolResult wrong = job({"train", "gbdt", "symbol=AC", "data.path=prices"});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_TRUE(fs::exists(folder_.path() / "out/model.txt"));
  EXPECT_FALSE(fs::exists(folder_.path() / "runs"));
  EXPECT_EQ(skipped.code, 3);
  EXPECT_THAT(skipped.err, HasSubstr("skipped: features need 60 bars"));
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("is it AB?"));
}

TEST_F(Gbdt, RefusesOptionsOfTheEngineByName) {
  const ToolResult option = tool({"train", "gbdt", "batch.global=8"});
  EXPECT_EQ(option.code, 2);
  EXPECT_THAT(option.err, HasSubstr("batch.global is an option of the engine"));
  const ToolResult flag = tool({"train", "gbdt", "--devices", "0"});
  EXPECT_EQ(flag.code, 2);
  EXPECT_THAT(flag.err, HasSubstr("--devices"));
  const ToolResult typo = tool({"train", "gbdt", "num_leafs=3"});
  EXPECT_THAT(typo.err, HasSubstr("did you mean num_leaves?"));
  EXPECT_FALSE(fs::exists(folder_.path() / "runs"));
}

}  // namespace
}  // namespace lockstep
