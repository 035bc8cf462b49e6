#include "tools/report/reports/run_report.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "fakes/made_run.h"
#include "tools/report/pages/shown.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using testing::MadeRun;

class ReportOfARun : public ::testing::Test {
 protected:
  const TemporaryDirectory folder;
  fs::path run() const { return folder.path() / "run"; }
  RunReport report(const ReadRunReport& how = {}) const {
    return read_run_report(RunDir::open(run().string(), folder.path()), how);
  }
  std::string html(const ReadRunReport& how = {}) const {
    return html_of(run_report_page(report(how), CurveAxis::step));
  }
};

TEST_F(ReportOfARun, TellsTheNumbersThatTheRunHas) {
  MadeRun::finished(run());
  const RunReport made = report();
  EXPECT_EQ(made.metric(), "loss");
  const std::string page = html_of(run_report_page(made, CurveAxis::step));
  for (const char* part : {"finished", "best loss", "0.125 nats/token", "at step 40", "40 of 40",
                           "1100 tokens/s", "1 x Some CPU",
                           "12 samples per step = 2 ranks × "
                           "micro-batch 3 × accumulation 2",
                           "300 B", "learning rate", "accuracy"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
  const std::string text = markdown_of(run_report_page(made, CurveAxis::time));
  EXPECT_NE(text.find("| best loss | 0.125 nats/token | at step 40 |"), std::string::npos) << text;
  EXPECT_NE(text.find("seconds\n"), std::string::npos) << "the axis of the curves";
}

TEST_F(ReportOfARun, TheThroughputOfALaterStartSaysSo) {
  MadeRun made(run());
  made.record();
  made.start(0);
  made.steps(0, 10);
  made.event({{"kind", "resume"}, {"step", 10}});
  made.start(10);
  made.steps(10, 40);
  made.end(40);
  made.state("finished");
  const std::string text = markdown_of(run_report_page(report(), CurveAxis::step));
  EXPECT_NE(text.find("| throughput | 1100 tokens/s | (from step 10 on) |"), std::string::npos)
      << text;
}

TEST_F(ReportOfARun, ItsTwinHasTheSameNumbersAndParses) {
  MadeRun::finished(run());
  const nlohmann::json twin = run_report_json(report());
  EXPECT_EQ(twin.at("kind"), "run");
  EXPECT_EQ(twin.at("version"), 1);
  const nlohmann::json& loss = twin.at("steps").at("loss");
  EXPECT_EQ(loss.at("values"), 40);
  EXPECT_EQ(loss.at("curve").at("step").size(), 40U);
  EXPECT_DOUBLE_EQ(loss.at("curve").at("mean")[7].get<double>(), 0.5);
  EXPECT_EQ(loss.at("curve").contains("low"), false) << "each column is one value";
  EXPECT_EQ(twin.at("metrics").at("accuracy").at("last"), 1);
  EXPECT_EQ(twin.at("counts").at("steps"), 40);
  EXPECT_EQ(twin.at("run").at("best_step"), 40);
}

TEST_F(ReportOfARun, OptionsOtherThanTheDefaultComeFirst) {
  MadeRun::finished(run());
  const RunReport made =
      report({.defaults = {{"optimizer.lr", 0.1}, {"batch.global", 12}, {"seed", 7}}});
  ASSERT_EQ(made.changed.size(), 1U);
  EXPECT_EQ(made.changed[0].key, "optimizer.lr");
  EXPECT_EQ(made.changed[0].value, "0.5");
  EXPECT_EQ(made.changed[0].standard, "0.1");
  EXPECT_EQ(made.options.size(), 3U);
  EXPECT_NE(html().find("not known to this program"), std::string::npos);
}

TEST_F(ReportOfARun, PicturesOfTheBestEvaluationAreWithinThePage) {
  MadeRun::finished(run());
  for (const char* step : {"step-000000010", "step-000000040"}) {
    fs::create_directories(run() / "media" / step);
    std::ofstream(run() / "media" / step / "mask.png") << "bytes of " << step;
    std::ofstream(run() / "media" / step / "notes.txt") << "no picture";
  }
  const RunReport made = report();
  ASSERT_EQ(made.pictures.size(), 1U);
  EXPECT_EQ(made.pictures_of, "media/step-000000040");
  EXPECT_EQ(made.pictures[0].data_uri.find("data:image/png;base64,Ynl0ZXMgb2Yg"), 0U);
  const RunReport bounded = report({.picture_bytes = 3});
  EXPECT_EQ(bounded.pictures[0].data_uri, "");
  EXPECT_EQ(bounded.pictures_listed, 1U);
}

TEST_F(ReportOfARun, OfAFailureTheReasonAndTheLastLinesAreTold) {
  MadeRun made = MadeRun::finished(run());
  made.state("failed", "rank 1 died");
  fs::create_directories(run() / "logs");
  std::ofstream(run() / "logs/rank1.log") << "first\nRuntimeError: <b>out of memory</b>\n";
  const std::string page = html();
  EXPECT_NE(page.find("the run failed: rank 1 died"), std::string::npos);
  EXPECT_NE(page.find("RuntimeError: &lt;b&gt;out of memory"), std::string::npos);
}

TEST_F(ReportOfARun, OneThatThisProgramEndedDoesNotRunThoughItHoldsIt) {
  MadeRun::finished(run());
  RunDir held = RunDir::open(run().string(), folder.path());
  held.lock();
  EXPECT_EQ(read_run_report(held).summary.state, RunState::running);
  EXPECT_EQ(read_run_report(held, {.has_ended = true}).summary.state, RunState::finished);
  MadeRun(run()).state("stopped", "stop.after is over");
  const RunReport stopped = read_run_report(held, {.has_ended = true});
  EXPECT_EQ(stopped.summary.state, RunState::stopped);
  EXPECT_EQ(stopped.summary.why, "stop.after is over");
}

TEST_F(ReportOfARun, ADamagedRecordHidesNoCurves) {
  MadeRun::finished(run());
  write_file_atomic(run() / "run.json", "{\"recipe\": \"textg");
  const std::string page = html();
  EXPECT_NE(page.find("run.json"), std::string::npos);
  EXPECT_NE(page.find("training loss"), std::string::npos);
  EXPECT_EQ(run_report_json(report()).at("record"), nullptr);
}

TEST_F(ReportOfARun, WhatANewerVersionKnowsIsSaidToBeMissing) {
  MadeRun made = MadeRun::finished(run());
  made.record({{"lockstep", "99.1.0"}});
  made.event({{"kind", "of the future"}, {"step", 41}});
  const std::string page = html();
  EXPECT_NE(page.find("was made by Lockstep 99.1.0"), std::string::npos);
  EXPECT_NE(page.find("1 events are of kinds"), std::string::npos);
}

TEST_F(ReportOfARun, RecordsOfAnyShapeMakeAPage) {
  for (const char* record :
       {"{}", "[]", "null", "{\"config\":7,\"plan\":[],\"devices\":{},\"started\":\"x\"}",
        "{\"recipe\":{},\"config\":{\"a\":{\"b\":[]}},\"plan\":{\"batch\":\"x\",\"precision\":3,"
        "\"parameters\":[1]},\"git\":5,\"command\":[[1],{}],\"result\":{\"a\":{\"b\":{\"c\":{\"d\":"
        "1}}}}}"}) {
    MadeRun::finished(run());
    write_file_atomic(run() / "run.json", record);
    EXPECT_NE(html().find("</html>"), std::string::npos) << record;
    fs::remove_all(run());
  }
}

TEST_F(ReportOfARun, ARunWithoutEventsIsAPageThatSaysSo) {
  MadeRun made(run());
  made.record();
  EXPECT_NE(html().find("The run has no events"), std::string::npos);
}

TEST_F(ReportOfARun, TheChosenMetricHasTheValueInAllCheckpoints) {
  MadeRun made(run());
  made.record();
  made.start(0);
  made.steps(0, 10);
  const auto checkpoint = [&](int step, double accuracy, double f1) {
    made.event({{"kind", "checkpoint"},
                {"step", step},
                {"metrics", {{"accuracy", accuracy}, {"f1", f1}, {"selection", -f1}}}});
  };
  checkpoint(5, 0.5, 0.5);
  checkpoint(10, 0.75, 0.5);
  EXPECT_EQ(report().metric(), "f1") << "not the first by name";
}

TEST_F(ReportOfARun, WhatAPlanDoesNotTellIsNoZero) {
  MadeRun made(run());
  made.record(
      {{"plan", {{"batch", nlohmann::json::object()}, {"parameters", nlohmann::json::object()}}}});
  made.start(0);
  const std::string page = html();
  EXPECT_EQ(page.find("0 samples per step"), std::string::npos);
  EXPECT_EQ(page.find("0 trained"), std::string::npos);
}

TEST_F(ReportOfARun, LossesThatAreNotFiniteAreTold) {
  MadeRun made(run());
  made.record();
  made.start(0);
  made.step(1, 1);
  made.step(2, NAN);
  EXPECT_NE(html().find("the loss of 1 of 2 logged steps was not finite"), std::string::npos);
}

TEST(ShownSeconds, IsAsNearAsPeoplePlanBy) {
  EXPECT_EQ(shown_seconds(0.0123), "12.3 ms");
  EXPECT_EQ(shown_seconds(45.25), "45.2 s");
  EXPECT_EQ(shown_seconds(0.9994), "999 ms");
  EXPECT_EQ(shown_seconds(0.9997), "1 s");
  EXPECT_EQ(shown_seconds(59.97), "1m0s");
  EXPECT_EQ(shown_seconds(61), "1m1s");
  EXPECT_EQ(shown_seconds(2 * 3600 + 41 * 60), "2h41m");
  EXPECT_EQ(shown_seconds(3 * 86400), "3d0h");
  EXPECT_EQ(shown_seconds(NAN), "unknown");
}

}  // namespace
}  // namespace lockstep
