// One symbol of many whose prices are bad: left out by name before anything runs, or failed windows
// while the others go on.
#include "gbdt_rig.h"

namespace lockstep {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::ToolResult;

class GbdtBadSymbols : public GbdtRig {
 protected:
  ToolResult batch(const std::vector<std::string>& more) const {
    std::vector<std::string> words{
        "batch",          "gbdt",          "data.path=prices", "start=2020-04-01",
        "window_days=60", "n_estimators=3"};
    words.insert(words.end(), more.begin(), more.end());
    return tool(words);
  }
  void write(const std::string& symbol, const std::string& csv) const {
    write_file_atomic(folder() / "prices" / (symbol + ".csv"), csv);
  }
};

TEST_F(GbdtBadSymbols, AreLeftOutByNameBeforeTheOthersRun) {
  const std::string header = "Date,Open,High,Low,Close,Volume\n";
  write_prices("AB");
  for (const auto& [csv, says] : std::vector<std::pair<std::string, std::string>>{
           {header + "2020-01-01,1,1,1,x,1\n", "CD.csv, line 2: close is 'x'"},
           {header + "2020-01-02,1,1,1,1,1\n2020-01-02,1,1,1,1,1\n", "CD.csv, line 3"},
           {"Date,Open\n2020-01-01,1\n", "CD.csv, line 1: no column high, low, close"},
           {header, "CD.csv holds no bar"},
           {"", "CD.csv holds no line of names"}}) {
    write("CD", csv);
    const ToolResult result = batch({"--dry-run"});
    EXPECT_EQ(result.code, 0) << csv;
    EXPECT_THAT(result.err, AllOf(HasSubstr("left out: "), HasSubstr(says)));
    EXPECT_THAT(result.out, AllOf(HasSubstr("AB_2020-04-01"), Not(HasSubstr("CD_"))));
  }
  std::filesystem::remove(folder() / "prices/AB.csv");
  const ToolResult none = batch({"--name", "g"});
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, HasSubstr("error: CD.csv holds no line of names"));
  EXPECT_FALSE(exists("runs"));
}

