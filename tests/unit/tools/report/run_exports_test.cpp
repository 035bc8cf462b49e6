#include "tools/report/exports/run_exports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/base/text/utf8.h"
#include "core/media/csv_table.h"
#include "fakes/made_run.h"
#include "tools/report/comparison/comparison.h"
#include "tools/report/comparison/trial_source.h"
#include "tools/report/exports/event_limits.h"
#include "tools/report/facts/run_facts.h"
#include "tools/report/logs/foreign_csv.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using testing::MadeRun;

class Exports : public ::testing::Test {
 protected:
  RunDir resumed_run() {
    MadeRun made(folder.path() / "run");
    made.record();
    made.start(0);
    made.steps(0, 25);
    made.event({{"kind", "resume"}, {"step", 15}});
    made.start(15);
    made.step(16, NAN);
    made.steps(16, 20);
    made.state("finished");
    return RunDir::open(made.path.string(), folder.path());
  }
  const TemporaryDirectory folder;
};

TEST_F(Exports, CsvHasARowForEachEventThatCounts) {
  const WrittenExport written = export_csv(resumed_run(), folder.path() / "csv");
  EXPECT_EQ(written.steps, 20);
  EXPECT_EQ(written.evaluations, 2);
  const CsvTable steps = read_csv(folder.path() / "csv/steps.csv");
  ASSERT_EQ(steps.rows.size(), 20U);
  EXPECT_EQ(steps.columns[0], "step");
  EXPECT_EQ(steps.rows[15][0], "16");
  EXPECT_EQ(steps.rows[15][steps.column("loss")], "") << "not finite";
  EXPECT_DOUBLE_EQ(*steps.number(7, steps.column("loss")), 0.5);
  EXPECT_EQ(*steps.number(7, steps.column("memory.1.peak")), 300);
  EXPECT_EQ(*steps.number(7, steps.column("logged.accuracy")), 0.5);
  const CsvTable evaluations = read_csv(folder.path() / "csv/evaluations.csv");
  EXPECT_EQ(*evaluations.number(1, evaluations.column("metrics.loss")), 0.25);
  EXPECT_EQ(*evaluations.number(1, evaluations.column("best")), 1);
}

// What a training writes meanwhile is of no column and no line.
TEST_F(Exports, CsvOfTwoPassesSeesTheSameLines) {
  MadeRun made(folder.path() / "run");
  made.record();
  made.start(0);
  made.step(1, 2.0);
  const EventLimits limits(made.path / "events.jsonl");
  made.event({{"kind", "step"}, {"step", 2}, {"loss", 1.0}, {"logged", {{"new", 1}}}});
  std::size_t lines = 0;
  for (int pass = 0; pass < 2; ++pass)
    for_each_effective_line(made.path / "events.jsonl", limits,
                            [&](const std::string&) { ++lines; });
  EXPECT_EQ(lines, 2U * 2);
}

TEST_F(Exports, MlflowKeepsWholeCharactersAndNamesTheirPlaces) {
  MadeRun made(folder.path() / "run");
  std::string text = "x";
  while (text.size() < 6000) text += "\u00e4";
  made.record({{"config", {{"long", text}, {"a//b", "c"}}}});
  made.start(0);
  const RunDir run = RunDir::open(made.path.string(), folder.path());
  const fs::path place = folder.path() / "mlruns" /
                         export_mlflow(run, folder.path() / "mlruns", false).what / "params";
  const std::string kept = read_file(place / "long");
  EXPECT_EQ(kept.size(), 4999U);
  EXPECT_EQ(invalid_bytes(kept), 0U);
  EXPECT_EQ(read_file(place / "a/_b"), "c");
}

TEST_F(Exports, MlflowLosesNoNameThatBecomesAnothers) {
  MadeRun made(folder.path() / "run");
  made.record({{"config", {{"a:b", "1"}, {"a_b", "2"}, {"c", "3"}, {"c/d", "4"}}}});
  made.start(0);
  made.event({{"kind", "eval"}, {"step", 1}, {"metrics", {{"x:y", 0.25}, {"x_y", 0.5}}}});
  made.event({{"kind", "eval"}, {"step", 2}, {"metrics", {{"x_y", 0.75}}}});
  const RunDir run = RunDir::open(made.path.string(), folder.path());
  const fs::path place =
      folder.path() / "mlruns" / export_mlflow(run, folder.path() / "mlruns", false).what;
  EXPECT_EQ(read_file(place / "params/a_b"), "1");
  EXPECT_EQ(read_file(place / "params/a_b_2"), "2");
  EXPECT_EQ(read_file(place / "params/c"), "3");
  EXPECT_EQ(read_file(place / "params/c_d_2"), "4");
  const auto lines = [&](const char* name) {
    return split(trim(read_file(place / "metrics/eval" / name)), '\n').size();
  };
  EXPECT_EQ(lines("x_y"), 1U);
  EXPECT_EQ(lines("x_y_2"), 2U);
}

