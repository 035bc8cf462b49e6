#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "core/media/csv_table.h"
#include "recipes/gbdt/batch/cpu_check.h"
#include "recipes/gbdt/batch/predictions.h"
#include "recipes/gbdt/batch/records.h"
#include "recipes/gbdt/batch/tables.h"
#include "recipes/gbdt/train/train_window.h"
#include "runtime/run/events/json_lines.h"
#include "with_lightgbm.h"

namespace lockstep::gbdt {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(MadePrices, AreTheSameInAllWindowsOfABatch) {
  GbdtOptions whole, window;
  window.table.set("start", "2024-01-01");
  window.table.set("end", "2024-06-29");
  const auto a = load_symbol(whole, "MADE02"), b = load_symbol(window, "MADE02");
  EXPECT_EQ(a->bars.stamps.at(0), b->bars.stamps.at(0));
  EXPECT_EQ(a->bars.close, b->bars.close);
}

TEST(CompareWithCpu, CountsCoresAgainstFourWindowsOnEachGpu) {
  const DeviceRates rates = device_rates(0.05, 16, 0.8, 2);
  EXPECT_DOUBLE_EQ(rates.cpu_per_minute, 19'200);
  EXPECT_DOUBLE_EQ(rates.gpu_per_minute, 600);
}

class Gather : public WithLightGbm {
 protected:
  // A window that a job of the batch trained.
  void train(const std::string& place, const char* start, const char* end, const char* leaves,
             const std::string& state = "done") {
    GbdtOptions options;
    options.table.set("num_leaves", leaves);
    const fs::path out = folder_.path() / place;
    fs::create_directories(out);
    train_window(options, *library_,
                 {.symbol = "MADE01",
                  .window = Window{*parse_day(start), *parse_day(end)},
                  .load = [&] { return load_symbol(options, "MADE01"); },
                  .folder = out,
                  .batch_id = "b",
                  .run_id = "r"},
                 [](const std::string&) {});
    end_.jobs.push_back({.name = fs::path(place).filename(), .state = state, .folder = out});
  }
  std::string gather() {
    end_.folder = folder_.path();
    return trainer.gather(end_);
  }
  std::string text(const char* file) const { return read_file(folder_.path() / file); }

  TemporaryDirectory folder_;
  DirectBatchEnd end_;
};

// Windows of the CPU stand in for those of a GPU: what counts is what their records say.
TEST_F(Gather, SaysWhereTheCpuIsFasterThanTheGpusOfTheBatch) {
  train("jobs/a", "2022-01-01", "2022-06-30", "31");
  EXPECT_THAT(gather(), Not(HasSubstr("the CPU is")));
  const auto on_gpu = [&](double seconds) {
    const fs::path file = folder_.path() / "jobs/a/metadata.json";
    auto metadata = nlohmann::json::parse(read_file(file));
    metadata["library"]["device"] = "gpu";
    metadata["library"]["gpu"] = "GPU-00";
    metadata["seconds"] = seconds;
    write_file_atomic(file, metadata.dump());
  };
  on_gpu(1000);
  EXPECT_THAT(gather(),
              HasSubstr("the CPU is faster for such windows: MADE01_2022-01-01_to_2022-06-"
                        "30 took 1000 s by OpenCL, and takes "));
  on_gpu(1e-6);
  EXPECT_THAT(gather(), HasSubstr("the CPU is not faster here: "));
}

TEST_F(Gather, MakesOneOfAllWindows) {
  train("jobs/a", "2022-01-01", "2022-06-30", "31");
  train("jobs/b", "2022-06-30", "2022-12-27", "31");
  const std::string shown = gather();
  EXPECT_THAT(shown, HasSubstr("MADE01_2022-01-01_to_2022-06-30"));
  EXPECT_THAT(shown, HasSubstr("windows.csv"));
  const CsvTable windows = read_csv(folder_.path() / "windows.csv");
  ASSERT_EQ(windows.rows.size(), 2u);
  EXPECT_THAT(windows.columns, Not(Contains("num_leaves")));
  EXPECT_EQ(windows.rows[1][windows.column("start")], "2022-06-30");
  EXPECT_EQ(windows.rows[1][windows.column("folder")], "jobs/b");
  EXPECT_GT(*windows.number(0, windows.column("auc")), 0.5);
  const CsvTable predictions = read_csv(folder_.path() / "predictions.csv");
  const CsvTable first = read_csv(folder_.path() / "jobs/a/predictions.csv");
  EXPECT_EQ(predictions.rows.at(0), first.rows.at(0));
  EXPECT_GT(predictions.rows.size(), first.rows.size());
  EXPECT_THAT(text("heatmap.svg"), HasSubstr("MADE01, 2022-06-30: 0."));
  const CsvTable settings = read_csv(folder_.path() / "settings.csv");
  ASSERT_EQ(settings.rows.size(), 1u);
  EXPECT_EQ(settings.rows[0][settings.column("success")], "2");
}

TEST_F(Gather, NamesSymbolsThatAreLeftOut) {
  train("jobs/a", "2022-01-01", "2022-06-30", "31");
  end_.left_out = {"CD: CD.csv, line 2: close is -1"};
  EXPECT_THAT(gather(), HasSubstr("expected 1 windows of 1 symbol, 1 of each: 1 succeeded; left "
                                  "out: CD\n"));
  const CsvTable windows = read_csv(folder_.path() / "windows.csv");
  ASSERT_EQ(windows.rows.size(), 2u);
  EXPECT_EQ(windows.rows[1][windows.column("symbol")], "CD");
  EXPECT_EQ(windows.rows[1][windows.column("status")], "left out");
  EXPECT_EQ(windows.rows[1][windows.column("why")], "CD.csv, line 2: close is -1");
}

TEST_F(Gather, TellsSettingsApart) {
  train("jobs/a", "2022-01-01", "2022-06-30", "31");
  train("jobs/b", "2022-01-01", "2022-06-30", "63");
  const std::string shown = gather();
  EXPECT_THAT(shown, HasSubstr("num_leaves=63"));
  EXPECT_THAT(read_csv(folder_.path() / "windows.csv").columns, Contains("num_leaves"));
  EXPECT_THAT(text("predictions.csv"),
              StartsWith("timestamp,symbol,window,label,probability,num_leaves\n"));
  EXPECT_TRUE(fs::exists(folder_.path() / "heatmap-num_leaves=63.svg"));
  write_file_atomic(folder_.path() / "heatmap-num_leaves=7.svg", "old");
  gather();
  EXPECT_FALSE(fs::exists(folder_.path() / "heatmap-num_leaves=7.svg"));
  EXPECT_TRUE(fs::exists(folder_.path() / "heatmap-num_leaves=63.svg"));
  EXPECT_EQ(read_csv(folder_.path() / "settings.csv").rows.size(), 2u);
}

TEST_F(Gather, SaysWhichSettingsMadeTheSameModels) {
  for (const char* leaves : {"127", "255", "2"}) {
    train(cat("jobs/a", leaves), "2022-01-01", "2022-06-30", leaves);
    train(cat("jobs/b", leaves), "2022-06-30", "2022-12-27", leaves);
  }
  end_.jobs[0].memory_bytes = 4096;
  const std::string shown = gather();
  const CsvTable windows = read_csv(folder_.path() / "windows.csv");
  EXPECT_THAT(windows.columns, Contains("gpu_memory_bytes"));
  EXPECT_EQ(windows.number(0, windows.column("memory_bytes")), 4096);
  EXPECT_THAT(shown, HasSubstr("settings num_leaves=127 and num_leaves=255 made the same models in "
                               "2 of 2 windows\n"));
  EXPECT_THAT(shown, Not(HasSubstr("and num_leaves=2 made")));
  EXPECT_THAT(shown, HasSubstr("expected 2 windows of 1 symbol, 2 of each, with each of 3 "
                               "settings: 6 succeeded"));
  const CsvTable settings = read_csv(folder_.path() / "settings.csv");
  EXPECT_LE(*settings.number(0, settings.column("most_leaves")), 4);
}

TEST(SameModels, AreNamedPairByPairWhereMostAreTheSame) {
  BatchRecords records;
  for (const char* leaves : {"127", "255"})
    for (int i = 0; i < 36; ++i) {
      WindowRecord window{.symbol = "A", .start = cat(i), .status = "success"};
      window.setting = {{"num_leaves", leaves}};
      window.metadata = {{"model", {{"trees_hash", cat(i < 34 ? "" : leaves, i)}}}};
      records.windows.push_back(std::move(window));
    }
  EXPECT_EQ(same_models_text(records),
            "settings num_leaves=127 and num_leaves=255 made the same models in 34 of 36 "
            "windows\n");
  for (WindowRecord& window : records.windows)
    window.metadata["model"]["trees_hash"] = cat(setting_text(window), window.start);
  EXPECT_EQ(same_models_text(records), "");
}

TEST_F(Gather, SaysOfHowManySettingsThereIsNoMap) {
  train("jobs/0", "2022-01-01", "2022-06-30", "31");
  const fs::path first = folder_.path() / "jobs/0/metadata.json";
  for (int i = 1; i < 22; ++i) {
    auto metadata = nlohmann::json::parse(read_file(first));
    metadata["options"]["num_leaves"] = 31 + i;
    const fs::path job = folder_.path() / cat("jobs/", i);
    fs::create_directories(job);
    write_file_atomic(job / "metadata.json", metadata.dump());
    end_.jobs.push_back({.name = cat(i), .state = "done", .folder = job});
  }
  EXPECT_THAT(gather(), HasSubstr("no map of 2 more settings\n"));
}

TEST_F(Gather, TellsHowBusyCoresAndGpusWereAndNeverZeroOfWhatWasNotSeen) {
  train("jobs/a", "2022-01-01", "2022-06-30", "31");
  train("jobs/b", "2022-01-01", "2022-06-30", "63");
  end_.activity = [](const std::set<std::string>& jobs) {
    DirectActivity activity{.on_gpus = true, .cpu_percent = 97.4};
    if (jobs == std::set<std::string>{"b"}) activity.gpu_percent = 41.6;
    return activity;
  };
  const std::string shown = gather();
  EXPECT_THAT(shown, HasSubstr("CPU busy"));
  EXPECT_THAT(shown, HasSubstr("97 %  too short to tell\n"));
  EXPECT_THAT(shown, HasSubstr(cat("97 %", std::string(15, ' '), "42 %\n")));
  const CsvTable settings = read_csv(folder_.path() / "settings.csv");
  EXPECT_EQ(settings.rows[0][settings.column("gpu_percent")], "");
  EXPECT_EQ(settings.number(1, settings.column("gpu_percent")), 41.6);
}

TEST(Predictions, KeepLineBreaksInQuotesAndAllColumns) {
  EXPECT_THAT(csv_lines("a,b\n1,\"x\ny\"\n\n2,\"\"\"\"\n"),
              ElementsAre("a,b", "1,\"x\ny\"", "2,\"\"\"\""));
  const BatchRecords records{.windows = {{.label = "w"}, {.label = "v"}}};
  EXPECT_EQ(all_predictions(records, {{&records.windows[0], {"a", "b"}, {"1,\"x\ny\""}},
                                      {&records.windows[1], {"a", "c"}, {"2,3"}}}),
            "a,b,c\n1,\"x\ny\",\n2,,3\n");
}

TEST(BatchText, MixesNoObjectives) {
  const std::vector<double> right = {0.9, 0.1}, wrong = {0.1, 0.9}, labels = {1, 0};
  BatchRecords records{.windows = {}, .keys = {"objective"}};
  const auto add = [&](const char* objective, const std::vector<double>& scores) {
    WindowRecord window{.symbol = "A", .status = "success"};
    window.setting = {{"objective", objective}};
    window.metrics = binary_metrics({.scores = scores, .labels = labels});
    records.windows.push_back(std::move(window));
  };
  add("binary", right);
  add("multiclass", wrong);
  const std::string text = batch_text(records, {}, 0);
  EXPECT_THAT(text, HasSubstr("A binary               1     1"));
  EXPECT_THAT(text, HasSubstr("A multiclass           1     1"));
}

// Of windows of 2 and 6 rows: AUC 1 and 0.
TEST(BatchText, NamesBothMeansOfWindows) {
  const std::vector<double> right = {0.9, 0.1}, labels = {1, 0};
  const std::vector<double> wrong = {0.1, 0.2, 0.3, 0.7, 0.8, 0.9}, more = {1, 1, 1, 0, 0, 0};
  BatchRecords records;
  for (const bool good : {true, false}) {
    WindowRecord window{.symbol = "A", .status = "success"};
    window.metadata = {{"sample_counts", {{"train", 9}}}, {"model", {{"trees", 1}}}};
    window.metrics = good ? binary_metrics({.scores = right, .labels = labels})
                          : binary_metrics({.scores = wrong, .labels = more});
    records.windows.push_back(std::move(window));
  }
  const std::vector<SettingResult> results = setting_results(records);
  ASSERT_EQ(results.size(), 1u);
  EXPECT_DOUBLE_EQ(results[0].metrics.value("auc").estimate, 0.25) << "by rows";
  EXPECT_DOUBLE_EQ(results[0].means.value("auc").estimate, 0.5);
  const std::string text = batch_text(records, results);
  EXPECT_THAT(text, HasSubstr("all, by rows"));
  EXPECT_THAT(text, ::testing::ContainsRegex("  mean of windows +0\\.500 +0\\.500"));
  const ItemTable table = setting_table(results);
  EXPECT_THAT(table.columns, Contains("auc_mean_of_windows"));
}

TEST_F(Gather, LinksWhereThingsLieAndGivesTheLineOfEachWindow) {
  train("attempts/2", "2022-01-01", "2022-01-10", "31", "skipped");
  train("jobs/a", "2022-06-30", "2022-12-27", "31");
  const std::string shown = gather();
  EXPECT_THAT(shown, HasSubstr("missing: MADE01_2022-01-01_to_2022-01-10: skipped, it has "));
  EXPECT_EQ(read_csv(folder_.path() / "windows.csv").rows.size(), 2u);
  std::vector<nlohmann::json> lines;
  for_each_line(folder_.path() / "teacher_runs.json",
                [&](const std::string& line) { lines.push_back(nlohmann::json::parse(line)); });
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0]["status"], "skipped");
  EXPECT_EQ(lines[1]["artifacts_path"], (folder_.path() / "jobs/a").string());
}

