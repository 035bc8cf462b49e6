// lockstep compare and the labels of lockstep runs, on run folders as a training leaves them.
#include "checkout_paths.h"
#include "core/base/text/text.h"
#include "core/media/csv_table.h"
#include "fakes/raw_controls.h"
#include "fakes/tool.h"
#include "fakes/written_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using lockstep::testing::make_run;
using lockstep::testing::run_tool;
using lockstep::testing::ToolResult;
using lockstep::testing::WrittenRun;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class Compare : public ::testing::Test {
 protected:
  ToolResult tool(std::vector<std::string> words) {
    return run_tool(std::move(words), folder.path());
  }
  ToolResult compare(std::vector<std::string> words) {
    words.insert(words.begin(), "compare");
    return tool(std::move(words));
  }
  fs::path root() const { return folder.path() / "runs"; }
  RunDir made(const WrittenRun& run) { return make_run(root(), run); }
  // Three runs a side, of these step times.
  void groups(double step_a, double step_b) {
    for (int i = 1; i <= 3; ++i) {
      const double noise = 1 + 0.001 * (i - 2);
      made({.name = "a" + std::to_string(i), .step_s = step_a * noise, .seed = i});
      made({.name = "b" + std::to_string(i), .step_s = step_b * noise, .seed = i});
    }
  }
  const std::vector<std::string> sides{"--groups", "old=a1,a2,a3", "new=b1,b2,b3"};
  std::vector<std::string> with(std::vector<std::string> words) const {
    words.insert(words.begin(), sides.begin(), sides.end());
    return words;
  }
  const TemporaryDirectory folder;
};

TEST_F(Compare, GroupsOfRunsGetAVerdictWithAnInterval) {
  groups(0.1, 0.12);
  const ToolResult result = compare(sides);
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, StartsWith("new against old: slower; step time 1.200 × ("));
  EXPECT_THAT(result.out, HasSubstr("Welch's t"));
  EXPECT_THAT(result.out, HasSubstr("3 against 3 repeats"));
}

TEST_F(Compare, ExitCodesTellCiWhetherItIsSlower) {
  groups(0.1, 0.12);
  EXPECT_EQ(compare(with({"--fail-if-slower", "3%"})).code, 1);
  EXPECT_EQ(compare(with({"--fail-if-slower", "30%"})).code, 0);
  EXPECT_EQ(compare({"a1", "b1", "--fail-if-slower", "3%"}).code, 2) << "one repeat";
  made({.name = "other", .data = "d1"});
  EXPECT_EQ(compare({"a1", "other", "--fail-if-slower", "3%"}).code, 2) << "other data";
}

