#include "tools/report/reports/run_series.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "fakes/made_run.h"
#include "runtime/run/events/events.h"

namespace lockstep {
namespace {

using testing::MadeRun;

class Series : public ::testing::Test {
 protected:
  const TemporaryDirectory folder;
  std::filesystem::path events() const { return folder.path() / "run/events.jsonl"; }
};

TEST_F(Series, HoldEveryNumberOfEveryStep) {
  MadeRun::finished(folder.path() / "run");
  const RunSeries series = read_run_series(events());
  EXPECT_EQ(series.step_lines, 40);
  EXPECT_EQ(series.evaluations, 4);
  ASSERT_NE(series.step_curve("loss"), nullptr);
  EXPECT_EQ(series.step_curve("loss")->columns().size(), 40U);
  EXPECT_DOUBLE_EQ(series.step_curve("loss")->columns()[7].mean(), 0.5);
  EXPECT_EQ(series.step_curve("memory peak")->totals().high, 300) << "the largest of the ranks";
  EXPECT_EQ(series.step_curve("logged accuracy")->totals().mean(), 0.5);
  EXPECT_EQ(series.step_curve("mfu")->totals().values, 0);
  EXPECT_EQ(series.metric_curve("accuracy")->totals().last, 1);
  EXPECT_EQ(series.units.at("loss"), "nats/token");
  EXPECT_EQ(series.best.at("step"), 40);
}

TEST_F(Series, WhatAResumeTookBackDoesNotCount) {
  MadeRun run(folder.path() / "run");
  run.start(0);
  run.steps(0, 25);
  run.time += 1000;
  run.event({{"kind", "resume"}, {"step", 15}});
  run.start(15);
  for (int s = 16; s <= 18; ++s) run.step(s, 100);
  run.event({{"kind", "resume"}, {"step", 5}});
  run.start(5);
  run.steps(5, 12);
  const RunSeries series = read_run_series(events());
  std::vector<double> steps;
  for (const CurveColumn& column : series.step_curve("loss")->columns())
    steps.push_back(column.at.step);
  std::vector<double> wanted;
  for (const nlohmann::json& event : effective_events(read_events(events())))
    if (event.at("kind") == "step") wanted.push_back(event.at("step").get<double>());
  EXPECT_EQ(steps, wanted) << "as every other reader";
  EXPECT_EQ(steps.size(), 12U);
  EXPECT_LT(series.step_curve("loss")->totals().high, 100);
  EXPECT_EQ(series.metric_curve("loss")->columns().size(), 1U);
  EXPECT_EQ(series.starts, 3);
  EXPECT_GT(series.taken_back, 20);
}

TEST_F(Series, TheTimeAddsUpAndLeavesOutWhatLayBetweenStarts) {
  MadeRun run(folder.path() / "run");
  run.start(0);
  run.time += 3;
  run.step(1, 1);
  run.event(
      {{"kind", "startup"},
       {"step", 1},
       {"seconds", 5.1},
       {"parts", nlohmann::json::parse(R"([["tool", 2], ["worker", 3], ["first_step", 0.1]])")}});
  for (int s = 2; s <= 10; ++s) run.step(s, 1);
  run.evaluation(10, 1, 1, true);
  run.time += 5000;
  run.event({{"kind", "resume"}, {"step", 8}});
  run.start(8);
  run.step(9, 1);
  run.step(10, 1);
  const TimeShares time = read_run_series(events()).time;
  EXPECT_NEAR(time.start_up, 5.0, 1e-6);
  EXPECT_NEAR(time.data, 0.25 * 1.0, 1e-6);
  EXPECT_NEAR(time.compute, 0.75 * 1.0, 1e-6);
  EXPECT_NEAR(time.taken_back, 0.2 + 0.5, 1e-6);
  EXPECT_NEAR(time.start_up + time.compute + time.data + time.wait + time.save + time.evaluation +
                  time.taken_back + time.other,
              time.total, 1e-6);
  EXPECT_LT(time.total, 20);
}

TEST_F(Series, DamagedAndForeignLinesAreCountedAndPassedOver) {
  MadeRun run = MadeRun::finished(folder.path() / "run");
  std::ofstream(events(), std::ios::app) << "{\"kind\":\"step\",\"step\":41,\n\x01\xff\n[]\n"
                                         << "{\"kind\":\"step\"}\n"
                                         << "{\"kind\":\"of the future\",\"step\":41}\n"
                                         << "{\"kind\":\"step\",\"step\":41,\"loss\":1";
  const RunSeries series = read_run_series(events());
  EXPECT_EQ(series.step_lines, 40);
  EXPECT_EQ(series.bad_lines, 4);
  EXPECT_EQ(series.unknown_kinds, 1);
}

TEST_F(Series, AMissingFileIsARunWithoutEvents) {
  const RunSeries series = read_run_series(events());
  EXPECT_EQ(series.lines, 0);
  EXPECT_TRUE(series.steps.empty());
  EXPECT_EQ(series.time.total, 0);
}

TEST_F(Series, LossesThatAreNotFiniteAreGaps) {
  MadeRun run(folder.path() / "run");
  run.start(0);
  run.step(1, 1);
  run.step(2, NAN);
  run.step(3, 3);
  const RunSeries series = read_run_series(events());
  const Curve& loss = *series.step_curve("loss");
  EXPECT_EQ(loss.totals().not_finite, 1);
  EXPECT_TRUE(std::isnan(loss.columns()[1].mean()));
  EXPECT_EQ(loss.totals().mean(), 2);
}

}  // namespace
}  // namespace lockstep