TEST_F(Gather, NamesWindowsOfWhichNothingIsLeft) {
  train("jobs/a", "2022-01-01", "2022-06-30", "31");
  end_.jobs.push_back({.name = "MADE02_x",
                       .parameters = {{"symbol", "MADE02"}, {"start", "2022-01-01"}},
                       .state = "failed",
                       .reason = "ended by SIGKILL"});
  end_.jobs.push_back(
      {.name = "MADE02_y", .parameters = {{"symbol", "MADE02"}}, .state = "waiting"});
  const std::string shown = gather();
  EXPECT_THAT(shown, HasSubstr("expected 3 windows of 2 symbols, 1 to 2 of each: 1 succeeded; "
                               "MADE02 0 of 2\nmissing: MADE02_x: failed, ended by SIGKILL\n"
                               "1 window is waiting\n"));
  EXPECT_EQ(read_csv(folder_.path() / "windows.csv").rows.size(), 3u);
}

// Such as after Ctrl-C, where most windows wait.
TEST_F(Gather, CountsWindowsThatWaitAndNamesTheSettingOfOthersOnce) {
  train("jobs/a", "2022-01-01", "2022-06-30", "31");
  for (const char* name : {"MADE02_x,num_leaves=63", "MADE02_y,num_leaves=63", "z"})
    end_.jobs.push_back({.name = name,
                         .parameters = {{"symbol", "MADE02"}, {"num_leaves", "63"}},
                         .state = "waiting"});
  end_.jobs[1].state = end_.jobs[3].state = "failed";
  end_.jobs.push_back({.name = "w",
                       .parameters = {{"symbol", "MADE02"}, {"num_leaves", "63"}},
                       .state = "waiting"});
  const std::string shown = gather();
  EXPECT_THAT(shown, HasSubstr("missing: MADE02_x,num_leaves=63: failed\n"));
  EXPECT_THAT(shown, HasSubstr("missing: z num_leaves=63: failed\n"));
  EXPECT_THAT(shown, HasSubstr("2 windows are waiting\n"));
  EXPECT_THAT(shown, Not(HasSubstr(": waiting")));
}

