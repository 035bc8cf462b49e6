// lockstep train gbdt, from the command to the files that a user keeps.
#include "gbdt_rig.h"

namespace lockstep {
namespace {

using ::testing::HasSubstr;
using testing::ToolResult;

class Gbdt : public GbdtRig {};

TEST_F(Gbdt, TrainsOnMadePricesAndEndsWithATableAndCommands) {
  const ToolResult result = tool({"train", "gbdt", "--name", "g"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("the prices are made, with a planted signal"));
  EXPECT_THAT(result.out, HasSubstr("test, 1"));
  EXPECT_THAT(result.out, HasSubstr("AUC         0."));
  EXPECT_THAT(result.err, HasSubstr("try next:\n  lockstep train gbdt preset=experiment"));
  EXPECT_THAT(result.err, HasSubstr("  lockstep batch gbdt"));
  for (const char* file : {"model.txt", "labels.csv.gz", "predictions.csv", "metadata.json",
                           "feature_importance.csv", "teacher_runs.json", "training_run_g.jsonl"})
    EXPECT_TRUE(exists(cat("runs/g/", file))) << file;
  const auto record = nlohmann::json::parse(text("runs/g/run.json"));
  EXPECT_EQ(record.at("result").at("parameters").at("used").at("num_leaves"), "127");
  EXPECT_THAT(tool({"runs"}).out, HasSubstr("gbdt"));
}

TEST_F(Gbdt, TrainsOnFilesIntoTheFolderOfAJob) {
  write_prices("AB");
  const ToolResult done = job({"train", "gbdt", "symbol=AB", "data.path=prices", "start=2020-06-01",
                               "end=2020-12-01", "horizon=3"});
  const ToolResult skipped = job({"train", "gbdt", "data.path=prices", "start=2020-01-05"});
  const ToolResult wrong = job({"train", "gbdt", "symbol=AC", "data.path=prices"});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_TRUE(exists("out/model.txt"));
  EXPECT_FALSE(exists("runs"));
  EXPECT_EQ(skipped.code, 3);
  EXPECT_THAT(skipped.err, HasSubstr("skipped: features need 60 bars"));
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("is it AB?"));
}

TEST_F(Gbdt, TrainsOnRealPricesWithWhatWasAskedFor) {
  const auto data = testing::test_data("gbdt/daily_us");
  if (!data.why_not.empty()) GTEST_SKIP() << data.why_not;
  const ToolResult result =
      job({"train", "gbdt", "symbol=IBM", "data.path=" + data.path, "start=2016-01-01",
           "end=2018-01-01", "num_leaves=8", "n_estimators=40", "early_stopping=0"});
  ASSERT_EQ(result.code, 0) << result.err;
  const auto metadata = nlohmann::json::parse(text("out/metadata.json"));
  EXPECT_EQ(metadata.at("sample_counts").at("train"), 390);
  EXPECT_EQ(metadata.at("sample_counts").at("valid"), 99);
  EXPECT_EQ(metadata.at("sample_counts").at("test"), 503);
  EXPECT_EQ(metadata.at("model").at("trees"), 40);
  EXPECT_EQ(metadata.at("model").at("most_leaves"), 8);
  EXPECT_EQ(metadata.at("parameters").at("used").at("num_leaves"), "8");
  EXPECT_EQ(metadata.at("library").at("version"), "4.7.0");
}

TEST_F(Gbdt, OfBadPricesNamesFileAndLine) {
  std::filesystem::create_directories(folder() / "prices");
  const auto error_with = [&](const std::string& csv) {
    write_file_atomic(folder() / "prices/AB.csv", csv);
    const ToolResult result = job({"train", "gbdt", "data.path=prices"});
    EXPECT_EQ(result.code, 2) << result.err;
    return result.err;
  };
  const std::string header = "date,open,high,low,close,volume\n";
  EXPECT_THAT(error_with("date,open,high,low,volume\n"), HasSubstr("close"));
  EXPECT_THAT(error_with(header + "2020-01-01,1,2,1,1,5\n2020-01-02,1,x,1,1,5\n"),
              HasSubstr("AB.csv, line 3"));
  EXPECT_THAT(error_with(header + "2020-01-02,1,2,1,1,5\n2020-01-01,1,2,1,1,5\n"),
              HasSubstr("AB.csv, line 3"));
  EXPECT_THAT(error_with(header + "2020-01-02,1,2,1,1,5\n"), HasSubstr("too few for any window"));
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
  EXPECT_FALSE(exists("runs"));
}

}  // namespace
}  // namespace lockstep
