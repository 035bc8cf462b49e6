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
  void train(const std::string& place, const char* start, const char* end, const char* leaves) {
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
  }
  std::string text(const char* file) const { return read_file(folder_.path() / file); }

  TemporaryDirectory folder_;
  std::optional<LightGbm> library_;
};

TEST_F(Gather, MakesOneOfAllWindows) {
  train("jobs/a", "2022-01-01", "2022-06-30", "31");
  train("jobs/b", "2022-06-30", "2022-12-27", "31");
  const std::string shown = trainer.gather(folder_.path());
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
  const std::string shown = trainer.gather(folder_.path());
  EXPECT_THAT(shown, HasSubstr("num_leaves=63"));
  EXPECT_THAT(read_csv(folder_.path() / "windows.csv").columns, Contains("num_leaves"));
  EXPECT_THAT(text("predictions.csv"),
              StartsWith("timestamp,symbol,window,label,probability,num_leaves\n"));
  EXPECT_TRUE(fs::exists(folder_.path() / "heatmap-num_leaves=63.svg"));
  EXPECT_EQ(read_csv(folder_.path() / "settings.csv").rows.size(), 2u);
}

TEST_F(Gather, CountsWhatDidNotSucceedOnceAndLinksWhereThingsLie) {
  train("attempts/1", "2022-01-01", "2022-01-10", "31");
  train("attempts/2", "2022-01-01", "2022-01-10", "31");
  train("jobs/a", "2022-06-30", "2022-12-27", "31");
  train("attempts/3", "2022-06-30", "2022-12-27", "31");  // of an earlier try: jobs/a counts
  const std::string shown = trainer.gather(folder_.path());
  EXPECT_THAT(shown, HasSubstr("skipped: it has "));
  EXPECT_EQ(read_csv(folder_.path() / "windows.csv").rows.size(), 2u);
  std::vector<nlohmann::json> lines;
  for_each_line(folder_.path() / "teacher_runs.json",
                [&](const std::string& line) { lines.push_back(nlohmann::json::parse(line)); });
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0]["status"], "skipped");
  EXPECT_EQ(lines[1]["artifacts_path"], (folder_.path() / "jobs/a").string());
}

TEST_F(Gather, OfNothingIsNothing) {
  EXPECT_EQ(trainer.gather(folder_.path()), "");
  write_file_atomic(folder_.path() / "x", "");
  fs::create_directories(folder_.path() / "jobs/a");
  write_file_atomic(folder_.path() / "jobs/a/metadata.json", "{}");
  EXPECT_EQ(trainer.gather(folder_.path()), "");
}

}  // namespace
}  // namespace lockstep::gbdt