TEST_F(GbdtBadSymbols, WithoutAFileAreLeftOutLikeThoseThatCannotBeRead) {
  write_prices("AB");
  const ToolResult result = batch({"--dry-run", "symbols=AB,AC"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("left out: AC: there is no file of the symbol AC in "));
  EXPECT_THAT(result.err, HasSubstr("; is it AB?"));
  EXPECT_THAT(result.out, AllOf(HasSubstr("AB_2020-04-01"), Not(HasSubstr("AC_"))));
}

TEST_F(GbdtBadSymbols, AreNamedAtTheEndToo) {
  write_prices("AB");
  write("CD", "Date,Open,High,Low,Close,Volume\n2020-01-01,1,1,1,-1,1\n");
  const ToolResult result = batch({"--name", "g", "symbols=AB,CD"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("succeeded; left out: CD\n"));
  EXPECT_THAT(result.out, HasSubstr("left out: CD: CD.csv, line 2: "));
  EXPECT_THAT(tool({"batch", "status", "g"}).out, HasSubstr("left out: CD: CD.csv, line 2: "));
  EXPECT_THAT(text("runs/g/windows.csv"), HasSubstr("CD,,,left out,"));
  ASSERT_EQ(tool({"report", "g", "--out", "r.md"}).code, 0);
  EXPECT_THAT(text("r.md"), AllOf(HasSubstr("\n- left out: CD: "), Not(HasSubstr("\n- \n"))));
  ASSERT_EQ(tool({"report", "g", "--out", "r.html"}).code, 0);
  EXPECT_THAT(text("r.html"), HasSubstr("left out: CD: CD.csv, line 2: "));
  const auto metadata =
      nlohmann::json::parse(text("runs/g/jobs/AB_2020-04-01_to_2020-05-31/metadata.json"));
  EXPECT_EQ(metadata.at("options").at("window_days"), 60);
}

TEST_F(GbdtBadSymbols, DoNotMakeItOtherJobsByAnotherReason) {
  write_prices("AB");
  const std::string header = "Date,Open,High,Low,Close,Volume\n";
  write("CD", header + "2020-01-01,1,1,1,-1,1\n");
  ASSERT_EQ(batch({"--name", "g"}).code, 0);
  // As a file of an earlier version.
  std::string jobs = text("runs/g.toml");
  const std::string recorded = ", LOCKSTEP_BATCH_OPTIONS = \"window_days=60\"";
  ASSERT_THAT(jobs, HasSubstr(recorded));
  jobs.erase(jobs.find(recorded), recorded.size());
  write_file_atomic(folder() / "runs/g.toml", jobs);
  write("CD", header);
  const std::string before = text("runs/g/jobs/AB_2020-04-01_to_2020-05-31/metadata.json");
  const ToolResult again = batch({"--name", "g"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("CD.csv holds no bar"));
  EXPECT_THAT(text("runs/g.toml"), AllOf(HasSubstr(recorded), HasSubstr("CD.csv holds no bar")));
  EXPECT_EQ(text("runs/g/jobs/AB_2020-04-01_to_2020-05-31/metadata.json"), before)
      << "what is done stays";
}

TEST_F(GbdtBadSymbols, AreTakenUpByTheSameCommandOnceTheirFilesAreRepaired) {
  write_prices("AB");
  write_prices("EF");
  const std::string whole = text("prices/EF.csv");
  write("CD", "Date,Open,High,Low,Close,Volume\n2020-01-01,1,1,1,-1,1\n");
  write("EF", whole.substr(0, whole.find("2020-06-10")));  // its window has too few rows
  const std::string command =
      "lockstep batch gbdt data.path=prices start=2020-04-01 window_days=60 n_estimators=3 "
      "end=2020-07-30 --name g\n";
  const auto run = [&] { return batch({"end=2020-07-30", "--name", "g"}); };
  const ToolResult first = run();
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_THAT(first.out, HasSubstr("left out: CD: "));
  EXPECT_THAT(first.out, HasSubstr(" skipped"));
  EXPECT_THAT(first.out, HasSubstr(command));
  EXPECT_THAT(tool({"batch", "run", "runs/g.toml", "--name", "g"}).out,
              Not(HasSubstr("this takes up what was left out")))
      << "the file may have been edited";
  EXPECT_THAT(run().out, HasSubstr(command));
  const ToolResult retried = tool({"batch", "retry", "g", "CD"});
  EXPECT_EQ(retried.code, 2);
  EXPECT_THAT(retried.err, HasSubstr("no job of CD, which was left out: CD.csv, line 2"));
  EXPECT_THAT(retried.err, HasSubstr("lockstep batch gbdt data.path=prices"));
  const std::string before = text("runs/g/jobs/AB_2020-04-01_to_2020-05-31/metadata.json");
  write_prices("CD");
  write_prices("EF");
  const ToolResult again = run();
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("6 done of 6"));
  EXPECT_THAT(again.out, Not(HasSubstr("left out")));
  EXPECT_EQ(text("runs/g/jobs/AB_2020-04-01_to_2020-05-31/metadata.json"), before);
}

TEST_F(GbdtBadSymbols, WithSkippedWindowsRunAgainInABatchOfAFolderToo) {
  write_prices("EF");
  const std::string whole = text("prices/EF.csv");
  write("EF", whole.substr(0, whole.find("2020-06-10")));
  EXPECT_THAT(batch({"end=2020-07-30", "--name", "a/g"}).out, HasSubstr(" skipped"));
  write_prices("EF");
  EXPECT_THAT(batch({"end=2020-07-30", "--name", "a/g"}).out, HasSubstr("2 done of 2"));
}

// Without `end`, the windows of EF follow from its prices.
TEST_F(GbdtBadSymbols, WhoseWindowsMoveWithARepairAreOtherJobs) {
  write_prices("AB");
  write_prices("EF");
  const std::string whole = text("prices/EF.csv");
  write("EF", whole.substr(0, whole.find("2020-06-10")));
  ASSERT_EQ(batch({"--name", "g"}).code, 0);
  write_prices("EF");
  const ToolResult again = batch({"--name", "g"});
  EXPECT_EQ(again.code, 2);
  EXPECT_THAT(again.err, AllOf(HasSubstr("with other jobs"), HasSubstr("Data that changed may")));
}

TEST_F(GbdtBadSymbols, WithTooFewDaysAreLeftOutByNameUnlessThereIsNoOther) {
  std::filesystem::create_directories(folder() / "prices");
  write("CD", "Date,Open,High,Low,Close,Volume\n2020-01-01,1,1,1,1,1\n");
  EXPECT_THAT(batch({"--dry-run"}).err, HasSubstr("CD: no window fits"));
  EXPECT_EQ(batch({"--dry-run"}).code, 2);
  write_prices("AB");
  const ToolResult result = batch({"--dry-run"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("left out: CD: no window fits"));
  EXPECT_THAT(result.out, AllOf(HasSubstr("AB_2020-04-01"), Not(HasSubstr("CD_"))));
}

TEST_F(GbdtBadSymbols, WhoseFileGoesAfterThePlanFailWithTheirReasonAndTheRestGoesOn) {
  write_prices("AB");
  write_prices("CD");
  ASSERT_EQ(batch({"--write", "g.toml"}).code, 0);
  std::filesystem::remove(folder() / "prices/CD.csv");
  const ToolResult result = tool({"batch", "run", "g.toml", "--name", "g"});
  EXPECT_EQ(result.code, 1) << result.err;
  EXPECT_THAT(result.out, HasSubstr("failed: CD_2020-04-01_to_2020-05-31"));
  EXPECT_THAT(result.out, Not(HasSubstr("failed: AB")));
  EXPECT_THAT(tool({"batch", "logs", "g", "CD_2020-04-01_to_2020-05-31"}).out,
              AllOf(HasSubstr("no file of the symbol CD"), HasSubstr("prices")));
}

}  // namespace
}  // namespace lockstep
