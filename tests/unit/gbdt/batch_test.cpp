#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "media/csv_table.h"
#include "recipes/gbdt/batch/records.h"
#include "recipes/gbdt/train/train_window.h"
#include "run/json_lines.h"

namespace lockstep::gbdt {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(PlanBatch, HasAJobForEachSymbolAndWindow) {
  GbdtOptions options;
  const DirectBatch batch = options.plan_batch();
  EXPECT_EQ(batch.rows.size(), 60u);
  EXPECT_THAT(batch.keys, ElementsAre("symbol", "start", "end"));
  EXPECT_THAT(batch.rows.at(0), ElementsAre("MADE01", "2022-01-01", "2022-06-30"));
  EXPECT_THAT(batch.notes, Contains("10 symbols, 60 windows"));
  EXPECT_THAT(batch.notes, Contains(HasSubstr("made")));
  EXPECT_EQ(batch.gpus, "0");
}

TEST(PlanBatch, SharesAGpuAndNamesTheOneThatTheJobSees) {
  GbdtOptions options;
  options.table.set("gbdt.device", "cuda");
  const DirectBatch batch = options.plan_batch();
  EXPECT_EQ(batch.gpus, "0.25");
  EXPECT_THAT(batch.more_options, ElementsAre("gbdt.device_id={gpu}"));
}

TEST(MadePrices, AreTheSameInAllWindowsOfABatch) {
  GbdtOptions whole, window;
  window.table.set("start", "2024-01-01");
  window.table.set("end", "2024-06-29");
  const auto a = load_symbol(whole, "MADE02"), b = load_symbol(window, "MADE02");
  EXPECT_EQ(a->bars.stamps.at(0), b->bars.stamps.at(0));
  EXPECT_EQ(a->bars.close, b->bars.close);
}

class Gather : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      library_.emplace(find_lightgbm(""));
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }
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
  std::optional<LightGbm> library_;
  DirectBatchEnd end_;
};

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

TEST_F(Gather, TellsSettingsApart) {
  train("jobs/a", "2022-01-01", "2022-06-30", "31");
  train("jobs/b", "2022-01-01", "2022-06-30", "63");
  const std::string shown = gather();
  EXPECT_THAT(shown, HasSubstr("num_leaves=63"));
  EXPECT_THAT(read_csv(folder_.path() / "windows.csv").columns, Contains("num_leaves"));
  EXPECT_THAT(text("predictions.csv"),
              StartsWith("timestamp,symbol,window,label,probability,num_leaves\n"));
  EXPECT_TRUE(fs::exists(folder_.path() / "heatmap-num_leaves=63.svg"));
  EXPECT_EQ(read_csv(folder_.path() / "settings.csv").rows.size(), 2u);
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
                               "MADE02 0 of 2\nmissing: MADE02_y: waiting\n"
                               "missing: MADE02_x: failed, ended by SIGKILL\n"));
  EXPECT_EQ(read_csv(folder_.path() / "windows.csv").rows.size(), 3u);
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

}  // namespace
}  // namespace lockstep::gbdt
