// lockstep train gbdt, from the command to the files that a user keeps.
#include <signal.h>

#include <chrono>
#include <thread>

#include "gbdt_rig.h"

namespace lockstep {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::ToolResult;

class Gbdt : public GbdtRig {};

TEST_F(Gbdt, TrainsOnMadePricesAndEndsWithATableAndCommands) {
  const ToolResult result = tool({"train", "gbdt", "--name", "g"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("the prices are made, with a planted signal"));
  EXPECT_THAT(result.out, HasSubstr("test, 1"));
  EXPECT_THAT(result.out, HasSubstr("AUC         0."));
  EXPECT_THAT(result.out, HasSubstr("metrics say nothing about a market"));
  ASSERT_EQ(tool({"report", "g", "--out", "r.md"}).code, 0);
  EXPECT_THAT(text("r.md"), HasSubstr("the prices are made, with a planted signal"));
  EXPECT_THAT(result.err, HasSubstr("try next:\n  lockstep train gbdt preset=experiment"));
  EXPECT_THAT(result.err, HasSubstr("  lockstep batch gbdt"));
  for (const char* file : {"model.txt", "labels.csv.gz", "predictions.csv", "metadata.json",
                           "feature_importance.csv", "teacher_runs.json", "training_run_g.jsonl"})
    EXPECT_TRUE(exists(cat("runs/g/", file))) << file;
  const auto record = nlohmann::json::parse(text("runs/g/run.json"));
  EXPECT_EQ(record.at("result").at("parameters").at("used").at("num_leaves"), "127");
  EXPECT_THAT(tool({"runs"}).out, HasSubstr("test.auc 0."));
  EXPECT_EQ(record.at("result").at("feature_set"), "v2");
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
  EXPECT_THAT(with({"features=signal", "label=other"}).err,
              HasSubstr("AB.csv, line 4: the label other is 2"));
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
  EXPECT_THAT(evaluated.out, Not(HasSubstr("no test")));
  EXPECT_THAT(
      tool({"evaluate", "g", "start=2020-09-21", "end=2020-10-08"}).out,
      HasSubstr("note: 8 of the 15 rows lie in the window of training: they are no test\n"));
  EXPECT_EQ(tool({"evaluate", "g", "horizon=5"}).code, 0);
  EXPECT_THAT(tool({"evaluate", "g", "horizon=0"}).err, HasSubstr("horizon=0: the close"));
}

// 200 rows, of which x decides, in no order of time.
std::string table_without_time() {
  std::string csv = "x,noise,kind,number,query\n";
  for (int row = 0; row < 200; ++row) {
    const int x = row * 37 % 101;
    csv += cat(x, ",", row * 53 % 89, ",",
               x < 30   ? "low"
               : x < 60 ? "middle"
                        : "high",
               ",", 0.5 * x + row % 3, ",", row / 8, "\n");
  }
  return csv;
}

TEST_F(Gbdt, LearnsFromATableWithoutATime) {
  write_file_atomic(folder() / "table.csv", table_without_time());
  const std::vector<std::string> few = {"n_estimators=30", "min_child_samples=5",
                                        "learning_rate=0.2", "data.path=table.csv"};
  const auto train = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"train", "gbdt"});
    words.insert(words.end(), few.begin(), few.end());
    return tool(words);
  };
  const ToolResult classes =
      train({"--name", "c", "objective=multiclass", "label=kind", "features=x,noise"});
  ASSERT_EQ(classes.code, 0) << classes.err;
  EXPECT_THAT(classes.err, HasSubstr("kind: 3 classes, high, low, middle"));
  EXPECT_THAT(classes.out, HasSubstr("macro F1"));
  EXPECT_THAT(text("runs/c/predictions.csv"),
              HasSubstr("row,symbol,window,label,prediction,probability_high,probability_low"));
  const ToolResult ranking = train(
      {"--name", "r", "objective=ranking", "label=number", "group=query", "features=x,noise"});
  EXPECT_THAT(ranking.err, HasSubstr("whole numbers from 0 to 30"));
  const ToolResult numbers = train(
      {"--name", "n", "objective=regression", "label=number", "features=x,noise", "horizon=3"});
  ASSERT_EQ(numbers.code, 0) << numbers.err;
  EXPECT_THAT(numbers.err, HasSubstr("horizon does nothing: the rows have no time"));
  EXPECT_THAT(numbers.out, HasSubstr("base RMSE"));
  const auto metadata = nlohmann::json::parse(text("runs/n/metadata.json"));
  EXPECT_GT(metadata.at("metrics").at("test").at("r2"), 0.9);
  EXPECT_THAT(train({"label=number", "features=x", "objective=l1", "start=2020-01-01"}).err,
              HasSubstr("start and end need a time"));
  EXPECT_THAT(train({"label=kind", "features=x"}).err, HasSubstr("0 or 1, or one of two values"));
}

