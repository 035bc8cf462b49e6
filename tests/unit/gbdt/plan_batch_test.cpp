// lockstep batch gbdt before anything runs: its jobs, and what is said of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "fakes/error_of.h"
#include "recipes/gbdt/options/gbdt_options.h"
#include "with_lightgbm.h"

namespace lockstep::gbdt {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class PlanBatch : public WithLightGbm {};

TEST_F(PlanBatch, HasAJobForEachSymbolAndWindow) {
  GbdtOptions options;
  const DirectBatch batch = options.plan_batch();
  EXPECT_EQ(batch.rows.size(), 60u);
  EXPECT_THAT(batch.keys, ElementsAre("symbol", "start", "end"));
  EXPECT_THAT(batch.rows.at(0), ElementsAre("MADE01", "2022-01-01", "2022-06-30"));
  EXPECT_THAT(batch.notes, Contains("10 symbols, 60 windows"));
  EXPECT_THAT(batch.notes, Contains(HasSubstr("made")));
  EXPECT_EQ(batch.gpus, "0");
}

// Twice the same windows would count double in all metrics.
TEST_F(PlanBatch, HasEachSymbolOnceAndSaysWhichWereNamedTwice) {
  GbdtOptions options;
  options.table.set("symbols", "MADE01,MADE01,MADE02,MADE01");
  const DirectBatch batch = options.plan_batch();
  EXPECT_EQ(batch.rows.size(), 12u);
  EXPECT_THAT(batch.notes, Contains("2 symbols, 12 windows"));
  EXPECT_THAT(batch.notes, Contains("symbols names MADE01 more than once: it is trained once"));
  const TemporaryDirectory folder;
  write_file_atomic(folder.path() / "some.txt", "MADE02\nMADE02\nMADE01\nMADE01\n");
  options.symbols = {(folder.path() / "some.txt").string()};
  EXPECT_THAT(options.plan_batch().notes,
              Contains("symbols names MADE02, MADE01 more than once: each is trained once"));
  options.symbols = {"MADE01", "MADE02"};
  EXPECT_THAT(options.plan_batch().notes, Not(Contains(HasSubstr("more than once"))));
}

// The six windows of the symbol end with `end`; those before the last are tested on the next one.
TEST_F(PlanBatch, SaysHowManyWindowsAreTestedOnDaysFromEndOn) {
  GbdtOptions options;
  options.table.set("data.made_symbols", "1");
  options.table.set("start", "2022-01-01");
  options.table.set("end", "2024-12-01");
  EXPECT_THAT(options.plan_batch().notes,
              Contains(HasSubstr("2 of 6 windows are tested on days from end=2024-12-01 on, until "
                                 "2025-05-14")));
  options.table.set("test", "none");
  EXPECT_THAT(options.plan_batch().notes, Not(Contains(HasSubstr("from end="))));
  GbdtOptions without;
  EXPECT_THAT(without.plan_batch().notes, Not(Contains(HasSubstr("from end="))));
}

TEST_F(PlanBatch, SaysHowManyWindowsAreShorterAndByHowMuch) {
  GbdtOptions options;
  options.table.set("start", "2022-01-01");
  options.table.set("end", "2024-12-01");
  EXPECT_THAT(options.plan_batch().notes,
              Contains("10 of 60 windows are shorter than window_days=180, by 15 days: the last of "
                       "each symbol ends with the prices or with end"));
  options.table.set("data.made_symbols", "1");
  options.table.set("end", "2022-12-26");
  EXPECT_THAT(options.plan_batch().notes, Contains(HasSubstr("1 of 2 windows is shorter than "
                                                             "window_days=180, by 1 day: ")));
  options.table.set("end", "2022-12-27");
  EXPECT_THAT(options.plan_batch().notes, Not(Contains(HasSubstr("shorter"))));
}

// The record of a window says then what the batch was asked for.
TEST_F(PlanBatch, TellsJobsHowWindowsWereMade) {
  GbdtOptions options;
  EXPECT_THAT(options.plan_batch().recorded, ElementsAre("window_days", "stride_days"));
  EXPECT_THAT(options.plan_batch().only_batch, Contains("window_days")) << "jobs keep their keys";
  EXPECT_THAT(options.plan_batch().only_batch, Contains("stride_days"));
  options.table.set("data.made_rows", "100");
  EXPECT_THAT(options.plan_batch().recorded, ::testing::IsEmpty()) << "there is no time";
}

TEST_F(PlanBatch, SharesAGpuAndNamesTheOneThatTheJobSees) {
  GbdtOptions options;
  options.table.set("gbdt.device", "gpu");
  const DirectBatch batch = options.plan_batch();
  EXPECT_EQ(batch.gpus, "0.25");
  EXPECT_THAT(batch.more_options, ElementsAre("gbdt.device_id={gpu}"));
}

TEST_F(PlanBatch, RefusesANumberOfAGpuThatNoJobSees) {
  GbdtOptions options;
  options.table.set("gbdt.device", "gpu");
  options.table.set("gbdt.device_id", "0");
  EXPECT_EQ(options.plan_batch().gpus, "0.25");
  options.table.set("gbdt.device_id", "1");
  const std::string error = error_if_any([&] { options.plan_batch(); });
  EXPECT_THAT(error, HasSubstr("gbdt.device_id=1: each job of a batch sees the one GPU"));
  EXPECT_THAT(error, HasSubstr("--devices 1"));
}

// As with gbdt.gpu_platform.
TEST(GbdtDevice, HasANumberOnGpusAlone) {
  GbdtOptions options;
  options.table.set("gbdt.device_id", "1");
  EXPECT_THAT(error_if_any([&] { options.check(); }),
              HasSubstr("gbdt.device_id does nothing: gbdt.device is cpu"));
  options.table.set("gbdt.device", "gpu");
  EXPECT_EQ(error_if_any([&] { options.check(); }), "");
}

// LightGBM takes any platform, and ignores all three on the CPU.
TEST(GbdtDevice, IsChosenByOptionsAndNotByParameters) {
  const auto refusal = [](const char* device, const char* params) {
    GbdtOptions options;
    options.table.set("gbdt.device", device);
    options.table.set("params", params);
    return error_if_any([&] { options.check(); });
  };
  EXPECT_EQ(refusal("gpu", "gpu_platform_id=3"),
            "params.gpu_platform_id is the option gbdt.gpu_platform | give gbdt.gpu_platform=3");
  EXPECT_THAT(refusal("gpu", "lambda_l2=1,gpu_use_dp=true"),
              HasSubstr("give gbdt.double_precision=true"));
  EXPECT_THAT(refusal("gpu", "gpu_device_id=1"), HasSubstr("give gbdt.device_id=1"));
  EXPECT_THAT(refusal("gpu", "gpu_platform_id=-1"), HasSubstr("leave it out"));
  for (const char* name : {"gpu_platform_id", "gpu_use_dp", "gpu_device_id"})
    EXPECT_EQ(refusal("cpu", cat(name, "=0").c_str()),
              cat("params.", name, " does nothing: gbdt.device is cpu | leave it out"));
  EXPECT_EQ(refusal("cpu", "lambda_l2=1"), "");
  GbdtOptions recorded;
  recorded.table.set("params", "gpu_platform_id=3", {.kind = ValueSource::Kind::preset});
  EXPECT_EQ(error_if_any([&] { recorded.check(); }), "") << "the model is there";
}

// Job files of earlier versions give jobs on the CPU the number that {gpu} stands for.
TEST(GbdtDevice, OnTheCpuTakesTheNumbersOfEarlierJobFiles) {
  for (const char* id : {"0", "-1"}) {
    GbdtOptions options;
    options.table.set("gbdt.device", "cpu");
    options.table.set("gbdt.device_id", id);
    EXPECT_EQ(error_if_any([&] { options.check(); }), "") << id;
  }
}

TEST_F(PlanBatch, SaysBeforeItBeginsThatThereIsNothingToLearn) {
  GbdtOptions options;
  options.table.set("threshold", "9");
  options.table.set("data.made_symbols", "1");
  EXPECT_THAT(options.plan_batch().notes,
              Contains(HasSubstr("6 windows will be skipped, the first, "
                                 "MADE01_2022-01-01_to_2022-06-30, because all")));
}

TEST_F(PlanBatch, SaysInHowManyWindowsTheLeavesCannotBeReached) {
  GbdtOptions options;
  options.table.set("num_leaves", "255");
  options.table.set("data.made_symbols", "1");
  EXPECT_THAT(options.plan_batch().notes,
              Contains("in 6 of 6 windows num_leaves=255 cannot be reached: their rows make 4 "
                       "leaves of 20 rows (min_child_samples); LightGBM estimates the rows of a "
                       "leaf, so a tree may have more, but at most 44 to 53"));
  options.table.set("max_depth", "2");
  EXPECT_THAT(options.plan_batch().notes,
              Contains("in 6 of 6 windows num_leaves=255 cannot be reached: max_depth=2 allows at "
                       "most 4 leaves"));
  options.table.set("max_depth", "9");
  options.table.set("num_leaves", "5");
  EXPECT_THAT(options.plan_batch().notes,
              Contains(HasSubstr("in 6 of 6 windows num_leaves=5 may not be reached: ")));
  options.table.set("num_leaves", "4");
  EXPECT_THAT(options.plan_batch().notes, Not(Contains(HasSubstr("be reached"))));
}

// The first window begins before there are 60 bars, the last ones after all prices.
TEST_F(PlanBatch, SaysEachKindOfReasonForWhichWindowsAreSkipped) {
  const TemporaryDirectory folder;
  std::string csv = "date,open,high,low,close,volume\n";
  for (int day = 0; day < 400; ++day) {
    const double close = 100 + day % 7 + day % 40;
    csv += cat(to_text(*parse_day("2020-01-01") + day), ",", close, ",", close + 1, ",", close - 1,
               ",", close, ",1000\n");
  }
  for (const char* symbol : {"A", "B"})
    write_file_atomic(folder.path() / (std::string(symbol) + ".csv"), csv);
  GbdtOptions options;
  options.data.path = folder.path().string();
  options.table.set("start", "2020-01-01");
  options.table.set("end", "2021-09-01");
  options.table.set("window_days", "100");
  const std::vector<std::string> notes = options.plan_batch().notes;
  EXPECT_THAT(notes, Contains(HasSubstr("2 windows will be skipped, the first, "
                                        "A_2020-01-01_to_2020-04-10, because features need 60")));
  EXPECT_THAT(notes, Contains(AllOf(HasSubstr(" windows will be skipped, the first, A_20"),
                                    HasSubstr("because the prices of A end at 2021-02-03"))));
  EXPECT_EQ(
      std::count_if(notes.begin(), notes.end(),
                    [](const std::string& note) { return note.find("skipped, the") != note.npos; }),
      2);
}

// The closes of A stand still, and B has no volume.
TEST_F(PlanBatch, TakesTheLackOfOtherFeaturesForOneKindOfReason) {
  const TemporaryDirectory folder;
  for (const char* symbol : {"A", "B"}) {
    const bool is_still = symbol[0] == 'A';
    std::string csv = "date,open,high,low,close,volume\n";
    for (int day = 0; day < 300; ++day) {
      const int close = day > 50 && is_still ? 100 : 100 + day % 7 + day % 40;
      csv += cat(to_text(*parse_day("2020-01-01") + day), ",", close, ",", close, ",", close, ",",
                 close, ",", day > 50 && !is_still ? 0 : 1000, "\n");
    }
    write_file_atomic(folder.path() / (std::string(symbol) + ".csv"), csv);
  }
  GbdtOptions options;
  options.data.path = folder.path().string();
  options.table.set("start", "2020-05-01");
  options.table.set("end", "2020-08-09");
  options.table.set("window_days", "100");
  EXPECT_THAT(options.plan_batch().notes,
              Contains(HasSubstr("2 windows will be skipped, the first, A_2020")));
}

TEST_F(PlanBatch, CountsTheWindowsThatWillBeSkipped) {
  GbdtOptions options;
  options.table.set("data.made_symbols", "1");
  EXPECT_EQ(options.plan_batch().skipped, 0u);
  options.table.set("threshold", "9");
  const DirectBatch batch = options.plan_batch();
  EXPECT_EQ(batch.skipped, 6u);
  EXPECT_THAT(batch.why_skipped, StartsWith("MADE01_2022-01-01_to_2022-06-30, because all"));
}

TEST_F(PlanBatch, KnowsJobsOfAnEarlierBatchOfItsKind) {
  GbdtOptions options;
  options.table.set("data.made_symbols", "1");
  const TemporaryDirectory folder;
  nlohmann::json job = {{"options", options.table.to_json()}, {"sample_counts", {{"train", 95}}}};
  job["options"]["symbol"] = "X";
  const auto is_alike = [&](const nlohmann::json& metadata) {
    write_file_atomic(folder.path() / "metadata.json", metadata.dump());
    return options.plan_batch().is_alike(folder.path());
  };
  EXPECT_TRUE(is_alike(job));
  job["sample_counts"]["train"] = 5000;
  EXPECT_FALSE(is_alike(job));
  job["sample_counts"]["train"] = 95;
  job["options"]["n_estimators"] = 7;
  EXPECT_FALSE(is_alike(job));
  EXPECT_FALSE(is_alike({{"options", 3}}));
}

}  // namespace
}  // namespace lockstep::gbdt
