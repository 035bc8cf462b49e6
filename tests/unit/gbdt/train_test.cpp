#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <array>
#include <filesystem>
#include <set>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "fakes/error_of.h"
#include "recipes/gbdt/train/artefacts.h"
#include "recipes/gbdt/train/stopping_metric.h"
#include "recipes/gbdt/train/telemetry.h"
#include "recipes/gbdt/train/train_window.h"
#include "runtime/run/events/json_lines.h"
#include "with_lightgbm.h"

namespace lockstep::gbdt {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string gunzip(const fs::path& file) {
  gzFile in = gzopen(file.c_str(), "rb");
  std::string text;
  std::array<char, 4096> buffer{};
  for (int n = 0; (n = gzread(in, buffer.data(), buffer.size())) > 0;)
    text.append(buffer.data(), static_cast<std::size_t>(n));
  gzclose(in);
  return text;
}

std::vector<json> lines_of(const fs::path& file) {
  std::vector<json> lines;
  for_each_line(file, [&](const std::string& line) { lines.push_back(json::parse(line)); });
  return lines;
}

class TrainWindow : public WithLightGbm {
 protected:
  WindowResult train(const char* start, const char* end) {
    return train_window(options_, *library_,
                        {.symbol = "MADE01",
                         .window = Window{*parse_day(start), *parse_day(end)},
                         .load = [this] { return load_symbol(options_, "MADE01"); },
                         .folder = folder_.path(),
                         .published = published_,
                         .batch_id = "b7",
                         .run_id = "r1"},
                        [this](const std::string& line) { said_.push_back(line); });
  }
  json ledger() const {
    const auto lines = lines_of(folder_.path() / "teacher_runs.json");
    EXPECT_EQ(lines.size(), 1u);
    return lines.at(0);
  }

