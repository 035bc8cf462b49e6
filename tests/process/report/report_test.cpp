// lockstep report, on run folders made by hand, batches that ran, and a run that was trained.
#include "checkout_paths.h"
#include "fakes/made_run.h"
#include "fakes/tool.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using testing::MadeRun;
using testing::run_tool;
using testing::ToolResult;

class Report : public ::testing::Test {
 protected:
  ToolResult report(std::vector<std::string> words) const {
    words.insert(words.begin(), "report");
    return run_tool(words, folder.path());
  }
  fs::path at(const std::string& name) const { return folder.path() / name; }
  fs::path run(const std::string& name) const { return at("runs") / name; }

  static void expect_whole_page(const fs::path& file) {
    const std::string html = read_file(file);
    EXPECT_TRUE(html.starts_with("<!DOCTYPE html>")) << file;
    EXPECT_TRUE(html.ends_with("</html>\n")) << file;
    EXPECT_FALSE(std::regex_search(html, std::regex("https?://|<script|<link|@import"))) << file;
  }

  const TemporaryDirectory folder;
};

TEST_F(Report, OfARunLiesInItsFolder) {
  MadeRun::finished(run("first"));
  const ToolResult result = report({"first"});
  ASSERT_EQ(result.code, 0) << result.err;
  expect_whole_page(run("first") / "report.html");
  const auto twin = nlohmann::json::parse(read_file(run("first") / "report.json"));
  EXPECT_EQ(twin.at("run").at("step"), 40);
  EXPECT_NE(read_file(run("first") / "report.md").find("# first"), std::string::npos);
  EXPECT_EQ(report({"first"}).code, 0) << "an older report is replaced";
}

TEST_F(Report, OptionsAreComparedWithTheDefaultsOfTheRecipe) {
  MadeRun::finished(run("first")).record({{"config", {{"seed", 7}, {"log.every_steps", 1}}}});
  const auto printed = nlohmann::json::parse(report({"first", "--json"}).out);
  EXPECT_TRUE(printed.at("options").at("defaults_known").get<bool>());
  ASSERT_EQ(printed.at("options").at("changed").size(), 1U) << printed.at("options");
  EXPECT_EQ(printed.at("options").at("changed")[0].at("key"), "seed");
  EXPECT_FALSE(fs::exists(run("first") / "report.html")) << "--json writes nothing";
}

TEST_F(Report, OfACopyThatCannotBeWrittenToGoesElsewhere) {
  MadeRun::finished(run("first"));
  fs::permissions(run("first"), fs::perms::owner_read | fs::perms::owner_exec);
  const std::string tool = testing::program("lockstep");
  const ToolResult refused = testing::without_root_powers({tool, "report", "first"}, folder.path());
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("hint: name another place: --out FILE.html"), std::string::npos)
      << refused.err;
  const ToolResult result =
      testing::without_root_powers({tool, "report", "first", "--out", "page.html"}, folder.path());
  EXPECT_EQ(result.code, 0) << result.err;
  expect_whole_page(at("page.html"));
  fs::permissions(run("first"), fs::perms::owner_all);
}