TEST_F(Gather, TakesNoValidationForATest) {
  train("jobs/a", "2022-01-01", "2022-06-30", "31");
  train("jobs/b", "2022-06-30", "2022-12-27", "31");
  const auto without_test = [&](const char* job) {
    const fs::path file = folder_.path() / job / "metadata.json";
    auto metadata = nlohmann::json::parse(read_file(file));
    metadata["metrics"].erase("test");
    metadata["sample_counts"]["test"] = 0;
    write_file_atomic(file, metadata.dump());
  };
  without_test("jobs/b");
  const std::string shown = gather();
  EXPECT_THAT(shown, HasSubstr("1 window was only validated, without rows to test on"));
  EXPECT_THAT(shown, HasSubstr("  tested"));
  const CsvTable windows = read_csv(folder_.path() / "windows.csv");
  EXPECT_EQ(windows.rows[1][windows.column("status")], "success");
  EXPECT_EQ(windows.rows[1][windows.column("auc")], "");
  const CsvTable settings = read_csv(folder_.path() / "settings.csv");
  EXPECT_EQ(settings.rows[0][settings.column("success")], "2");
  EXPECT_EQ(settings.number(0, settings.column("accuracy")),
            windows.number(0, windows.column("accuracy")));
  without_test("jobs/a");
  const std::string validated = gather();
  EXPECT_THAT(validated, HasSubstr("  validated"));
  EXPECT_THAT(validated, Not(HasSubstr("only validated")));
  EXPECT_GT(read_csv(folder_.path() / "windows.csv").number(1, windows.column("auc")), 0);
}