TEST_F(Exports, SayHowManyNamesThereIsNoRoomFor) {
  MadeRun made(folder.path() / "run");
  made.record();
  made.start(0);
  nlohmann::json metrics;
  for (int i = 0; i < 2003; ++i) metrics[cat("m", i)] = i;
  made.event({{"kind", "eval"}, {"step", 1}, {"metrics", metrics}});
  const RunDir run = RunDir::open(made.path.string(), folder.path());
  EXPECT_EQ(export_csv(run, folder.path() / "csv").left_out, 2003U + 4 - 2000);
  EXPECT_EQ(export_mlflow(run, folder.path() / "mlruns", false).left_out, 2003U - 1000);
}

TEST_F(Exports, TensorBoardGetsOneFileWithoutWhatWasTakenBack) {
  const WrittenExport written = export_tensorboard(resumed_run(), folder.path() / "tb");
  EXPECT_EQ(written.steps, 20);
  EXPECT_TRUE(fs::exists(folder.path() / "tb" / written.what)) << written.what;
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path() / "tb"), {}), 1);
}

// The run, and its exports read back: equal numbers under equal names.
TEST_F(Exports, ReadBackAreTheSameAsTheRun) {
  const MadeRun made = MadeRun::finished(folder.path() / "run");
  const RunDir run = RunDir::open(made.path.string(), folder.path());
  export_csv(run, folder.path() / "csv");
  export_tensorboard(run, folder.path() / "tb");
  const Trial own = read_run_facts(run), csv = read_trial((folder.path() / "csv").string(), "."),
              file = read_trial((folder.path() / "csv/steps.csv").string(), "."),
              tensorboard = read_trial((folder.path() / "tb").string(), ".");
  for (const Trial* const other : {&csv, &file, &tensorboard}) {
    EXPECT_EQ(other->number("steps"), own.number("steps")) << other->source;
    for (const char* name : {"step_s", "train_s", "memory_bytes", "data_share", "wait_share",
                             "last.loss", "last.accuracy"}) {
      ASSERT_NE(own.find(name), nullptr) << name;
      ASSERT_NE(other->find(name), nullptr) << name << " of " << other->path;
      EXPECT_NEAR(other->find(name)->value, own.find(name)->value, 1e-6 * own.find(name)->value)
          << name << " of " << other->path;
      EXPECT_EQ(other->find(name)->title, own.find(name)->title);
    }
    ASSERT_EQ(other->curve.size(), own.curve.size());
    for (std::size_t i = 0; i < own.curve.size(); ++i) {
      EXPECT_EQ(other->curve[i].step, own.curve[i].step);
      EXPECT_NEAR(other->curve[i].seconds, own.curve[i].seconds, 1e-6);
      EXPECT_NEAR(other->curve[i].value, own.curve[i].value, 1e-6);
    }
  }
  EXPECT_EQ(csv.find("best.loss")->value, own.find("best.loss")->value);
  EXPECT_EQ(csv.find("best.accuracy")->value, own.find("best.accuracy")->value);
  EXPECT_EQ(tensorboard.find("best.loss"), nullptr)
      << "of several metrics TensorBoard's log does not say which chose the best";
  const Comparison both =
      compare({.name = "csv", .trials = {csv}}, {.name = "tb", .trials = {tensorboard}},
              {.assumed = {"data", "options", "devices", "global_batch"}});
  EXPECT_TRUE(both.differences.empty());
  for (const QuantityRow& row : both.rows)
    EXPECT_NEAR(row.a.front(), row.b.front(), 1e-6 * std::fabs(row.b.front())) << row.what.name;
  EXPECT_EQ(csv.quantities.size(), tensorboard.quantities.size() + 2) << "best loss and accuracy";
}

// Started three times: at 20 it was evaluated after the checkpoint at 18, the second start logged
// nothing that counts, and the first step of the third took long.
TEST_F(Exports, OfAResumedRunReadBackAreTheSameAsTheRun) {
  MadeRun made(folder.path() / "run");
  made.record();
  made.start(0);
  made.steps(0, 25);
  made.time += 5000;
  made.event({{"kind", "resume"}, {"step", 18}});
  made.start(18);
  made.time += 40;
  made.step(19, 2.0);
  made.time += 5000;
  made.event({{"kind", "resume"}, {"step", 18}});
  made.start(18);
  made.time += 3;
  made.event({{"kind", "step"},
              {"step", 22},
              {"loss", 0.5},
              {"step_s", 0.8},
              {"data_share", 0.5},
              {"memory", {{{"peak", 400}}}}});
  made.steps(22, 40);
  made.time += 2;
  made.event({{"kind", "checkpoint"}, {"step", 41}});
  made.end(41);
  made.state("finished");
  const RunDir run = RunDir::open(made.path.string(), folder.path());
  export_csv(run, folder.path() / "csv");
  export_tensorboard(run, folder.path() / "tb");
  export_mlflow(run, folder.path() / "mlruns", false);
  const Trial own = read_run_facts(run);
  ASSERT_EQ(own.number("steps"), 41);
  for (const char* place : {"csv", "csv/steps.csv", "tb", "mlruns#run"}) {
    const Trial other = read_trial((folder.path() / place).string(), ".");
    EXPECT_EQ(other.number("steps"), 41) << place;
    for (const char* name : {"step_s", "train_s", "memory_bytes", "data_share", "last.loss"}) {
      ASSERT_NE(other.find(name), nullptr) << name << " of " << place;
      EXPECT_NEAR(other.find(name)->value, own.find(name)->value, 1e-3 * own.find(name)->value)
          << name << " of " << place;
    }
    ASSERT_EQ(other.curve.size(), own.curve.size()) << place;
    for (std::size_t i = 0; i < own.curve.size(); ++i)
      EXPECT_NEAR(other.curve[i].seconds, own.curve[i].seconds, 2e-3) << place;
    EXPECT_THAT(other.cautions, ::testing::Contains(::testing::HasSubstr("started ")));
  }
  const CsvTable starts = read_csv(folder.path() / "csv/starts.csv");
  ASSERT_EQ(starts.rows.size(), 3U);
  EXPECT_EQ(starts.rows[2][starts.column("step")], "18");
  EXPECT_EQ(starts.rows[2][starts.column("last_step")], "41");
  EXPECT_LT(*starts.number(0, starts.column("last_time")), *starts.number(1, 1) - 4000)
      << "what lies between is of neither";
}