TEST_F(Report, TheEndingOfOutSaysWhatIsWritten) {
  MadeRun::finished(run("first"));
  ASSERT_EQ(report({"first", "--out", "a.md", "--out", "a.json"}).code, 0);
  EXPECT_TRUE(fs::exists(at("a.md")) && fs::exists(at("a.json")));
  EXPECT_FALSE(fs::exists(at("a.html")));
  EXPECT_EQ(report({"first", "--out", "a.md"}).code, 2) << "it is there";
  EXPECT_EQ(report({"first", "--out", "a.md", "--force"}).code, 0);
  const ToolResult unknown = report({"first", "--out", "a.pdf"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_NE(unknown.err.find(".html, .md or .json"), std::string::npos) << unknown.err;
  fs::create_directory(at("pages"));
  ASSERT_EQ(report({"first", "--out", "pages"}).code, 0);
  expect_whole_page(at("pages/report.html"));
  const ToolResult made = report({"first", "--out", "new/pages/"});
  EXPECT_EQ(made.code, 0) << made.err;
  expect_whole_page(at("new/pages/report.html"));
}

TEST_F(Report, OfSeveralRunsNeedsAPlaceAndLaysCurvesOverEachOther) {
  MadeRun::finished(run("a"));
  MadeRun::finished(run("b"));
  const ToolResult refused = report({"a", "b"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("needs --out FILE"), std::string::npos) << refused.err;
  const ToolResult result =
      report({"a", "b", "--x", "samples", "--smooth", "0.5", "--out", "ab.html"});
  ASSERT_EQ(result.code, 0) << result.err;
  expect_whole_page(at("ab.html"));
}

TEST_F(Report, AThousandRunsMakeOnePage) {
  std::vector<std::string> words;
  for (int i = 0; i < 1000; ++i) {
    MadeRun made(run(cat("r", i)));
    made.record();
    made.start(0);
    made.steps(0, 10);
    words.push_back(cat("r", i));
  }
  words.insert(words.end(), {"--out", "all.html", "--out", "all.json"});
  const ToolResult result = report(words);
  ASSERT_EQ(result.code, 0) << result.err;
  expect_whole_page(at("all.html"));
  EXPECT_LT(fs::file_size(at("all.html")), 4U << 20);
  EXPECT_EQ(nlohmann::json::parse(read_file(at("all.json"))).at("runs").size(), 1000U);
}

TEST_F(Report, LogsOfOthersMakeAPageElsewhere) {
  write_file_atomic(at("log.csv"), "step,time,loss\n1,0,3\n2,1,2\n3,2,1\n");
  write_file_atomic(at("history.json"), R"([{"_step":1,"loss":3},{"_step":2,"loss":2}])");
  EXPECT_NE(report({"log.csv"}).err.find("needs --out FILE"), std::string::npos);
  EXPECT_FALSE(fs::exists(at("report.html")));
  const ToolResult one = report({"log.csv", "--out", "one.html"});
  ASSERT_EQ(one.code, 0) << one.err;
  expect_whole_page(at("one.html"));
  const auto printed = nlohmann::json::parse(report({"log.csv", "history.json", "--json"}).out);
  EXPECT_EQ(printed.at("kind"), "logs");
  EXPECT_EQ(printed.at("logs")[1].at("quantities").at("best.loss").at("value"), 2);
  EXPECT_NE(report({"log.csv", "--out", "x.md", "--smooth", "0.5"}).err.find("--smooth"),
            std::string::npos);
}

TEST_F(Report, StoresOfTrackersListTheirRuns) {
  for (const auto& [file, text] : std::vector<std::pair<const char*, const char*>>{
           {"mlruns/1/meta.yaml", "experiment_id: '1'\nname: mine\n"},
           {"mlruns/1/ab/meta.yaml", "run_id: ab\nrun_name: only\nstatus: 3\n"},
           {"mlruns/1/ab/metrics/loss", "1000 2 1\n2000 1 2\n"}}) {
    fs::create_directories(at(file).parent_path());
    write_file_atomic(at(file), text);
  }
  const auto runs =
      nlohmann::json::parse(run_tool({"runs", "mlruns", "--json"}, folder.path()).out);
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].at("name"), "only");
  EXPECT_NE(run_tool({"runs", "mlruns"}, folder.path()).out.find("finished"), std::string::npos);
  EXPECT_NE(run_tool({"runs", "mlruns#only"}, folder.path()).out.find("loss, best"),
            std::string::npos);
  EXPECT_EQ(run_tool({"runs", "mlruns", "--tag", "x"}, folder.path()).code, 2);
  EXPECT_EQ(report({"mlruns#only", "--out", "only.md"}).code, 0);
}

TEST_F(Report, RefusesInPlainWords) {
  MadeRun::finished(run("first"));
  fs::create_directories(run("empty"));
  write_file_atomic(at("no.json"), "{\"a\": 1}");
  write_file_atomic(at("cut.json"), "{\"kind\": \"compar");
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"frist"}, "did you mean first?"},
      {{"empty"}, "empty"},
      {{"no.json"}, "no.json is no comparison"},
      {{"cut.json"}, "cut.json is no comparison"},
      {{"first", "--x", "epochs"}, "--x must be step, time or samples"},
      {{"first", "--smooth", "1"}, "--smooth must be a weight from 0 to below 1"},
      {{"first", "--smooth", "nan"}, "--smooth must be"},
      {{"first", "--json", "--out", "a.md"}, "leave out one of them"},
      {{"first", "--json", "--x", "time"}, "--x is about drawn curves"},
      {{"first", "--out", "a.json", "--x", "time"}, "--x is about drawn curves"},
      {{}, "RUN"}};
  for (const auto& [words, part] : cases) {
    const ToolResult result = report(words);
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_NE((result.err + result.out).find(part), std::string::npos)
        << part << ": " << result.err;
  }
}