TEST_F(Gather, DrawsWhatEachFeatureIsWorthOverAllWindows) {
  train("jobs/a", "2022-01-01", "2022-06-30", "31");
  train("jobs/b", "2022-06-30", "2022-12-27", "31");
  const fs::path a = folder_.path() / "jobs/a/feature_importance.csv",
                 b = folder_.path() / "jobs/b/feature_importance.csv";
  write_file_atomic(a, "feature,importance,rank,gain\nx,3,1,9\ny,1,2,1\n");
  write_file_atomic(b, "feature,importance,rank,gain\nx,0,1,0\ny,0,2,0\n");
  EXPECT_THAT(gather(), HasSubstr("feature_importance.csv, feature_importance.svg, heatmap.svg"));
  EXPECT_EQ(text("feature_importance.csv"),
            "feature,gain_share,split_share,windows\nx,0.9,0.75,1\ny,0.1,0.25,1\n")
      << "a window without a split counts for nothing";
  EXPECT_THAT(text("feature_importance.svg"), HasSubstr("<svg"));
  write_file_atomic(b, "feature,importance,rank,gain\ny,5,1,2\n");
  gather();
  EXPECT_EQ(text("feature_importance.csv"),
            "feature,gain_share,split_share,windows\nx,0.9,0.75,1\ny,0.55,0.625,2\n")
      << "the other window has no x";
}

