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

TEST_F(Gbdt, LearnsFromOwnColumnsWithAnOwnLabel) {
  std::string csv = "date,signal,noise,other,up\n";
  for (int day = 0; day < 336; ++day) {
    const int month = day / 28 + 1;
    csv += cat("2020-", month < 10 ? "0" : "", month, "-", day % 28 < 9 ? "0" : "", day % 28 + 1,
               ",", day % 7 == 3 ? "" : cat(day * 37 % 101), ",", day * 53 % 89, ",", day, ",",
               day * 37 % 101 > 50 ? 1 : 0, "\n");
  }
  std::filesystem::create_directories(folder() / "own");
  write_file_atomic(folder() / "own/AB.csv", csv);
  write_file_atomic(folder() / "list", "signal\nnoise\n");
  const std::vector<std::string> words = {"train",
                                          "gbdt",
                                          "data.path=own",
                                          "label=up",
                                          "horizon=1",
                                          "n_estimators=20",
                                          "min_child_samples=5"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), words.begin(), words.end());
    return job(more);
  };
  const ToolResult result = with({"features=list"});
  ASSERT_EQ(result.code, 0) << result.err;
  const auto metadata = nlohmann::json::parse(text("out/metadata.json"));
  EXPECT_EQ(metadata.at("features"), (std::vector<std::string>{"signal", "noise"}));
  EXPECT_EQ(metadata.at("date_range").at("start"), "2020-01-01");  // no bars before it are needed
  EXPECT_GT(metadata.at("metrics").at("test").at("auc"), 0.9);
  EXPECT_THAT(text("out/feature_importance.csv"), HasSubstr("signal,"));
  EXPECT_EQ(with({"features=*"}).code, 0);
  EXPECT_EQ(nlohmann::json::parse(text("out/metadata.json")).at("features").size(), 3);
  EXPECT_THAT(with({"features=signl"}).err, HasSubstr("signal"));
  EXPECT_THAT(with({"features=signal", "label=other"}).err, HasSubstr("is 2, but must be 0 or 1"));
  EXPECT_THAT(with({"features=up"}).err, HasSubstr("up is the label"));
  EXPECT_THAT(job({"train", "gbdt", "label=up"}).err, HasSubstr("data.path is not given"));
}

TEST_F(Gbdt, PredictsAndEvaluatesWithARun) {
  write_prices("AB");
  ASSERT_EQ(tool({"train", "gbdt", "--name", "g", "data.path=prices", "start=2020-04-01",
                  "end=2020-10-01", "horizon=3", "n_estimators=10"})
                .code,
            0);
  const ToolResult evaluated = tool({"evaluate", "g"});
  EXPECT_EQ(evaluated.code, 0) << evaluated.err;
  EXPECT_THAT(evaluated.out, HasSubstr("AB_2020-04-01_to_2020-10-01"));
  const ToolResult predicted = tool({"predict", "g", "out=p.csv"});
  EXPECT_EQ(predicted.code, 0) << predicted.err;
  // The rows of the test are predicted as they were then, and the newest, without a label, besides.
  const std::string all = text("p.csv"), tested = text("runs/g/predictions.csv");
  EXPECT_TRUE(all.starts_with(tested.substr(0, tested.size() / 2)));
  EXPECT_THAT(all, HasSubstr("2021-03-28,AB,AB_2020-04-01_to_2020-10-01,,0."));
  EXPECT_THAT(tool({"predict", "g", "out=p.csv"}).err, HasSubstr("is there already"));
  EXPECT_THAT(tool({"predict", "g", "num_leaves=3"}).err, HasSubstr("was trained with"));
  EXPECT_THAT(tool({"evaluate", "g", "start=2030-01-01"}).err, HasSubstr("no row"));
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