TEST_F(Report, HalfWrittenRunsMakeAPage) {
  MadeRun made = MadeRun::finished(run("half"));
  std::ofstream(run("half") / "events.jsonl", std::ios::app) << "{\"kind\":\"step\",\"step\":41,";
  write_file_atomic(run("half") / "gpu.csv", "time,gp");
  write_file_atomic(run("half") / "state.json", "{\"sta");
  fs::create_directories(run("half") / "checkpoints/step-000000040");
  const ToolResult result = report({"half"});
  EXPECT_EQ(result.code, 0) << result.err;
  expect_whole_page(run("half") / "report.html");
  fs::remove(run("half") / "events.jsonl");
  fs::create_directory(run("half") / "events.jsonl");
  const ToolResult broken = report({"half"});
  EXPECT_EQ(broken.code, 2) << "a folder in place of the events";
  EXPECT_NE(broken.err.find("events.jsonl"), std::string::npos) << broken.err;
}

TEST_F(Report, AHundredThousandStepsTakeASecond) {
  MadeRun made(run("long"));
  made.record();
  made.start(0);
  {
    std::ofstream out(run("long") / "events.jsonl", std::ios::app);
    for (int s = 1; s <= 100'000; ++s)
      out << R"({"compute_share":0.94,"data_share":0.01,"epoch":1.5,"grad_norm":1.469,"kind":"step",)"
          << R"("loss":)" << 1.0 + s % 10 << R"(,"lr":0.00015,"memory":[{"allocated":1,"peak":2,)"
          << R"("reserved":3}],"mfu":0.41,"save_share":0,"step":)" << s
          << R"(,"step_s":0.12,"time":)" << 1'000'000 + s
          << R"(,"units_per_s":2e5,"wait_share":0.04})"
          << "\n";
  }
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_EQ(report({"long"}).code, 0);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  EXPECT_LT(took.count(), 5) << "0.3 s on a core that is free";
  EXPECT_LT(fs::file_size(run("long") / "report.html"), 2U << 20);
  const auto twin = nlohmann::json::parse(read_file(run("long") / "report.json"));
  EXPECT_EQ(twin.at("steps").at("loss").at("values"), 100'000);
  EXPECT_EQ(twin.at("steps").at("loss").at("high"), 10);
}

TEST_F(Report, OfABatchShowsWhoRanWhenAndWhatFailed) {
  write_file_atomic(
      at("jobs.toml"),
      "command = [\"sh\", \"-c\", \"echo line of {i}; echo '{{\\\"result\\\": \\\"auc\\\", "
      "\\\"value\\\": 0.{i}}}' >> $LOCKSTEP_EVENTS; test {i} != 3\"]\n"
      "name = \"job-{i}\"\nmax_failure_rate = 1\n[matrix]\ni = [1, 2, 3, 4]\n");
  const ToolResult ran = run_tool({"batch", "run", "jobs.toml", "--name", "b"}, folder.path());
  ASSERT_EQ(ran.code, 1) << ran.err;
  const ToolResult result = report({"b"});
  ASSERT_EQ(result.code, 0) << result.err;
  expect_whole_page(run("b") / "report.html");
  const std::string text = read_file(run("b") / "report.md");
  for (const char* part : {"batch b", "3 of 4", "job-3: exit code 1", "line of 3",
                           "| job-4 | done |", "Timeline", "| auc | 4 |"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  const auto twin = nlohmann::json::parse(read_file(run("b") / "report.json"));
  EXPECT_EQ(twin.at("counts").at("failed"), 1);
  EXPECT_EQ(twin.at("jobs").size(), 4U);
  for (const char* flag : {"--x", "--smooth"}) {
    const ToolResult curves = report({"b", flag, flag[2] == 'x' ? "time" : "0.5"});
    EXPECT_EQ(curves.code, 2) << flag;
    EXPECT_NE(curves.err.find(cat(flag, " is about the curves of runs, but b is a batch")),
              std::string::npos)
        << curves.err;
  }
  write_file_atomic(run("b") / "ledger.sqlite", "no database");
  EXPECT_EQ(report({"b"}).code, 2);
}

TEST_F(Report, OfTwoBatchesIsTheirComparison) {
  for (const char* name : {"b", "c"}) {
    const ToolResult ran =
        run_tool({"batch", "run", "--name", name, "--", "true", ":::", "1"}, folder.path());
    ASSERT_EQ(ran.code, 0) << ran.err;
  }
  EXPECT_NE(report({"b", "c"}).err.find("needs --out FILE"), std::string::npos);
  const ToolResult result =
      report({"b", "c", "--out", at("two.html").string(), "--out", at("two.json").string()});
  ASSERT_EQ(result.code, 0) << result.err;
  expect_whole_page(at("two.html"));
  const auto twin = nlohmann::json::parse(read_file(at("two.json")));
  EXPECT_EQ(twin.at("kind"), "comparison");
  EXPECT_EQ(twin.at("jobs").at("matched"), 1);
  const ToolResult three = report({"b", "c", "b", "--out", at("three.html").string()});
  EXPECT_EQ(three.code, 2);
  EXPECT_NE(three.err.find("lockstep compare b c b --table"), std::string::npos) << three.err;
  EXPECT_NE(run_tool({"runs", "b"}, folder.path()).err.find("`lockstep batch status b`"),
            std::string::npos);
}

TEST_F(Report, OfAComparisonLiesBesideIt) {
  write_file_atomic(at("cmp.json"), R"({"kind":"comparison","version":1,"conclusion":"faster",
      "verdict":"B is faster","a":{"name":"x","trials":[]},"b":{"name":"y","trials":[]}})");
  const ToolResult result = report({"cmp.json"});
  ASSERT_EQ(result.code, 0) << result.err;
  expect_whole_page(at("cmp-report.html"));
  EXPECT_TRUE(fs::exists(at("cmp-report.md")));
  EXPECT_FALSE(fs::exists(at("cmp-report.json"))) << "the comparison is its own twin";
  const ToolResult smooth = report({"cmp.json", "--smooth", "0.5"});
  EXPECT_EQ(smooth.code, 2);
  EXPECT_NE(smooth.err.find("cmp.json is a comparison"), std::string::npos) << smooth.err;
}

TEST_F(Report, OfATrainedRunFollowsTraining) {
  if (!fs::exists(testing::program("lockstep-worker")))
    GTEST_SKIP() << "lockstep-worker is not built";
  testing::write_corpus(at("corpus.txt"), 20'000);
  std::vector<std::string> words{"train",
                                 "textgen",
                                 "--name",
                                 "real",
                                 "--devices",
                                 "cpu:2",
                                 "--then",
                                 "report",
                                 "stop.steps=12",
                                 "eval.every_steps=4",
                                 "log.tensorboard=true"};
  for (const std::string& word : testing::tiny(at("corpus.txt"))) words.push_back(word);
  const ToolResult trained = run_tool(words, folder.path());
  ASSERT_EQ(trained.code, 0) << trained.err;
  expect_whole_page(run("real") / "report.html");
  const auto twin = nlohmann::json::parse(read_file(run("real") / "report.json"));
  EXPECT_EQ(twin.at("run").at("state"), "finished");
  EXPECT_EQ(twin.at("counts").at("steps"), 12);
  EXPECT_EQ(twin.at("counts").at("evaluations"), 3);
  EXPECT_EQ(twin.at("counts").at("unknown_kinds"), 0) << "every event is known to the report";
  EXPECT_EQ(twin.at("problems").size(), 0U) << twin.at("problems");
  EXPECT_GT(twin.at("time_s").at("compute").get<double>(), 0);
  EXPECT_EQ(std::distance(fs::directory_iterator(run("real") / "tensorboard"), {}), 1);
}

}  // namespace
}  // namespace lockstep