TEST_F(Gather, SaysWhereAnotherMetricEndedTraining) {
  train("jobs/a", "2022-01-01", "2022-06-30", "31");
  EXPECT_THAT(gather(), Not(HasSubstr("tell models apart")));
  const fs::path file = folder_.path() / "jobs/a/metadata.json";
  auto metadata = nlohmann::json::parse(read_file(file));
  metadata["model"]["metric_asked"] = "auc";
  write_file_atomic(file, metadata.dump());
  EXPECT_THAT(gather(),
              HasSubstr("auc cannot tell models apart on the validation rows of 1 window: "
                        "binary_logloss ended training there "
                        "(MADE01_2022-01-01_to_2022-06-30)\n"));
}

TEST_F(Gather, TakesNoResultOfAJobThatFailedAfterIt) {
  train("attempts/1", "2022-01-01", "2022-06-30", "31", "failed");
  EXPECT_THAT(gather(), HasSubstr("0 succeeded; MADE01 0 of 1\nmissing: "));
}

TEST_F(Gather, OfMetadataThatCannotBeReadSaysSo) {
  const fs::path job = folder_.path() / "jobs/a";
  fs::create_directories(job);
  write_file_atomic(job / "metadata.json", "{}");
  end_.jobs.push_back({.name = "a", .state = "done", .folder = job});
  EXPECT_THAT(gather(),
              HasSubstr("missing: a: done, " + job.string() + "/metadata.json cannot be read"));
}