TEST_F(Gbdt, UsesModelsOfATableOnRowsWithoutALabel) {
  write_file_atomic(folder() / "table.csv", table_without_time());
  ASSERT_EQ(
      tool({"train", "gbdt", "--name", "c", "objective=multiclass", "label=kind",
            "features=x,noise", "data.path=table.csv", "n_estimators=20", "min_child_samples=5"})
          .code,
      0);
  const ToolResult again = tool({"evaluate", "c"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr(" 40 "));  // the rows of the test
  for (const char* word : {"horizon=3", "threshold=0.1"})
    EXPECT_THAT(tool({"evaluate", "c", word}).err, HasSubstr("does nothing: the label is the"));
  write_file_atomic(folder() / "new.csv", "noise,x\n1,5\n2,95\n");
  const ToolResult predicted =
      tool({"predict", "c", "data.path=new.csv", "symbol=new", "out=p.csv"});
  ASSERT_EQ(predicted.code, 0) << predicted.err;
  EXPECT_THAT(text("p.csv"), HasSubstr("1,new,table,,low,"));
  EXPECT_THAT(text("p.csv"), HasSubstr("2,new,table,,high,"));
  write_file_atomic(folder() / "asked.csv", "noise,x,kind\n1,5,?\n2,95,high\n");
  const ToolResult asked = tool({"predict", "c", "data.path=asked.csv", "out=a.csv"});
  ASSERT_EQ(asked.code, 0) << asked.err;
  EXPECT_THAT(asked.err, HasSubstr("note: table: 1 row has no label of kind\n"));
  EXPECT_THAT(text("a.csv"), HasSubstr("1,table,table,,low,"));
  EXPECT_THAT(text("a.csv"), HasSubstr("2,table,table,high,high,"));
  write_file_atomic(folder() / "fewer.csv", "noise,other,kind\n1,5,low\n");
  EXPECT_THAT(tool({"predict", "c", "data.path=fewer.csv", "out=q.csv"}).err,
              HasSubstr("fewer.csv has no column x"));
  write_file_atomic(folder() / "other.csv", "noise,x,kind\n1,5,tiny\n");
  EXPECT_THAT(tool({"evaluate", "c", "data.path=other.csv"}).err,
              HasSubstr("none of the model's classes"));
  EXPECT_THAT(again.out, Not(HasSubstr("note:")));
  write_file_atomic(folder() / "table.csv", table_without_time() + "1,2,low,3,4\n");
  const std::string changed = tool({"evaluate", "c"}).out;
  EXPECT_THAT(changed, HasSubstr("table.csv has changed since training: all its rows are used"));
  EXPECT_THAT(changed, HasSubstr(" 201 "));
}

TEST_F(Gbdt, FindsTheColumnsOfAModelByNameAgain) {
  write_file_atomic(folder() / "table.csv", table_without_time());
  write_file_atomic(folder() / "list", "x\nnoise\n");
  const auto train = [&](const char* name, const char* features) {
    return tool({"train", "gbdt", "--name", name, "objective=multiclass", "label=kind", features,
                 "data.path=table.csv", "n_estimators=20", "min_child_samples=5"})
        .code;
  };
  ASSERT_EQ(train("all", "features=*"), 0);
  ASSERT_EQ(train("listed", "features=list"), 0);
  write_file_atomic(folder() / "list", "noise\nquery\n");
  write_file_atomic(folder() / "new.csv", "query,number,more,noise,x\n0,2.5,9,1,5\n1,48,9,2,95\n");
  for (const char* name : {"all", "listed"}) {
    const ToolResult predicted =
        tool({"predict", name, "data.path=new.csv", cat("out=", name, ".csv")});
    ASSERT_EQ(predicted.code, 0) << predicted.err;
    EXPECT_THAT(text(cat(name, ".csv")), HasSubstr(",,low,"));
    EXPECT_THAT(text(cat(name, ".csv")), HasSubstr(",,high,"));
  }
  write_file_atomic(folder() / "swapped.csv", "x,noise,other,query\n1,5,3,4\n");
  EXPECT_THAT(tool({"predict", "all", "data.path=swapped.csv", "out=p.csv"}).err,
              HasSubstr("swapped.csv has no column number"));
}

TEST_F(Gbdt, TakesColumnsOfAnyName) {
  std::string csv = "\"a,b\",z{1},p q,p_q,\"say \"\"hi\"\"\",y\n";
  for (int row = 0; row < 100; ++row)
    csv += cat(row * 7 % 31, ",", row % 5, ",", row % 3, ",", row % 2, ",", row, ",",
               row * 7 % 31 > 15 ? 1 : 0, "\n");
  write_file_atomic(folder() / "odd.csv", csv);
  const ToolResult result = tool({"train", "gbdt", "--name", "o", "data.path=odd.csv", "features=*",
                                  "label=y", "n_estimators=5", "min_child_samples=2"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(nlohmann::json::parse(text("runs/o/metadata.json")).at("features"),
            (std::vector<std::string>{"a,b", "z{1}", "p q", "p_q", "say \"hi\""}));
  EXPECT_THAT(text("runs/o/feature_importance.csv"), HasSubstr("\"a,b\","));
  EXPECT_THAT(text("runs/o/model.txt"), HasSubstr("feature_names=a_b z_1_ p_q p_q_2 say__hi_\n"));
  EXPECT_EQ(tool({"evaluate", "o"}).code, 0);
  write_file_atomic(folder() / "list", "a,b\nz{1}\n");
  const ToolResult batch = tool({"batch", "gbdt", "--name", "b", "data.path=odd.csv", "label=y",
                                 "features=list", "n_estimators=5", "min_child_samples=2"});
  EXPECT_EQ(batch.code, 0) << batch.err;
}

TEST_F(Gbdt, NamesCommandsThatCanBeTypedAsTheyAre) {
  write_file_atomic(folder() / "my table.csv", table_without_time());
  const ToolResult result =
      tool({"train", "gbdt", "--name", "g", "data.path=my table.csv", "features=x,noise",
            "label=number", "objective=l2", "split.test_share=0", "n_estimators=5",
            "params=boosting=dart", "early_stopping=0"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("preset=experiment 'symbol=my table' 'data.path="));
  EXPECT_THAT(result.err, HasSubstr(" split.test_share=0 params=boosting=dart early_stopping=0\n"));
  const ToolResult evaluated = tool({"evaluate", "g"});
  EXPECT_THAT(evaluated.err, HasSubstr("trained without a test"));
  EXPECT_THAT(evaluated.err, Not(HasSubstr("start=DAY")));
}

TEST_F(Gbdt, TakesParametersOfLightGbmOneByOne) {
  const ToolResult result = tool({"train", "gbdt", "--name", "g", "params=max_bin=63",
                                  "params.lambda_l2=3", "n_estimators=5"});
  ASSERT_EQ(result.code, 0) << result.err;
  const auto used = nlohmann::json::parse(text("runs/g/metadata.json")).at("parameters").at("used");
  EXPECT_EQ(used.at("lambda_l2"), "3");
  EXPECT_EQ(used.at("max_bin"), "63");
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
  EXPECT_THAT(error_with(header + "2020-01-02,1,2,1,1,5\n2020-01-01,1,2,1,1,5\n"
                                  "2020-01-03,1,2,1,1,5\n"),
              HasSubstr("AB.csv, line 3"));
  EXPECT_THAT(error_with(header + "2020-01-02,1,2,1,1,5\n"), HasSubstr("too few for any window"));
}

TEST_F(Gbdt, OfARefusedStartNothingIsLeft) {
  const ToolResult refused =
      tool({"train", "gbdt", "--name", "w", "symbol=AC", "data.path=prices"});
  EXPECT_EQ(refused.code, 2) << refused.err;
  EXPECT_FALSE(exists("runs/w"));
}

TEST_F(Gbdt, NamesTheSameDaysInTheCommandToTryNextAndCountsOneTree) {
  const ToolResult result = tool({"train", "gbdt", "--name", "g", "start=2022-03-01",
                                  "end=2022-12-01", "gbdt.device=cpu", "n_estimators=1"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("  lockstep train gbdt preset=experiment symbol=MADE01 "
                                    "gbdt.device=cpu start=2022-03-01 end=2022-12-01\n"));
  EXPECT_THAT(result.err, HasSubstr("  lockstep batch gbdt gbdt.device=cpu\n"));
  EXPECT_THAT(result.err, HasSubstr(" rows, 1 tree of at most "));
}

TEST_F(Gbdt, EndsAtTheFirstInterruptAndSaysThatNothingResumesIt) {
  testing::ToolProcess process(
      {testing::program("lockstep"), "train", "gbdt", "--name", "w", "data.made_rows=20000",
       "num_leaves=255", "n_estimators=1000000", "early_stopping=0"},
      folder());
  for (int i = 0; i < 600 && !exists("runs/w/training_run_w.jsonl"); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  kill(process.pid(), SIGINT);
  const ToolResult result = process.wait();
  EXPECT_EQ(result.code, 130);
  EXPECT_THAT(result.err, HasSubstr("interrupted: SIGINT; nothing was saved: train again under "
                                    "another --name; a batch (lockstep batch gbdt) resumes"));
  EXPECT_THAT(text("runs/w/logs/train.log"), HasSubstr("interrupted: SIGINT"));
  EXPECT_THAT(tool({"runs", "w"}).out, AllOf(HasSubstr("interrupted"), HasSubstr("SIGINT"),
                                             Not(HasSubstr("without a word"))));
  const ToolResult resumed = tool({"resume", "w"}), evaluated = tool({"evaluate", "w"});
  EXPECT_EQ(resumed.code, 2);
  EXPECT_THAT(resumed.err, HasSubstr("run w cannot be resumed: gbdt makes no checkpoints"));
  EXPECT_EQ(evaluated.code, 2);
  EXPECT_THAT(evaluated.err, HasSubstr("run w has no model: it is interrupted (SIGINT)"));
  EXPECT_EQ(tool({"report", "w"}).code, 0);
  EXPECT_THAT(text("runs/w/report.md"),
              HasSubstr("the run was interrupted and cannot be resumed: SIGINT"));
}

// As in a copy of what the model needs.
TEST_F(Gbdt, EvaluatesARunWithoutAState) {
  ASSERT_EQ(tool({"train", "gbdt", "--name", "g", "n_estimators=1"}).code, 0);
  std::filesystem::remove(folder() / "runs/g/state.json");
  const ToolResult result = tool({"evaluate", "g"});
  EXPECT_EQ(result.code, 0) << result.err;
}

TEST_F(Gbdt, RefusesOptionsOfTheEngineByName) {
  const ToolResult option = tool({"train", "gbdt", "batch.global=8"});
  EXPECT_EQ(option.code, 2);
  EXPECT_THAT(option.err, HasSubstr("batch.global is an option of the engine"));
  write_file_atomic(folder() / "engine.toml", "[batch]\nglobal = 8\n");
  EXPECT_THAT(tool({"train", "gbdt", "--config", "engine.toml"}).err,
              HasSubstr("batch.global is an option of the engine, without which gbdt trains "
                        "(engine.toml, line 2)"));
  EXPECT_THAT(tool({"train", "gbdt", "episode.k_shot=3"}).err,
              HasSubstr("episode.k_shot is an option of the recipe fewshot, not of gbdt"));
  const ToolResult flag = tool({"train", "gbdt", "--devices", "0"});
  EXPECT_EQ(flag.code, 2);
  EXPECT_THAT(flag.err, HasSubstr("--devices"));
  const ToolResult typo = tool({"train", "gbdt", "num_leafs=3"});
  EXPECT_THAT(typo.err, HasSubstr("did you mean num_leaves?"));
  EXPECT_FALSE(exists("runs"));
}

}  // namespace
}  // namespace lockstep