TEST_F(Exports, WithoutEvaluationsAreReadBackToo) {
  MadeRun made(folder.path() / "run");
  made.record();
  made.start(0);
  made.step(1, 2.0);
  made.step(2, 1.5);
  made.state("finished");
  const RunDir run = RunDir::open(made.path.string(), folder.path());
  export_csv(run, folder.path() / "csv");
  const Trial own = read_run_facts(run), csv = read_csv_trial(folder.path() / "csv");
  for (const char* name : {"train_loss", "step_s", "train_s"})
    EXPECT_NEAR(csv.find(name)->value, own.find(name)->value, 1e-6) << name;
}

TEST_F(Exports, MoreStartsThanARunHasAreLeftOut) {
  const MadeRun made = MadeRun::finished(folder.path() / "run");
  export_csv(RunDir::open(made.path.string(), folder.path()), folder.path() / "csv");
  {
    std::ofstream starts(folder.path() / "csv/starts.csv");
    starts << "step,time,last_step,last_time\n";
    for (int row = 0; row <= 100'000; ++row) starts << "0,1,1,2\n";
  }
  const Trial trial = read_trial((folder.path() / "csv").string(), ".");
  EXPECT_THAT(trial.cautions, ::testing::Contains(::testing::HasSubstr("starts.csv beside it")));
  EXPECT_NEAR(trial.find("step_s")->value, 0.1, 1e-9);
}

// Half an export does not say how long evaluations took.
TEST_F(Exports, StepsAloneHaveNoTrainingTime) {
  const MadeRun made = MadeRun::finished(folder.path() / "run");
  export_csv(RunDir::open(made.path.string(), folder.path()), folder.path() / "csv");
  fs::remove(folder.path() / "csv/evaluations.csv");
  const Trial trial = read_trial((folder.path() / "csv/steps.csv").string(), ".");
  EXPECT_EQ(trial.find("train_s"), nullptr);
  EXPECT_NEAR(trial.find("step_s")->value, 0.1, 1e-9);
}

TEST_F(Exports, MlflowGetsARunWithTheSameIdEachTime) {
  const RunDir run = resumed_run();
  const WrittenExport written = export_mlflow(run, folder.path() / "mlruns", false);
  const fs::path place = folder.path() / "mlruns" / written.what;
  const std::string losses = read_file(place / "metrics/train/loss");
  EXPECT_EQ(split(trim(losses), '\n').size(), 20U);
  EXPECT_NE(losses.find(" NaN 16\n"), std::string::npos);
  EXPECT_EQ(read_file(place / "params/optimizer.lr"), "0.5");
  EXPECT_NE(read_file(place / "meta.yaml").find("run_name: \"run\""), std::string::npos);
  EXPECT_THROW(export_mlflow(run, folder.path() / "mlruns", false), Error);
  EXPECT_EQ(export_mlflow(run, folder.path() / "mlruns", true).what, written.what);
}

TEST_F(Exports, NamesOfMetricsLeadNowhereElse) {
  MadeRun made(folder.path() / "run");
  made.record({{"config", {{"../../../option", "x"}}}});
  made.start(0);
  made.event({{"kind", "eval"},
              {"step", 1},
              {"metrics", {{"../../../../escaped", 1}, {"/abs", 2}, {"a\nb", 3}, {"", 4}}}});
  const RunDir run = RunDir::open(made.path.string(), folder.path());
  export_mlflow(run, folder.path() / "mlruns", false);
  EXPECT_FALSE(fs::exists(folder.path() / "escaped"));
  EXPECT_FALSE(fs::exists(folder.path() / "option"));
  export_csv(run, folder.path() / "csv");
  EXPECT_EQ(read_csv(folder.path() / "csv/evaluations.csv").rows.size(), 1U);
}

}  // namespace
}  // namespace lockstep