// Of before there were two sets of features, and made data with a seed of their own.
TEST(WindowRecords, OfEarlierTrainingsHaveTheFirstSetAndDataByTheirSeed) {
  WindowRecord record{.symbol = "X"};
  record.metadata = {{"options", {{"seed", 7}}}};
  GbdtOptions old;
  set_recorded(record, old);
  EXPECT_EQ(old.feature_set, FeatureSet::v1);
  EXPECT_EQ(old.data.made_seed, 7);
  EXPECT_FALSE(old.table.is_given("feature_set"));
  record.metadata["options"]["feature_set"] = "v2";
  record.metadata["options"]["data.made_seed"] = 3;
  GbdtOptions options;
  set_recorded(record, options);
  EXPECT_EQ(options.feature_set, FeatureSet::v2);
  EXPECT_EQ(options.data.made_seed, 3);
}

TEST(MadePrices, DependOnTheirOwnSeedAlone) {
  GbdtOptions one, other, third;
  other.seed = 7;
  third.data.made_seed = 7;
  const auto prices = load_symbol(one, "MADE01");
  EXPECT_EQ(prices->bars.close, load_symbol(other, "MADE01")->bars.close);
  EXPECT_NE(prices->bars.close, load_symbol(third, "MADE01")->bars.close);
  one.data.made_rows = other.data.made_rows = 9;
  EXPECT_EQ(load_symbol(one, "a")->bars.own, load_symbol(other, "a")->bars.own);
}

TEST_F(Gather, TellsTheSetsOfFeaturesApart) {
  train("jobs/a", "2022-01-01", "2022-06-30", "31");
  train("jobs/b", "2022-06-30", "2022-12-27", "31");
  const fs::path file = folder_.path() / "jobs/a/metadata.json";
  auto metadata = nlohmann::json::parse(read_file(file));
  metadata["options"].erase("feature_set");
  metadata["options"].erase("data.made_seed");
  write_file_atomic(file, metadata.dump());
  const std::string shown = gather();
  EXPECT_THAT(shown, HasSubstr("feature_set=v1 "));
  EXPECT_THAT(shown, HasSubstr("feature_set=v2 "));
}

TEST(WindowRecords, NameNoLibraryToLoad) {
  WindowRecord record{.symbol = "X"};
  record.metadata = {{"options", {{"gbdt.library", "/there/evil.so"}, {"gbdt.threads", 3}}}};
  GbdtOptions options;
  set_recorded(record, options);
  EXPECT_EQ(options.gbdt.library, "");
  EXPECT_EQ(options.gbdt.threads, 3);
}

}  // namespace
}  // namespace lockstep::gbdt
