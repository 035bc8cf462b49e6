// lockstep batch gbdt: symbols x windows as a batch, and what its windows make together.
#include <sched.h>

#include "core/media/csv_table.h"
#include "gbdt_rig.h"
#include "tools/jobs/ledger/database.h"

namespace lockstep {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::ToolResult;

class GbdtBatch : public GbdtRig {
 protected:
  // Two symbols with six windows each of few trees.
  ToolResult batch(std::vector<std::string> words = {}) const {
    words.insert(words.begin(), {"batch", "gbdt", "data.made_symbols=2", "n_estimators=20"});
    return tool(words);
  }
};

TEST_F(GbdtBatch, EndsWithATableByWindowAndOneFileOfAllPredictions) {
  const ToolResult result = batch({"--name", "g"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("2 symbols, 12 windows"));
  EXPECT_THAT(result.err, HasSubstr("the prices are made, with a planted signal"));
  EXPECT_THAT(result.out, HasSubstr("MADE02_2024-06-19_to_2024-12-01 "));
  EXPECT_THAT(result.out, HasSubstr("expected 12 windows of 2 symbols, 6 of each: 12 succeeded\n"));
  EXPECT_THAT(result.out, HasSubstr("12 done of 12\n"));
  const std::string made =
      "the prices are made, with a planted signal: metrics say nothing about a market; "
      "data.path=DIR trains on yours\n";
  EXPECT_THAT(result.out, HasSubstr(made));
  EXPECT_THAT(tool({"batch", "status", "g"}).out, HasSubstr(made));
  EXPECT_THAT(tool({"evaluate", "g"}).out, HasSubstr("note: " + made));
  const CsvTable windows = read_csv(folder() / "runs/g/windows.csv");
  EXPECT_EQ(windows.rows.size(), 12u);
  const CsvTable predictions = read_csv(folder() / "runs/g/predictions.csv");
  double tested = 0;
  for (std::size_t i = 0; i < windows.rows.size(); ++i)
    tested += *windows.number(i, windows.column("test_rows"));
  EXPECT_EQ(static_cast<double>(predictions.rows.size()), tested);
  EXPECT_THAT(text("runs/g/heatmap.svg"), HasSubstr("MADE02"));
  const auto line = nlohmann::json::parse(split(text("runs/g/teacher_runs.json"), '\n').at(0));
  EXPECT_EQ(line.at("batch_id"), "g");
  EXPECT_EQ(line.at("attempts"), 1);
  const std::string job = "runs/g/jobs/MADE01_2022-01-01_to_2022-06-30";
  EXPECT_EQ(nlohmann::json::parse(text(job + "/teacher_runs.json")).at("artifacts_path"),
            std::filesystem::canonical(folder() / job).string());
  EXPECT_THAT(batch({"--dry-run"}).out,
              ::testing::ContainsRegex(" each.*, as 12 jobs of runs/g took"));
  const ToolResult report = tool({"report", "g", "--out", "r.html"});
  ASSERT_EQ(report.code, 0) << report.err;
  EXPECT_THAT(text("r.html"), HasSubstr("src=\"data:image/svg+xml;base64,"));
  EXPECT_THAT(text("r.html"), HasSubstr("<figcaption>heatmap.svg</figcaption>"));
  EXPECT_THAT(text("r.html"), HasSubstr("the prices are made, with a planted signal"));
  EXPECT_THAT(text("r.html"), HasSubstr("<figcaption>feature_importance.svg</figcaption>"));
  EXPECT_THAT(text("r.html"), Not(::testing::ContainsRegex("[0-9]e[+][0-9]+ per minute")));
}

// Twelve jobs shared two cores for 12 s: each would have taken 2 s on one of its own.
TEST_F(GbdtBatch, ForecastsByTheCoresThatJobsHad) {
  ASSERT_EQ(batch({"--name", "g", "n_estimators=5"}).code, 0);
  Database ledger(folder() / "runs/g/ledger.sqlite", Database::Access::write);
  ledger.execute("UPDATE attempt SET started = 1000, ended = 1012, slot = 11");
  ledger.execute("UPDATE fact SET value = '{\"cores\": 2}' WHERE key = 'machine'");
  cpu_set_t before, one;
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  CPU_ZERO(&one);
  for (int core = 0; core < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++core)
    if (CPU_ISSET(core, &before)) CPU_SET(core, &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  const std::string in_turn = batch({"--dry-run", "n_estimators=5", "--slots", "1"}).out,
                    crowded = batch({"--dry-run", "n_estimators=5", "--slots", "6"}).out;
  ::sched_setaffinity(0, sizeof before, &before);
  const std::string from = "as 12 jobs of runs/g took (12 s with 12 at once on 2 cores)\n";
  EXPECT_THAT(in_turn, HasSubstr("about 24 s: 12 jobs, 1 at once, 2 s each, " + from));
  EXPECT_THAT(crowded, HasSubstr("about 24 s: 12 jobs, 6 at once on 1 core, 2 s each on cores "
                                 "of its own, " +
                                 from));
}

TEST_F(GbdtBatch, IsAJobFileThatCanBeEditedAndRunAgain) {
  ASSERT_EQ(batch({"--name", "g", "n_estimators=5"}).code, 0);
  EXPECT_THAT(batch({"--name", "g", "n_estimators=6"}).err,
              HasSubstr("runs/g.toml is there already, with other jobs"));
  EXPECT_THAT(batch({"--name", "g", "n_estimators=5"}).err, HasSubstr("12 jobs"));
  std::string jobs = text("runs/g.toml");
  const std::string window =
      R"(  {"symbol" = "MADE01", "start" = "2022-01-01", "end" = "2022-06-30"},)";
  ASSERT_THAT(jobs, HasSubstr(window));
  jobs.replace(jobs.find(window), window.size(),
               R"({symbol = "MADE09", start = "2022-01-01", end = "2022-06-30"},)");
  write_file_atomic(folder() / "runs/g.toml", jobs);
  const ToolResult result = tool({"batch", "run", "runs/g.toml"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("MADE09_2022-01-01_to_2022-06-30"));
  EXPECT_THAT(text("runs/g/windows.csv"), Not(HasSubstr("MADE01,2022-01-01")));
  EXPECT_THAT(result.out, HasSubstr("expected 12 windows of 3 symbols, 1 to 6 of each"));
}

TEST_F(GbdtBatch, PredictsAndEvaluatesAsAWhole) {
  ASSERT_EQ(batch({"--name", "g"}).code, 0);
  const ToolResult evaluated = tool({"evaluate", "g"});
  EXPECT_EQ(evaluated.code, 0) << evaluated.err;
  EXPECT_THAT(evaluated.out, HasSubstr("MADE02_2024-06-19_to_2024-12-01 "));
  const ToolResult predicted = tool({"predict", "g", "end=2025-01-01"});
  EXPECT_EQ(predicted.code, 0) << predicted.err;
  EXPECT_THAT(predicted.err, HasSubstr("rows of 12 windows in "));
  EXPECT_GT(read_csv(folder() / "runs/g/predicted.csv").rows.size(), 3000u);
}

TEST_F(GbdtBatch, ComparesTheValuesOfAList) {
  const ToolResult result =
      batch({"--name", "g", "num_leaves=2,4", "data.made_symbols=1", "min_child_samples=5"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("num_leaves=2 "));
  EXPECT_THAT(result.out, HasSubstr("num_leaves=4 "));
  EXPECT_EQ(read_csv(folder() / "runs/g/settings.csv").rows.size(), 2u);
  EXPECT_THAT(read_csv(folder() / "runs/g/predictions.csv").columns, Contains("num_leaves"));
  EXPECT_THAT(tool({"evaluate", "g"}).out, HasSubstr("num_leaves=4 "));
  ASSERT_EQ(tool({"predict", "g", "out=p.csv"}).code, 0);
  EXPECT_THAT(read_csv(folder() / "p.csv").columns, Contains("num_leaves"));
}

TEST_F(GbdtBatch, ComparesTheValuesOfAParameterOfLightGbm) {
  const ToolResult result = batch({"--name", "g", "params.lambda_l2=1,10", "params=max_bin=63",
                                   "data.made_symbols=1", "n_estimators=5"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("params.lambda_l2=1 "));
  EXPECT_THAT(result.out, HasSubstr("params.lambda_l2=10 "));
  EXPECT_THAT(text("runs/g.toml"), HasSubstr("\"params=max_bin=63\""));
  const CsvTable settings = read_csv(folder() / "runs/g/settings.csv");
  ASSERT_EQ(settings.rows.size(), 2u);
  EXPECT_EQ(settings.rows[0][settings.column("setting")], "params.lambda_l2=1");
}

// Whatever ran before in its process, and whether it had one of its own.
TEST_F(GbdtBatch, EachWindowIsTheSameWhateverRanBeforeIt) {
  const auto models = [&](const std::string& name) {
    std::string all;
    for (const CsvTable windows = read_csv(folder() / "runs" / name / "windows.csv");
         const auto& row : windows.rows)
      all +=
          text(cat("runs/", name, "/jobs/", row[windows.column("symbol")], "_",
                   row[windows.column("start")], "_to_", row[windows.column("end")], "/model.txt"));
    return all;
  };
  ASSERT_EQ(batch({"--name", "kept", "--slots", "1"}).code, 0);
  std::string jobs = text("runs/kept.toml");
  const std::size_t word = jobs.find("\"kept\"");
  ASSERT_NE(word, jobs.npos);
  write_file_atomic(folder() / "runs/new.toml", jobs.replace(word, 6, "\"new\""));
  ASSERT_EQ(tool({"batch", "run", "runs/new.toml", "--slots", "1"}).code, 0);
  EXPECT_GT(models("kept").size(), 10'000u);
  EXPECT_EQ(models("kept"), models("new"));
}

// Several threads stay behind, so that such a window is no job for a process that runs others.
TEST_F(GbdtBatch, WindowsWithOneThreadAndWithSeveralTakeTurns) {
  std::string file = "workers = \"kept\"\noutputs = [\"model.txt\"]\ncommand = [\"";
  file += testing::program("lockstep");
  file +=
      "\", \"train\", \"gbdt\", \"n_estimators=5\", \"gbdt.threads={threads}\", \"seed={seed}\"]\n"
      "[matrix]\nseed = [1, 2, 3]\nthreads = [1, 2]\n";
  write_file_atomic(folder() / "b.toml", file);
  const ToolResult result = tool({"batch", "run", "b.toml", "--slots", "1"});
  ASSERT_EQ(result.code, 0) << result.err << result.out;
  EXPECT_THAT(result.out, HasSubstr("6 done of 6"));
  for (const char* threads : {"1", "2"})
    EXPECT_THAT(text(cat("runs/b/jobs/seed=3,threads=", threads, "/model.txt")),
                HasSubstr(cat("[num_threads: ", threads, "]")));
}

TEST_F(GbdtBatch, TellsHowBusyTheCoresWereOfEachSetting) {
  const ToolResult result =
      batch({"--name", "g", "num_leaves=2,4", "data.made_symbols=1", "min_child_samples=5"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("CPU busy\n"));
  const CsvTable settings = read_csv(folder() / "runs/g/settings.csv");
  EXPECT_GT(settings.number(0, settings.column("cpu_percent")).value_or(0), 0);
  EXPECT_EQ(settings.rows[0][settings.column("gpu_percent")], "");
}

TEST_F(GbdtBatch, LearnsWithEachObjectiveAndIsUsedAsAWhole) {
  const ToolResult result = batch({"--name", "g", "objective=multiclass", "n_estimators=10"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("macro F1"));
  EXPECT_THAT(read_csv(folder() / "runs/g/predictions.csv").columns, Contains("probability_flat"));
  EXPECT_EQ(read_csv(folder() / "runs/g/confusion.csv").rows.size(), 9u);
  EXPECT_THAT(text("runs/g/heatmap.svg"), HasSubstr("accuracy by symbol and window"));
  EXPECT_THAT(tool({"evaluate", "g"}).out, HasSubstr("macro F1"));
  ASSERT_EQ(tool({"predict", "g", "out=p.csv"}).code, 0);
  EXPECT_THAT(read_csv(folder() / "p.csv").columns, Contains("probability_up"));
  const ToolResult two = batch(
      {"--name", "two", "objective=regression,ranking", "data.made_symbols=1", "n_estimators=5"});
  ASSERT_EQ(two.code, 0) << two.err;
  EXPECT_THAT(two.out, HasSubstr("objective=ranking"));
  const CsvTable windows = read_csv(folder() / "runs/two/windows.csv");
  EXPECT_THAT(windows.columns, Contains("ndcg@5"));
  EXPECT_THAT(windows.columns, Contains("rmse"));
  const CsvTable predictions = read_csv(folder() / "runs/two/predictions.csv");
  ASSERT_EQ(tool({"predict", "two", "out=two.csv"}).code, 0);
  EXPECT_THAT(read_csv(folder() / "two.csv").columns,
              ::testing::ElementsAre("timestamp", "symbol", "window", "label", "prediction",
                                     "group", "score", "objective"));
  EXPECT_THAT(predictions.columns, Contains("score"));
  EXPECT_THAT(predictions.columns, Contains("prediction"));
}

TEST_F(GbdtBatch, TakesTablesWithoutATime) {
  std::string csv = "a,b,y\n";
  for (int row = 0; row < 100; ++row)
    csv += cat(row * 7 % 31, ",", row % 5, ",", row * 7 % 31, "\n");
  std::filesystem::create_directories(folder() / "tables");
  write_file_atomic(folder() / "tables/one.csv", csv);
  write_file_atomic(folder() / "tables/two.csv", csv);
  const ToolResult result =
      tool({"batch", "gbdt", "--name", "g", "data.path=tables", "features=*", "label=y",
            "objective=regression", "n_estimators=10", "min_child_samples=2", "window_days=9"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("window_days does nothing: the rows have no time"));
  EXPECT_TRUE(exists("runs/g/jobs/one/model.txt"));
  EXPECT_THAT(result.out, HasSubstr("expected 2 windows of 2 symbols, 1 of each: 2 succeeded"));
  EXPECT_THAT(tool({"predict", "g", "data.path=tables/one.csv", "out=p.csv"}).err,
              HasSubstr("one.csv is one file, but stands for the symbols one, two"));
}

TEST_F(GbdtBatch, NamesWindowsThatAreMissingAndWhy) {
  write_prices("AB");
  write_prices("CD");
  write_file_atomic(folder() / "list", "AB\n# not this\nCD\n");
  // The first window of each has too few bars before it. The last ends where labels still have
  // bars.
  const ToolResult result =
      tool({"batch", "gbdt", "--name", "g", "symbols=list", "data.path=prices", "start=2020-01-01",
            "n_estimators=5", "horizon=3", "window_days=180"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("2 windows will be skipped"));
  EXPECT_THAT(result.err,
              HasSubstr("in 4 of 4 windows that are not skipped num_leaves=127 cannot"));
  EXPECT_THAT(result.out,
              HasSubstr("AB 2 of 3, CD 2 of 3\n"
                        "missing: AB_2020-01-01_to_2020-06-29: skipped, features need"));
  EXPECT_EQ(read_csv(folder() / "runs/g/windows.csv").rows.size(), 6u);
  EXPECT_TRUE(exists("runs/g/jobs/AB_2020-12-26_to_2021-03-26/model.txt"));
  EXPECT_THAT(text("runs/g.toml"), HasSubstr("LOCKSTEP_BATCH_OPTIONS = \"window_days=180\"}"));
  EXPECT_THAT(tool({"batch", "gbdt", "--dry-run", "data.path=prices", "start=2020-06-01",
                    "end=2021-03-29", "horizon=3"})
                  .err,
              HasSubstr("the prices of AB end at 2021-03-28, but labels need 3 bars from "
                        "2021-03-29 on; end=2021-03-26 is early enough"));
}

TEST_F(GbdtBatch, WindowsThatASearchLeftOutAreNotMissing) {
  ASSERT_EQ(batch({"--name", "g", "num_leaves=2,4", "data.made_symbols=1"}).code, 0);
  Database(folder() / "runs/g/ledger.sqlite", Database::Access::write)
      .execute(
          "UPDATE job SET state = 'cancelled', reason = '--search chose other parameters' "
          "WHERE name LIKE '%num_leaves=4'");
  const ToolResult result = tool({"batch", "resume", "g"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("expected 6 windows of 1 symbol, 6 of each: 6 succeeded\n"));
  EXPECT_THAT(result.out, Not(HasSubstr("missing")));
}

TEST_F(GbdtBatch, RefusesWhatCannotBeBeforeItWritesAnything) {
  write_prices("AB");
  const auto refused = [&](const std::vector<std::string>& words) {
    const ToolResult result = batch(words);
    EXPECT_EQ(result.code, 2) << result.err;
    return result.err;
  };
  EXPECT_THAT(refused({"symbols=AC", "data.path=prices"}), HasSubstr("is it AB?"));
  EXPECT_THAT(refused({"symbols=AB,MADE01,AC"}),
              HasSubstr("the prices of AB, AC are nowhere: no data.path is given\n\nhint: "
                        "data.path=DIR names"));
  EXPECT_THAT(refused({"--symbols-file", "in.txt", "--skip-fetch", "--workers", "4"}),
              HasSubstr("write symbols=in.txt data.path=DIR --slots 4; leave out skip_fetch (DIR "
                        "has a file SYMBOL.csv"));
  EXPECT_THAT(refused({"--gpus", "2"}), HasSubstr("leave it out: with gbdt.device=gpu, a batch"));
  EXPECT_THAT(refused({"gpu_device_id=1"}), HasSubstr("write --devices 1"));
  EXPECT_THAT(refused({"gbdt.device=gpu", "gbdt.device_id=1"}), HasSubstr("sees the one GPU"));
  EXPECT_THAT(refused({"gbdt.device_id=1"}), HasSubstr("does nothing: gbdt.device is cpu"));
  EXPECT_THAT(refused({"gpus=2"}), HasSubstr("leave it out: with gbdt.device=gpu, a batch"));
  EXPECT_THAT(refused({"num_leaves=31,1"}), HasSubstr("num_leaves"));
  EXPECT_THAT(refused({"params=no_such=1"}), HasSubstr("no_such"));
  EXPECT_THAT(refused({"start=2030-01-01", "data.path=prices"}), HasSubstr("no window fits"));
  EXPECT_THAT(refused({"batch.global=8"}), HasSubstr("option of the engine"));
  EXPECT_THAT(refused({"threshold=9"}),
              HasSubstr("each of the 12 jobs would be skipped; the first, "
                        "MADE01_2022-01-01_to_2022-06-30, because all"));
  EXPECT_THAT(refused({"--seeds", "3"}), HasSubstr("lockstep batch gbdt seed=1,2,3"));
  for (const auto& words : std::vector<std::vector<std::string>>{{"--max-failure-rate", "0.15"},
                                                                 {"max_failure_rate=0.15"}})
    EXPECT_THAT(refused(words),
                HasSubstr("--write FILE.toml writes the job file of lockstep batch gbdt; set "
                          "max_failure_rate = 0.15 there"));
  EXPECT_THAT(refused({"retries=2"}), HasSubstr("a key of job files"));
  EXPECT_THAT(refused({"devices=0,1", "gbdt.device=gpu"}), HasSubstr("write --devices 0,1"));
  EXPECT_THAT(refused({"--resume", "--name", "base"}), HasSubstr("lockstep batch resume base "));
  EXPECT_THAT(refused({"-j", "4"}), HasSubstr("write --slots 4: jobs at once"));
  EXPECT_THAT(refused({"--symbols", "AB", "CD", "EF", "--name", "g"}),
              HasSubstr("write symbols=AB,CD,EF"));
  EXPECT_THAT(refused({"symbols=AB", "CD"}),
              HasSubstr("write symbols=AB,CD: the values of a list"));
  EXPECT_THAT(tool({"train", "gbdt", "--devices", "0,1"}).err,
              HasSubstr("lockstep batch gbdt --devices 0,1 spreads many over these GPUs"));
  EXPECT_THAT(tool({"batch", "run", "-j", "4", "g.toml"}).err, HasSubstr("write --slots 4"));
  EXPECT_THAT(tool({"batch", "run", "--num-workers=3"}).err, HasSubstr("write --slots 3"));
  EXPECT_THAT(tool({"batch", "retry", "--failed", "g"}).err,
              HasSubstr("lockstep batch retry BATCH runs all jobs that failed"));
  EXPECT_THAT(tool({"batch", "status", "--zzzzzz", "g"}).err,
              HasSubstr("its flags are --jobs, --failed, --running, --json: see lockstep batch"));
  EXPECT_THAT(tool({"doctor", "--gpu", "0"}).err, HasSubstr("it looks at all GPUs"));
  EXPECT_THAT(tool({"help", "max_failure_rate"}).out, HasSubstr("a key of job files"));
  EXPECT_THAT(refused({"--expect", "gpu_activity>=40%"}), HasSubstr("gbdt.device=gpu"));
  EXPECT_THAT(refused({"--measure"}), HasSubstr("--measure is of --dry-run"));
  EXPECT_THAT(refused({"--search", "--slots", "2"}), HasSubstr("leave one of them out"));
  const ToolResult no_gpu = testing::run_tool({"batch", "gbdt", "--name", "g", "gbdt.device=gpu"},
                                              folder(), {{"CUDA_VISIBLE_DEVICES", ""}});
  EXPECT_EQ(no_gpu.code, 2);
  EXPECT_THAT(no_gpu.err,
              HasSubstr("60 jobs need a GPU, and there is none\n\nhint: gbdt.device=cpu "
                        "trains on the CPU; lockstep doctor"));
  const ToolResult some = testing::run_tool(
      {"batch", "gbdt", "--name", "g", "data.made_symbols=2", "gbdt.device=cpu,gpu"}, folder(),
      {{"CUDA_VISIBLE_DEVICES", ""}});
  EXPECT_EQ(some.code, 2);
  EXPECT_THAT(some.err, HasSubstr("12 jobs need a GPU, and there is none"));
  EXPECT_THAT(tool({"plan", "gbdt"}).err, HasSubstr("lockstep batch gbdt --dry-run --measure"));
  EXPECT_THAT(tool({"plan", "gbdt", "--gpus", "T4x2"}).err,
              HasSubstr("lockstep batch gbdt --dry-run --measure"));
  EXPECT_THAT(tool({"batch", "gbtd"}).err, HasSubstr("did you mean lockstep batch gbdt?"));
  EXPECT_FALSE(exists("runs"));
}

TEST_F(GbdtBatch, ShowsJobsOrWritesTheirFileWithoutRunningThem) {
  const ToolResult dry = batch({"--dry-run"});
  EXPECT_EQ(dry.code, 0) << dry.err;
  EXPECT_THAT(dry.out, HasSubstr("MADE01_2022-01-01_to_2022-06-30"));
  EXPECT_THAT(dry.out, HasSubstr("12 jobs"));
  EXPECT_THAT(dry.out, HasSubstr("how long it takes is not known: no batch in "));
  EXPECT_THAT(dry.out, HasSubstr(" has had such jobs; --measure trains one to tell\n"));
  EXPECT_THAT(batch({"--dry-run", "--measure", "num_leaves=2,4"}).out,
              ::testing::ContainsRegex("about [0-9.]+ m?s: 24 jobs, [0-9]+ at once, [0-9.]+ m?s "
                                       "each, as one took that was trained to measure it\n"));
  EXPECT_EQ(batch({"--write", "g.toml"}).code, 0);
  EXPECT_TRUE(exists("g.toml"));
  // A comma behind a backslash is part of a value.
  EXPECT_EQ(batch({"--write", "one.toml", "params.metric=auc\\,binary_logloss"}).code, 0);
  EXPECT_THAT(text("one.toml"), HasSubstr(R"("params=metric=auc\\,binary_logloss")"));
  EXPECT_EQ(batch({"--write", "two.toml", "params.metric=auc\\,binary_logloss,auc"}).code, 0);
  EXPECT_THAT(text("two.toml"), HasSubstr(R"(["auc\\,binary_logloss", "auc"])"));
  EXPECT_FALSE(exists("runs"));
}

TEST_F(GbdtBatch, AWrongFlagIsRefusedBeforeAJobFileIsWritten) {
  for (const auto& [flag, value] :
       {std::pair{"--slots", "0"}, std::pair{"--grace", "soon"}, std::pair{"--log-limit-mb", "x"},
        std::pair{"--expect", "x"}, std::pair{"--halt", "x"}}) {
    const ToolResult result = batch({"--name", "g", flag, value});
    EXPECT_EQ(result.code, 2) << flag;
    EXPECT_THAT(result.err, Not(HasSubstr("job file"))) << flag;
    EXPECT_FALSE(exists("runs/g.toml")) << flag;
  }
}

}  // namespace
}  // namespace lockstep