TEST_F(Compare, OneRunASideIsInconclusiveAndSaysSo) {
  groups(0.1, 0.12);
  const ToolResult result = compare({"a1", "runs/b1"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, StartsWith("b1 against a1: inconclusive: one repeat on a side"));
}

TEST_F(Compare, AGroupIsTakenByItsName) {
  for (int i = 1; i <= 3; ++i)
    for (const char* name : {"base", "wide"}) {
      const bool wide = name == std::string("wide");
      made({.name = cat(name, "-s", i),
            .step_s = (wide ? 0.12 : 0.1) * (1 + 0.001 * (i - 2)),
            .seed = i,
            .more = {{"group", name}},
            .started = 1'000'000.0 + i});
    }
  made({.name = "wide-s4", .seed = 4, .more = {{"group", "wide"}}, .ends = false});
  const ToolResult result = compare({"--groups", "base", "wide"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, StartsWith("wide against base: slower; step time 1.200 × ("));
  EXPECT_THAT(result.out, HasSubstr("3 against 3 repeats"));
  EXPECT_THAT(result.out, HasSubstr("wide-s4")) << "what is left out is told";
  EXPECT_THAT(compare({"--groups", "old=base", "new=wide-s1,wide-s2"}).out,
              HasSubstr("3 against 2 repeats"));
  EXPECT_THAT(compare({"--groups", "base", "wid"}).err, HasSubstr("did you mean the group wide?"));
  EXPECT_THAT(compare({"--groups", "a=base", "b=base-s1"}).err, HasSubstr("named twice"));
}

TEST_F(Compare, ListsOfRunsWithoutTheFlagAreAnsweredWithIt) {
  groups(0.1, 0.12);
  const ToolResult result = compare({"a1,a2,a3", "b1,b2,b3"});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("a1,a2,a3 names several runs, but a side is one"));
  EXPECT_THAT(result.err, HasSubstr("lockstep compare --groups a=a1,a2,a3 b=b1,b2,b3"));
  EXPECT_THAT(compare({"old=a1,a2", "b1"}).err, HasSubstr("--groups old=a1,a2 b=b1"));
  EXPECT_THAT(compare({"sweep/lr=0.1,seed=2", "b1"}).err, Not(HasSubstr("names several runs")));
}

TEST_F(Compare, GroupsNeedRunsOfTheirOwn) {
  groups(0.1, 0.12);
  const ToolResult empty = compare({"--groups", "x=,", "y=b1"});
  EXPECT_EQ(empty.code, 2);
  EXPECT_THAT(empty.err, HasSubstr("the side x names no run"));
  EXPECT_THAT(compare({"--groups", "x=a1,runs/a1/", "y=b1,b2"}).err,
              HasSubstr("a1 is named twice in --groups"));
  EXPECT_THAT(compare({"--groups", "x=a1,a2", "y=a2,b1"}).err, HasSubstr("a2 is named twice"));
  EXPECT_THAT(compare({"--groups", "x=a1", "x=b1"}).err, HasSubstr("both sides are named x"));
}

TEST_F(Compare, ANameMayEndWithASlash) {
  groups(0.1, 0.12);
  EXPECT_EQ(compare({"a1/", "b1"}).code, 0) << compare({"a1/", "b1"}).err;
}

TEST_F(Compare, JsonAndOutHoldTheSame) {
  groups(0.1, 0.12);
  const ToolResult result = compare(with({"--json", "--out", "c.json"}));
  EXPECT_EQ(result.code, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json["conclusion"], "slower");
  EXPECT_EQ(json, nlohmann::json::parse(read_file(folder.path() / "c.json")));
  EXPECT_EQ(compare(with({"--out", "c.json"})).code, 2) << "nothing is overwritten";
  EXPECT_EQ(compare(with({"--out", "c.json", "--force"})).code, 0);
}

TEST_F(Compare, ManyRunsBecomeATableOfWhatDiffers) {
  made({.name = "one", .lr = 1e-3});
  made({.name = "two", .best_loss = 1.2, .lr = 3e-4});
  made({.name = "three", .best_loss = 1.4, .lr = 1e-4});
  const ToolResult table = compare({"one", "two", "three", "--sort", "best.loss"});
  EXPECT_EQ(table.code, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("optimizer.lr"));
  EXPECT_THAT(table.out, Not(HasSubstr("global_batch")));
  EXPECT_LT(table.out.find("two "), table.out.find("three "));
  EXPECT_LT(table.out.find("three "), table.out.find("one "));
  const CsvTable csv = parse_csv(compare({"one", "two", "--csv"}).out, "csv");
  EXPECT_EQ(csv.number(1, csv.column("optimizer.lr")), 3e-4);
  EXPECT_EQ(nlohmann::json::parse(compare({"one", "two", "three", "--json"}).out).size(), 3U);
  EXPECT_THAT(compare({"one", "two", "three", "--sort", "best.los"}).err, HasSubstr("best.loss"));
}

TEST_F(Compare, BadFoldersAreSaidAndHideNoOther) {
  made({.name = "good"});
  fs::create_directories(root() / "empty");
  fs::create_directories(root() / "half");
  std::ofstream(root() / "half/run.json") << "{\"recipe\":";
  fs::create_directories(root() / "newer");
  std::ofstream(root() / "newer/run.json") << "{\"recipe\":\"x\",\"lockstep\":\"99.0\",\"plan\":{"
                                              "\"batch\":[1]},\"config\":{\"a\":{\"b\":1}}}";
  std::ofstream(root() / "newer/events.jsonl") << "{\"kind\":\"strange\"}\n\x01\x02\n";
  EXPECT_THAT(compare({"good", "half"}).err, HasSubstr("half/run.json is damaged"));
  EXPECT_THAT(compare({"good", "empty"}).err, HasSubstr("is not a run"));
  EXPECT_THAT(compare({"good", "god"}).err, HasSubstr("did you mean good?"));
  const ToolResult newer = compare({"good", "newer"});
  EXPECT_EQ(newer.code, 0) << newer.err;
  EXPECT_THAT(newer.out, HasSubstr("not comparable"));
  const ToolResult table = compare({"good", "half", "empty", "newer"});
  EXPECT_EQ(table.code, 0) << table.err;
  EXPECT_THAT(table.err, HasSubstr("warning: half is left out"));
  EXPECT_THAT(table.out, HasSubstr("good"));
}

TEST_F(Compare, WrongUseIsRefusedInWords) {
  groups(0.1, 0.1);
  const std::vector<std::pair<std::vector<std::string>, const char*>> wrong = {
      {{}, "needs what to compare"},
      {{"a1"}, "needs two sides"},
      {{"--groups", "a1", "b1"}, "must be NAME=RUN"},
      {{"--groups", "x=a1,a2"}, "two sides"},
      {{"a1", "b1", "--margin", "2"}, "--margin must be a share"},
      {{"a1", "b1", "--loss", "low"}, "--loss must be a number"},
      {{"a1", "b1", "--better", "loss"}, "METRIC=lower"},
      {{"a1", "b1", "--by", "stepp_s"}, "step_s"},
      {{"a1", "b1", "--varied", "optimizer.rl"}, "--varied"},
      {{"a1", "b1", "a2", "--loss", "1"}, "is about two sides"},
      {{"a1", "b1", "a2", "--margin", "1%"}, "--margin is about two sides"},
      {{"a1", "b1", "--table", "--better", "loss=lower"}, "--better is about two sides"},
      {{"a1", "b1", "--csv", "--json"}, "two forms of one table"},
      {{"--tag", "none"}, "nothing to compare"}};
  for (const auto& [words, says] : wrong) {
    const ToolResult result = compare(words);
    EXPECT_EQ(result.code, 2) << says;
    EXPECT_THAT(result.err, HasSubstr(says));
  }
}

TEST_F(Compare, ReportsOfOthersAreNotComparable) {
  const std::string reports = std::string(LOCKSTEP_SOURCE_DIR) + "/tests/data/reports/";
  for (const auto& [a, b] :
       {std::pair{"teachers-baseline", "teachers-experiment"},
        std::pair{"epochs-before", "epochs-after"}, std::pair{"one-gpu", "two-gpus"}}) {
    const ToolResult result =
        compare({reports + a + ".toml", reports + b + ".toml", "--fail-if-slower", "3%"});
    EXPECT_EQ(result.code, 2) << a;
    EXPECT_THAT(result.out, HasSubstr("not comparable:\n  - ")) << a;
  }
}

TEST_F(Compare, LogsOfOtherProgramsSayWhatIsNotKnown) {
  std::ofstream(folder.path() / "x.csv") << "step,time,loss\n1,0,3\n2,1,2\n";
  std::ofstream(folder.path() / "y.csv") << "step,time,loss\n1,0,3\n2,2,2\n";
  EXPECT_THAT(compare({"x.csv", "y.csv"}).out, HasSubstr("not known: data of both"));
  std::ofstream(folder.path() / "z.txt") << "nothing";
  EXPECT_THAT(compare({"x.csv", "z.txt"}).err, HasSubstr("z.txt is text whose name ends in .txt"));
}

// The name of a column is that of whoever wrote the log.
TEST_F(Compare, ColumnsOfOthersDoNotSteerTheTerminal) {
  for (const char* name : {"x.csv", "y.csv"})
    std::ofstream(folder.path() / name)
        << "step,time,\"loss\x1b[2J\xc2\x9b\xe2\x80\xae\"\n1,0,3\n2,1,2\n";
  for (const std::vector<std::string>& more : {std::vector<std::string>{}, {"--json"}}) {
    std::vector<std::string> words{"x.csv", "y.csv"};
    words.insert(words.end(), more.begin(), more.end());
    const ToolResult result = compare(words);
    EXPECT_FALSE(testing::has_raw_controls(result.out + result.err));
    EXPECT_THAT(result.out + result.err, HasSubstr("202e"));
  }
}

TEST_F(Compare, TagsAndNotesFindRunsAgain) {
  made({.name = "a", .tags = {"sweep"}});
  made({.name = "b"});
  EXPECT_THAT(tool({"runs", "--tag", "sweep"}).out, Not(HasSubstr("\nb")));
  const ToolResult changed =
      tool({"runs", "b", "--tag", "sweep", "--tag", "x", "--note", "the second"});
  EXPECT_EQ(changed.code, 0) << changed.err;
  EXPECT_THAT(changed.err, HasSubstr("tags sweep, x; note: the second"));
  EXPECT_THAT(tool({"runs", "b"}).out, HasSubstr("the second"));
  EXPECT_THAT(tool({"runs"}).out, HasSubstr("TAGS"));
  const ToolResult table = compare({"--tag", "sweep"});
  EXPECT_EQ(table.code, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("\nb "));
  EXPECT_EQ(tool({"runs", "b", "--untag", "sweep"}).code, 0);
  EXPECT_THAT(tool({"runs", "b", "--untag", "sweep"}).err, HasSubstr("b has no tag sweep"));
  EXPECT_THAT(tool({"runs", "b", "--tag", "a,b"}).err, HasSubstr("without commas"));
  EXPECT_THAT(tool({"runs", "--note", "x"}).err, HasSubstr("is about one run"));
  EXPECT_EQ(nlohmann::json::parse(tool({"runs", "b", "--json"}).out)["tags"],
            nlohmann::json::array({"x"}));
}

TEST_F(Compare, BatchesAreComparedByWhatTheirJobsReport) {
  const auto batch = [&](const std::string& name, const std::string& used) {
    return tool({"batch", "run", "--name", name, "--", "sh", "-c",
                 "echo '{\"results\": {\"auc\": 0.7, \"data\": \"d\", \"used.trees\": " + used +
                     "}}' >> $LOCKSTEP_EVENTS",
                 "{1}", ":::", "1", "2"});
  };
  ASSERT_EQ(batch("a", "100").code, 0);
  ASSERT_EQ(batch("b", "100").code, 0);
  ASSERT_EQ(batch("c", "200").code, 0);
  const auto same = nlohmann::json::parse(compare({"a", "b", "--json"}).out);
  EXPECT_EQ(same["conclusion"], "inconclusive") << same["verdict"];
  EXPECT_EQ(same["jobs"]["matched"], 2);
  EXPECT_EQ(same["by"], "wall_s");
  const ToolResult loss = compare({"a", "b", "--loss", "0.5"});
  EXPECT_EQ(loss.code, 2);
  EXPECT_THAT(loss.err, HasSubstr("--loss is a value of the metric"));
  const ToolResult other = compare({"a", "c"});
  EXPECT_THAT(other.out, HasSubstr("used.trees 200 against 100"));
  EXPECT_THAT(compare({"a", "c", "--varied", "used.trees"}).out, HasSubstr("inconclusive"));
  EXPECT_THAT(compare({"a", "b", "c"}).out, HasSubstr("used.trees"));
  EXPECT_EQ(tool({"runs", "c", "--tag", "larger", "--note", "twice"}).code, 0);
  EXPECT_THAT(tool({"runs", "--tag", "larger"}).out, HasSubstr("batch c: "));
  EXPECT_THAT(tool({"runs", "--tag", "larger"}).out, Not(HasSubstr("batch a")));
  EXPECT_THAT(compare({"--tag", "larger"}).out, HasSubstr("\nc "));
}

TEST_F(Compare, ATrialOfTwoCommandsHasPairs) {
  fs::create_directories(folder.path() / "t");
  nlohmann::json record = {{"kind", "abtest"},
                           {"format", 1},
                           {"machine", {{"cpu", "Some CPU"}, {"gpus", nlohmann::json::array()}}},
                           {"commands", {{"a", {{"text", "old"}}}, {"b", {{"text", "new"}}}}},
                           {"pairs", nlohmann::json::array()}};
  for (int pair = 1; pair <= 4; ++pair)  // far apart from pair to pair, and 1.1 × within each
    record["pairs"].push_back({{"number", pair},
                               {"a", {{"wall_s", 1.0 * pair}}},
                               {"b", {{"wall_s", (1.1 + 0.001 * pair) * pair}}}});
  std::ofstream(folder.path() / "t/abtest.json") << record;
  const ToolResult result = compare({"t"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("B against A: slower; time 1.10"));
  EXPECT_THAT(result.out, HasSubstr("command new against old"));
  record["format"] = 2;
  std::ofstream(folder.path() / "t/abtest.json") << record;
  EXPECT_THAT(compare({"t"}).err, HasSubstr("of a later Lockstep"));
}

TEST_F(Compare, ATrialOfTwoCommandsIsJudgedAsItJudgedItself) {
  fs::create_directories(folder.path() / "t");
  nlohmann::json record = {
      {"kind", "abtest"},
      {"format", 1},
      {"machine", {{"cpu", "Some CPU"}, {"gpus", nlohmann::json::array()}}},
      {"commands", {{"a", {{"text", "old"}}}, {"b", {{"text", "new"}}}}},
      {"quantity",
       {{"key", "metric"}, {"pattern", "x"}, {"higher_is_better", true}, {"scale", "difference"}}},
      {"rule", {{"margin", 0.5}, {"confidence", 0.9}}},
      {"pairs", nlohmann::json::array()}};
  for (int pair = 1; pair <= 4; ++pair)
    record["pairs"].push_back({{"number", pair},
                               {"a", {{"wall_s", 1.0}, {"metric", 3.0}}},
                               {"b", {{"wall_s", 2.0}, {"metric", 2.7}}}});
  std::ofstream(folder.path() / "t/abtest.json") << record;
  const auto found = nlohmann::json::parse(compare({"t", "--json"}).out);
  EXPECT_EQ(found["by"], "metric");
  EXPECT_EQ(found["by_margin"], 0.5);
  EXPECT_EQ(found["confidence"], 0.9);
  EXPECT_EQ(found["conclusion"], "no difference") << found["verdict"];
  EXPECT_EQ(nlohmann::json::parse(compare({"t", "--json", "--margin", "2%"}).out)["conclusion"],
            "worse");
  EXPECT_EQ(nlohmann::json::parse(compare({"t", "--json", "--by", "wall_s"}).out)["conclusion"],
            "slower");
}

TEST_F(Compare, TenThousandRunsTakeSeconds) {
  const RunDir first = made({.name = "r0", .steps = 20, .eval_every = 10});
  std::vector<std::string> words;
  for (int i = 0; i < 10'000; ++i) {
    const fs::path run = root() / ("r" + std::to_string(i));
    words.push_back(run.filename().string());
    if (i == 0) continue;
    fs::create_directory(run);
    fs::create_hard_link(first.path() / "run.json", run / "run.json");
    fs::create_hard_link(first.path() / "events.jsonl", run / "events.jsonl");
  }
  const auto begin = std::chrono::steady_clock::now();
  words.push_back("--csv");
  const ToolResult result = compare(words);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'), 10'001);
  EXPECT_LT(seconds, 60) << "a few seconds, and room for a busy machine";
  RecordProperty("seconds", static_cast<int>(seconds));
}

}  // namespace
}  // namespace lockstep