  TemporaryDirectory folder_;
  fs::path published_;
  GbdtOptions options_;
  std::vector<std::string> said_;
};

TEST_F(TrainWindow, FindsThePlantedSignalAndWritesAllFiles) {
  const WindowResult result = train("2022-01-01", "2024-06-30");
  EXPECT_EQ(result.status, DirectResult::Status::success);
  EXPECT_GT(result.test.value("auc").estimate, 0.6);
  EXPECT_GT(result.test.value("auc").low, 0.5);
  for (const char* file :
       {"model.txt", "labels.csv.gz", "predictions.csv", "feature_importance.csv", "metadata.json",
        "teacher_runs.json", "training_run_r1.jsonl"})
    EXPECT_TRUE(fs::is_regular_file(folder_.path() / file)) << file;
  EXPECT_THAT(read_file(folder_.path() / "model.txt"), StartsWith("tree\nversion=v4\n"));
  EXPECT_THAT(read_file(folder_.path() / "feature_importance.csv"),
              StartsWith("feature,importance,rank,gain\n"));
  const std::string labels = gunzip(folder_.path() / "labels.csv.gz");
  EXPECT_THAT(labels, StartsWith("timestamp,split,close,forward_return,label\n2022-01-03,train,"));
  EXPECT_THAT(labels, HasSubstr(",test,"));
  const std::string predictions = read_file(folder_.path() / "predictions.csv");
  EXPECT_THAT(predictions, StartsWith("timestamp,symbol,window,label,probability\n"));
  EXPECT_THAT(predictions, HasSubstr("MADE01_2022-01-01_to_2024-06-30,"));
}

TEST_F(TrainWindow, RecordsWhatTheBoosterUsedBesideWhatWasAsked) {
  options_.table.set("num_leaves", "31");
  options_.table.set("n_estimators", "20");
  const json metadata = train("2022-01-01", "2022-12-31").metadata;
  EXPECT_EQ(metadata.at("parameters").at("asked").at("num_leaves"), "31");
  EXPECT_EQ(metadata.at("parameters").at("used").at("num_leaves"), "31");
  EXPECT_EQ(metadata.at("parameters").at("used").at("bagging_fraction"), "0.8");
  EXPECT_EQ(metadata.at("parameters").at("used").at("bagging_freq"), "1");
  EXPECT_LE(metadata.at("model").at("trees"), 20);
  EXPECT_EQ(metadata.at("library").at("version"), "4.7.0");
  EXPECT_EQ(metadata.at("data").at("made"), true);
  EXPECT_FALSE(metadata.at("options").contains("run.root"));  // a job is not told it
  for (const char* phase : {"features", "training", "evaluation"})
    EXPECT_TRUE(metadata.at("phases").contains(phase)) << phase;
  EXPECT_THAT(said_, Contains(HasSubstr("num_leaves=31 may not be reached: ")));
}

TEST(TrainWindowOptions, HaveThoseOfTheBatchThatTheJobWasNotGiven) {
  GbdtOptions options;
  options.table.set("stride_days", "20");
  const json recorded =
      recorded_options(options, "window_days=60 stride_days=7 no_such=1 horizon=x y");
  EXPECT_EQ(recorded.at("window_days"), 60);
  EXPECT_EQ(recorded.at("stride_days"), 20);
  EXPECT_FALSE(recorded.contains("no_such") || recorded.contains("run.root"));
  EXPECT_EQ(recorded.at("horizon"), GbdtOptions().horizon);
}

TEST_F(TrainWindow, TellsABatchWhatWasUsedAndHowGoodItIs) {
  options_.table.set("num_leaves", "31");
  options_.table.set("n_estimators", "20");
  const fs::path events = folder_.path() / "events.jsonl";
  ::setenv("LOCKSTEP_EVENTS", events.c_str(), 1);
  const json metadata = train("2022-01-01", "2022-12-31").metadata;
  ::unsetenv("LOCKSTEP_EVENTS");
  json results;
  for (const json& line : lines_of(events))
    if (line.contains("results")) results = line["results"];
  EXPECT_EQ(results.at("used.num_leaves"), 31);
  EXPECT_EQ(results.at("data"), metadata.at("data").at("hash"));
  EXPECT_EQ(results.at("rows.train"), metadata.at("sample_counts").at("train"));
  EXPECT_EQ(results.at("trees"), metadata.at("model").at("trees"));
  EXPECT_EQ(results.at("model_hash"), metadata.at("model").at("trees_hash"));
  EXPECT_EQ(results.at("test.auc"), metadata.at("metrics").at("test").at("auc"));
}

TEST_F(TrainWindow, WritesALedgerLineOfTheKnownForm) {
  train("2022-01-01", "2022-06-30");
  const json line = ledger();
  EXPECT_EQ(line.at("batch_id"), "b7");
  EXPECT_EQ(line.at("symbol"), "MADE01");
  EXPECT_EQ(line.at("date_range"), json({{"start", "2022-01-01"}, {"end", "2022-06-30"}}));
  EXPECT_EQ(line.at("window_label"), "MADE01_2022-01-01_to_2022-06-30");
  EXPECT_EQ(line.at("status"), "success");
  EXPECT_EQ(line.at("attempts"), 1);
  EXPECT_EQ(line.at("incremental"), false);
  EXPECT_EQ(line.at("feature_set").size(), 15u);
  EXPECT_GT(line.at("sample_counts").at("train"), 50);
  EXPECT_TRUE(line.at("metrics").contains("auc"));
  const json& teacher = line.at("teacher_hyperparameters");
  EXPECT_EQ(teacher.size(), 10u);
  EXPECT_EQ(teacher.at("num_leaves"), 127);
  EXPECT_EQ(teacher.at("subsample"), 0.8);
  EXPECT_EQ(teacher.at("gpu_platform_id"), -1);
}

TEST_F(TrainWindow, NamesThePlaceWhereABatchMovesItsFiles) {
  train("2022-01-01", "2022-06-30");
  EXPECT_EQ(ledger().at("artifacts_path"), folder_.path().string());
  published_ = "/batch/jobs/x";
  train("2022-01-01", "2022-06-30");
  EXPECT_EQ(ledger().at("artifacts_path"), "/batch/jobs/x");
  train("2022-01-01", "2022-01-10");
  EXPECT_EQ(ledger().at("artifacts_path"), folder_.path().string()) << "it is skipped: it stays";
}

TEST_F(TrainWindow, TellsItsPhasesAsItGoes) {
  train("2022-01-01", "2022-06-30");
  std::vector<std::string> events;
  for (const json& line : lines_of(folder_.path() / "training_run_r1.jsonl")) {
    EXPECT_EQ(line.at("run_id"), "r1");
    EXPECT_EQ(line.at("window_label"), "MADE01_2022-01-01_to_2022-06-30");
    EXPECT_EQ(line.size(), 10u);
    const json& phase = line.at("phase");
    events.push_back(cat(line.at("event_type").get<std::string>(), " ",
                         phase.is_null() ? "" : phase.get<std::string>()));
  }
  EXPECT_THAT(events, ::testing::ElementsAre("run_start ", "teacher_window_start ",
                                             "phase_start features", "phase_end features",
                                             "phase_start training", "phase_end training",
                                             "phase_start prediction", "phase_end prediction",
                                             "phase_start evaluation", "phase_end evaluation",
                                             "teacher_window_success ", "run_end "));
}

// As a job of a batch, whose options say the window, and as `train`, which has read the prices
// ahead.
TEST_F(TrainWindow, NamesItsWindowInEveryEventBeforeThePricesAreRead) {
  const auto labels = [&](double loaded_ahead_s) {
    train_window(options_, *library_,
                 {.symbol = "MADE01",
                  .load = [this] { return load_symbol(options_, "MADE01"); },
                  .loaded_ahead_s = loaded_ahead_s,
                  .folder = folder_.path(),
                  .run_id = "r1"},
                 [](const std::string&) {});
    std::set<std::string> all;
    for (const json& line : lines_of(folder_.path() / "training_run_r1.jsonl"))
      all.insert(line.at("window_label").is_null() ? "null"
                                                   : line.at("window_label").get<std::string>());
    fs::remove(folder_.path() / "training_run_r1.jsonl");
    return all;
  };
  EXPECT_THAT(labels(0.1), ::testing::ElementsAre("MADE01_2022-01-01_to_2022-06-30"));
  options_.start = "2022-06-30";
  options_.end = "2022-12-27";
  EXPECT_THAT(labels(0), ::testing::ElementsAre("MADE01_2022-06-30_to_2022-12-27"));
}

TEST_F(TrainWindow, IsSkippedWithAReasonWhereItIsTooShort) {
  const WindowResult result = train("2022-01-01", "2022-01-10");
  EXPECT_EQ(result.status, DirectResult::Status::skipped);
  EXPECT_THAT(result.skip_reason, HasSubstr("fewer than 20"));
  EXPECT_EQ(ledger().at("status"), "skipped");
  EXPECT_EQ(ledger().at("skip_reason"), result.skip_reason);
  EXPECT_FALSE(fs::exists(folder_.path() / "model.txt"));
  EXPECT_THAT(lines_of(folder_.path() / "training_run_r1.jsonl"),
              Contains(::testing::ResultOf(
                  [](const json& line) { return line.at("event_type").get<std::string>(); },
                  "teacher_window_skip")));
}

TEST_F(TrainWindow, ThatFailsIsInTheLedgerWithItsError) {
  options_.params = {"objective=no_such"};
  EXPECT_THROW(train("2022-01-01", "2022-06-30"), Error);
  EXPECT_EQ(ledger().at("status"), "failed");
  EXPECT_THAT(ledger().at("error").get<std::string>(), HasSubstr("objective"));
}

TEST_F(TrainWindow, WithoutItsPricesIsInTheLedgerToo) {
  options_.data.path = "/proc/self/none";
  EXPECT_THROW(train("2022-01-01", "2022-06-30"), Error);
  EXPECT_EQ(ledger().at("status"), "failed");
}

TEST(StoppingMetric, IsOneThatTellsModelsApart) {
  const Objective& binary = find_objective("binary");
  const std::vector<std::string> two = {"0", "1"}, three = {"down", "flat", "up"};
  const Rows both{.values = {}, .labels = {0, 1, 0}}, zeros{.values = {}, .labels = {0, 0, 0}};
  EXPECT_EQ(stopping_metric("auc", binary, both, two).used, "auc");
  const StoppingMetric other = stopping_metric("AUC", binary, zeros, two);
  EXPECT_EQ(other.used, "binary_logloss");
  EXPECT_EQ(other.list, "binary_logloss,auc");
  EXPECT_EQ(other.why_blind, "all 3 have the label 0");
  EXPECT_EQ(stopping_metric("average_precision,binary_error", binary, zeros, two).list,
            "binary_error,average_precision");
  EXPECT_EQ(stopping_metric("binary_logloss", binary, zeros, two).why_blind, "");
  EXPECT_EQ(stopping_metric("None", binary, both, two).asked, "");
  EXPECT_EQ(stopping_metric("auc_mu", find_objective("multiclass"), both, three).used,
            "multi_logloss");
  const Rows same{.values = {}, .labels = {2, 2, 1}, .groups = {2, 1}},
      ordered{.values = {}, .labels = {2, 1, 1}, .groups = {2, 1}},
      relevant{.values = {}, .labels = {2, 0, 1}, .groups = {2, 1}};
  EXPECT_EQ(stopping_metric("ndcg", find_objective("ranking"), same, {}).used, "");
  EXPECT_EQ(stopping_metric("map", find_objective("ranking"), relevant, {}).used, "map");
  // To LightGBM's MAP labels above 0 are one: 1 whatever the model.
  const StoppingMetric map = stopping_metric("map", find_objective("ranking"), ordered, {});
  EXPECT_EQ(map.used, "ndcg");
  EXPECT_EQ(map.why_blind, "no group has rows of the label 0 and of others");
  EXPECT_EQ(stopping_metric("r2", find_objective("regression"), zeros, {}).used, "l2");
}

// A label that rises for good before validation begins.
TEST_F(TrainWindow, StopsByAnotherMetricWhereTheAucCannotTellModelsApart) {
  std::string csv = "x,y\n";
  for (int row = 0; row < 100; ++row)
    csv += cat(row * 37 % (row < 60 ? 101 : 51), ",", row < 60 && row * 37 % 101 > 50, "\n");
  write_file_atomic(folder_.path() / "t.csv", csv);
  for (const auto& [key, value] :
       {std::pair{"features", "x"}, std::pair{"label", "y"}, std::pair{"split.shuffle", "false"},
        std::pair{"min_child_samples", "3"}, std::pair{"n_estimators", "30"},
        std::pair{"params", "metric=auc"}})
    options_.table.set(key, value);
  options_.table.set("data.path", (folder_.path() / "t.csv").string());
  const auto train_table = [&] {
    return train_window(options_, *library_,
                        {.symbol = "t",
                         .window = Window{.is_everything = true},
                         .load = [this] { return load_symbol(options_, "t"); },
                         .folder = folder_.path(),
                         .batch_id = "",
                         .run_id = "r"},
                        [this](const std::string& line) { said_.push_back(line); })
        .metadata;
  };
  const json metadata = train_table();
  EXPECT_THAT(said_, Contains("t: auc cannot tell models apart on the validation rows, because all "
                              "16 have the label 0: binary_logloss ends training instead"));
  EXPECT_EQ(metadata.at("model").at("metric"), "binary_logloss");
  EXPECT_EQ(metadata.at("model").at("metric_asked"), "auc");
  EXPECT_GT(metadata.at("model").at("trees"), 1);
  options_.table.set("params", "metric=None");
  EXPECT_EQ(train_table().at("model").at("trees"), 30);
  EXPECT_THAT(said_, Contains("t: metric=None: nothing ends training before its last tree"));
}

TEST_F(TrainWindow, GivesTheSameModelEachTime) {
  train("2022-01-01", "2022-06-30");
  const std::string first = read_file(folder_.path() / "model.txt");
  train("2022-01-01", "2022-06-30");
  EXPECT_EQ(read_file(folder_.path() / "model.txt"), first);
}

TEST_F(TrainWindow, LearnsEachObjectiveFromMadePrices) {
  options_.table.set("n_estimators", "30");
  const auto metrics_with = [&](const char* objective) {
    options_.objective = objective;
    const json metadata = train("2022-01-01", "2023-06-30").metadata;
    EXPECT_EQ(metadata.at("status"), "success");
    return metadata.at("metrics").at("test");
  };
  EXPECT_GT(metrics_with("regression").at("spearman"), 0.1);
  EXPECT_THAT(read_file(folder_.path() / "predictions.csv"),
              StartsWith("timestamp,symbol,window,label,prediction\n"));
  EXPECT_GT(metrics_with("huber").at("rows"), 300);
  const json classes = metrics_with("multiclass");
  EXPECT_TRUE(classes.contains("macro_f1"));
  EXPECT_EQ(classes.at("confusion").size(), 3u);
  EXPECT_THAT(read_file(folder_.path() / "predictions.csv"),
              StartsWith("timestamp,symbol,window,label,prediction,probability_down,"
                         "probability_flat,probability_up\n"));
  const json ranking = metrics_with("ranking");
  EXPECT_GT(ranking.at("ndcg@5"), ranking.at("base_ndcg@10"));
  EXPECT_THAT(read_file(folder_.path() / "predictions.csv"),
              StartsWith("timestamp,symbol,window,group,label,score\n"));
}

TEST_F(TrainWindow, StopsByTheMetricOfItsObjective) {
  const auto metric_with = [&](const char* objective) {
    options_.objective = objective;
    return train("2022-01-01", "2022-12-31").metadata.at("model").at("metric");
  };
  EXPECT_EQ(metric_with("binary"), "binary_logloss");
  EXPECT_EQ(metric_with("mae"), "l1");
  EXPECT_EQ(metric_with("ranking"), "ndcg@10");
  options_.params = {"metric=auc"};
  EXPECT_EQ(metric_with("binary"), "auc");
}

TEST_F(TrainWindow, IsSkippedWhereAllLabelsAreOne) {
  options_.threshold = 9;
  const WindowResult result = train("2022-01-01", "2022-12-31");
  EXPECT_EQ(result.status, DirectResult::Status::skipped);
  EXPECT_THAT(result.skip_reason, HasSubstr("training rows have the label 0"));
}

TEST(MadeRanking, HasTheRowsOfADayAsGroups) {
  GbdtOptions options;
  options.objective = "ranking";
  const auto data = load_symbol(options, "MADE01");
  ASSERT_EQ(data->bars.groups.size(), data->labels.size());
  std::array<int, 5> counts{};
  for (std::size_t row = 1000; row < 1010; ++row) {
    EXPECT_EQ(data->bars.groups[row], 100);
    ++counts.at(static_cast<std::size_t>(data->labels[row]));
  }
  EXPECT_EQ(counts, (std::array{2, 2, 2, 2, 2}));
}

TEST(GbdtOptions, RefuseWhatCannotGoTogether) {
  const auto fault = [](std::vector<std::pair<const char*, const char*>> values) {
    GbdtOptions options;
    for (const auto& [key, value] : values) options.table.set(key, value);
    try {
      options.check();
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  EXPECT_EQ(fault({}), "none");
  EXPECT_THAT(fault({{"start", "2022-13-01"}}), HasSubstr("start must be a day"));
  EXPECT_THAT(fault({{"start", "2022-01-01"}, {"end", "2022-01-05"}}), HasSubstr("no room"));
  EXPECT_THAT(fault({{"subsample_freq", "0"}}), HasSubstr("does nothing with subsample_freq=0"));
  EXPECT_THAT(fault({{"split.valid_share", "0"}}), HasSubstr("early_stopping needs rows"));
  EXPECT_THAT(fault({{"params", "boosting=dart"}}), HasSubstr("later ones changed them"));
  EXPECT_THAT(fault({{"params", "boost = dart"}}), HasSubstr("later ones changed them"));
  EXPECT_THAT(fault({{"params", "boosting=DART"}}), HasSubstr("later ones changed them"));
  EXPECT_EQ(fault({{"params", "boosting=dart"}, {"early_stopping", "0"}}), "none");
  for (const char* word : {"boosting=goss", "data_sample_strategy=GOSS"})
    EXPECT_THAT(fault({{"params", word}}), HasSubstr("together with subsample=0.8")) << word;
  EXPECT_EQ(fault({{"params", "boosting=goss"}, {"subsample", "1"}}), "none");
  EXPECT_THAT(fault({{"gbdt.device", "cuda"}}),
              ::testing::AllOf(HasSubstr("lets trees grow deeper than max_depth=9"),
                               HasSubstr("nothing of use with is_unbalance=true")))
      << "at once";
  EXPECT_THAT(fault({{"gbdt.device", "cuda"}, {"max_depth", "-1"}}), HasSubstr("is_unbalance"));
  EXPECT_EQ(fault({{"gbdt.device", "cuda"}, {"max_depth", "-1"}, {"is_unbalance", "false"}}),
            "none");
  EXPECT_THAT(fault({{"gbdt.num_gpu", "2"}}), HasSubstr("crashes in LightGBM 4.7.0"));
  EXPECT_THAT(fault({{"params", "lambda_l2"}}), HasSubstr("not of the form name=value"));
  EXPECT_THAT(fault({{"objective", "regresion"}}), HasSubstr("objective=regresion is none"));
  EXPECT_EQ(fault({{"objective", "ranking"}}), "none");
  EXPECT_THAT(fault({{"objective", "ranking"}, {"data.path", "x"}}), HasSubstr("needs groups"));
  EXPECT_THAT(fault({{"objective", "ranking"}, {"data.path", "x"}, {"group", "q"}}),
              HasSubstr("needs label=COLUMN"));
  EXPECT_THAT(fault({{"group", "q"}, {"data.path", "x"}}), HasSubstr("group=q is of a ranking"));
  EXPECT_THAT(fault({{"group", "q"}, {"objective", "ranking"}}), HasSubstr("group names columns"));
  EXPECT_THAT(fault({{"objective", "multiclass"}, {"threshold", "-0.1"}}), HasSubstr("no closes"));
  EXPECT_THAT(fault({{"objective", "poisson"}}), HasSubstr("no negative numbers"));
  EXPECT_THAT(fault({{"objective", "l2"}, {"is_unbalance", "true"}}), HasSubstr("does nothing"));
  EXPECT_THAT(fault({{"horizon", "0"}}), HasSubstr("horizon=0"));
}

TEST(GbdtOptions, RefuseOrTellWhatDoesNothing) {
  const auto fault = [](std::vector<std::pair<const char*, const char*>> values) {
    GbdtOptions options;
    for (const auto& [key, value] : values) options.table.set(key, value);
    try {
      options.check();
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  EXPECT_THAT(fault({{"gbdt.gpu_platform", "intel"}}), HasSubstr("gbdt.device is cpu"));
  EXPECT_THAT(fault({{"gbdt.double_precision", "true"}}), HasSubstr("does nothing"));
  EXPECT_EQ(fault({{"gbdt.gpu_platform", "intel"}, {"gbdt.device", "gpu"}}), "none");
  EXPECT_THAT(fault({{"split.shuffle", "false"}}), HasSubstr("prices have a time"));
  EXPECT_EQ(fault({{"split.shuffle", "false"}, {"data.made_rows", "50"}}), "none");
  EXPECT_THAT(fault({{"feature_set", "v1"}, {"data.made_rows", "50"}}),
              HasSubstr("the table has columns of its own"));
  EXPECT_THAT(fault({{"feature_set", "v1"}, {"data.path", "x"}, {"features", "a"}}),
              HasSubstr("features names columns"));
  EXPECT_THAT(fault({{"data.made_seed", "1"}, {"data.path", "x"}}),
              HasSubstr("data.path names files"));
  EXPECT_THAT(fault({{"date_order", "dmy"}}), HasSubstr("the times are made"));
  EXPECT_THAT(fault({{"date_order", "dmy"},
                     {"data.path", "x"},
                     {"features", "a"},
                     {"label", "y"},
                     {"time", "none"}}),
              HasSubstr("time=none reads no times"));
  EXPECT_EQ(fault({{"date_order", "dmy"}, {"data.path", "x"}}), "none");
  EXPECT_THAT(fault({{"data.path", "x"}, {"label", "y"}, {"threshold", "0.1"}}),
              HasSubstr("the label is the column y"));
  GbdtOptions options;
  options.table.set("horizon", "3");
  options.table.set("test", "full");
  options.table.set("split.test_share", "0.3");
  EXPECT_EQ(options.idle_note(true), "horizon, test do nothing: the rows have no time");
  EXPECT_EQ(options.idle_note(false), "split.test_share does nothing: the rows have a time");
  EXPECT_EQ(GbdtOptions().idle_note(true), "");
}

// Its rows have no close and no time.
TEST(GbdtOptions, OfAMadeTableAreNotRefusedForCloses) {
  GbdtOptions options;
  options.table.set("data.made_rows", "3000");
  options.table.set("horizon", "0");
  options.table.set("objective", "multiclass");
  options.table.set("threshold", "-0.1");
  EXPECT_EQ(error_if_any([&] { options.check(); }), "");
  EXPECT_EQ(options.idle_note(true), "horizon, threshold do nothing: the rows have no time");
  options.table.set("data.made_rows", "0");
  EXPECT_THAT(error_if_any([&] { options.check(); }), HasSubstr("over no bars"));
}

TEST(BatchSymbols, ComeFromTheListAFileOrTheFolder) {
  const TemporaryDirectory folder;
  for (const char* symbol : {"AA", "BB"})
    write_file_atomic(folder.path() / (std::string(symbol) + ".csv"), "x");
  write_file_atomic(folder.path() / "some.txt", "BB\n# none\n\n");
  GbdtOptions options;
  EXPECT_EQ(batch_symbols(options).size(), 10u);
  options.data.path = folder.path().string();
  EXPECT_THAT(batch_symbols(options), ::testing::ElementsAre("AA", "BB"));
  options.symbols = {(folder.path() / "some.txt").string()};
  EXPECT_THAT(batch_symbols(options), ::testing::ElementsAre("BB"));
  options.data.path = (folder.path() / "AA.csv").string();
  const std::string lists = (folder.path() / "none.txt").string();
  for (const std::string& absent : {lists, std::string("none.txt"), std::string("./none")}) {
    options.symbols = {absent};
    EXPECT_THAT(error_of([&] { batch_symbols(options); }),
                HasSubstr(cat("symbols: there is no file ", absent)));
    options.symbols = {"AA", absent};
    EXPECT_THAT(error_of([&] { batch_symbols(options); }), HasSubstr("there is no file"));
  }
  options.symbols = {(folder.path() / "some.txt").string(), "AA"};
  EXPECT_THAT(error_of([&] { batch_symbols(options); }), HasSubstr("beside others"));
  for (const char* symbol : {"other", "BTC/USD", "/ES"}) {
    options.symbols = {symbol};
    EXPECT_THAT(batch_symbols(options), ::testing::ElementsAre(symbol));
  }
  options.symbols = {"AA", "BB"};
  EXPECT_THROW(batch_symbols(options), Error);
  options.data.path = folder.path().string();
  options.symbols = {"AA", "BC"};
  EXPECT_EQ(batch_symbols(options), options.symbols) << "a symbol without a file is left out later";
}

TEST(BatchSymbols, OfMadePricesAreTheirOwnAlone) {
  GbdtOptions options;
  options.symbols = {"MADE01", "MADE120"};
  EXPECT_EQ(batch_symbols(options), options.symbols);
  for (const char* mine : {"RELIANCE", "MADE", "MADE1", "MADEIRA", "made01"}) {
    options.symbols = {"MADE01", mine};
    EXPECT_THROW(batch_symbols(options), Error) << mine;
    options.symbol = mine;
    EXPECT_THROW(first_symbol(options), Error) << mine;
    options.symbol = "";
  }
}

TEST(Telemetry, WritesTimesInUtc) {
  EXPECT_EQ(iso_time(0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(iso_time(1641201300.25), "2022-01-03T09:15:00.250Z");
}

}  // namespace
}  // namespace lockstep::gbdt
