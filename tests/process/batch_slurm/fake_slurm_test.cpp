// lockstep batch slurm with a Slurm that is none: what it is told, and what becomes of the batch.
#include <algorithm>

#include "fake_slurm.h"

#include <nlohmann/json.hpp>

namespace lockstep {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::ToolResult;

int lines_in(const std::string& text) {
  return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

TEST_F(FakeSlurm, PrintsTheScriptAndRunsNothing) {
  write("b.toml", numbers(20));
  const ToolResult result = slurm({"--dry-run", "--jobs-per-task", "6", "--at-once", "3",
                                   "--partition", "gpu", "--time", "4h30m", "--gpus-per-task", "2",
                                   "--sbatch=--account=vision", "--sbatch=--mail-type=END"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("#SBATCH --array=0-3%3\n"));
  EXPECT_THAT(result.out, HasSubstr("#SBATCH --partition=gpu\n"));
  EXPECT_THAT(result.out, HasSubstr("#SBATCH --time=4:30:00\n"));
  EXPECT_THAT(result.out, HasSubstr("#SBATCH --gres=gpu:2\n"));
  EXPECT_THAT(result.out, HasSubstr("#SBATCH --account=vision\n#SBATCH --mail-type=END\n"));
  EXPECT_THAT(result.out, HasSubstr("set -- 1 2 3 4\n"));
  EXPECT_EQ(calls(), "");
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "runs"));
}

TEST_F(FakeSlurm, RunsEveryJobOnceAndReadsAllSharesTogether) {
  write("b.toml", numbers(20, 7));
  const ToolResult handed = slurm({"--jobs-per-task", "6"});
  EXPECT_EQ(handed.code, 0) << handed.err;
  EXPECT_THAT(handed.out, HasSubstr("Slurm job 101: 20 jobs in 4 tasks"));
  EXPECT_EQ(lines_in(text("fake/ran")), 20);
  EXPECT_EQ(text("runs/b/jobs/x=3/v"), "3\n");
  EXPECT_EQ(text("runs/b/logs/x=20.1.log"), "said 20\n");
  EXPECT_TRUE(std::filesystem::exists(batch() / "shares/4/ledger.sqlite"));

  const ToolResult status = run({"batch", "status", "b"});
  EXPECT_THAT(status.out, HasSubstr("under Slurm, 4 shares: 0 run"));
  EXPECT_THAT(status.out, HasSubstr("19 done, 1 failed of 20"));
  EXPECT_THAT(status.out, HasSubstr("failed: x=7: exit code 1"));
  const auto rows =
      nlohmann::json::parse(run({"batch", "status", "b", "--jobs", "--json"}).out)["jobs"];
  ASSERT_EQ(rows.size(), 20u);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(rows[static_cast<std::size_t>(i)]["job"], i + 1);
  EXPECT_THAT(run({"batch", "logs", "b", "x=20"}).out, HasSubstr("said 20"));
  EXPECT_THAT(run({"runs"}).out, HasSubstr("batch b: 19 done, 1 failed of 20"));
  const auto analysis = nlohmann::json::parse(run({"batch", "analyze", "b", "--json"}).out);
  EXPECT_EQ(analysis["attempts"], 20);
  run({"batch", "analyze", "b"});
  EXPECT_THAT(text("runs/b/timeline.svg"), HasSubstr("share 4, slot 0"));
}

TEST_F(FakeSlurm, RetryAndResumeHandInOnlyWhatIsNotDone) {
  write("b.toml", numbers(20, 7));
  slurm({"--jobs-per-task", "6", "--partition", "gpu"});
  const ToolResult over = run({"batch", "resume", "b"});
  EXPECT_EQ(over.code, 1) << over.err;
  EXPECT_THAT(over.out, HasSubstr("nothing is left to run"));
  EXPECT_EQ(lines_in(calls()), 1);

  EXPECT_THAT(run({"batch", "retry", "b"}).err, HasSubstr("1 job will run with"));
  write("fake/mended", "");
  const ToolResult again = run({"batch", "resume", "b"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("Slurm job 102: 1 job in 1 task"));
  EXPECT_THAT(script(102), HasSubstr("set -- 2\n"));
  EXPECT_THAT(script(102), HasSubstr("#SBATCH --partition=gpu\n"));
  EXPECT_EQ(lines_in(text("fake/ran")), 21);
  EXPECT_THAT(run({"batch", "status", "b"}).out, HasSubstr("20 done of 20"));
  EXPECT_EQ(run({"batch", "wait", "b"}).code, 0);
}

TEST_F(FakeSlurm, AChangedJobFileAddsWhatIsNewAndLeavesOutWhatIsGone) {
  write("b.toml", numbers(8));
  slurm({"--jobs-per-task", "4"});
  write("b.toml", numbers(8) + "[[include]]\nx = 50\n");
  std::string changed = numbers(8);
  changed.replace(changed.find("from = 1"), 8, "from = 3");
  changed.replace(changed.find("to = 8"), 6, "to = 10");
  write("b.toml", changed);
  const ToolResult result = slurm({"--jobs-per-task", "4"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("8 jobs (2 new), 2 no longer listed"));
  EXPECT_THAT(script(102), HasSubstr("set -- 3\n"));
  EXPECT_EQ(lines_in(text("fake/ran")), 10);
  EXPECT_THAT(run({"batch", "status", "b"}).out, HasSubstr("8 done of 8"));
  EXPECT_EQ(slurm().code, 0);
  EXPECT_EQ(lines_in(calls()), 2);
}

TEST_F(FakeSlurm, APathWithSpacesCommasAndQuotesReachesTheTask) {
  std::filesystem::create_directories(folder.path() / "a, b'c \"d\"");
  write("b.toml", numbers(2));
  const ToolResult result =
      slurm({"--name", "my, batch's 1%", "run.root=" + (folder.path() / "a, b'c \"d\"").string()});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(text("a, b'c \"d\"/my, batch's 1%/jobs/x=2/v"), "2\n") << text("fake/101.0.out");
  EXPECT_THAT(script(101), HasSubstr("#SBATCH --job-name=lockstep-my__batch_s_1_\n"));
  EXPECT_THAT(script(101), HasSubstr("a, b'c \\\"d\\\"/my, batch's 1%\"\n"));
}

TEST_F(FakeSlurm, SaysWhereSbatchIsMissing) {
  write("b.toml", numbers(2));
  std::filesystem::remove(folder.path() / "bin/sbatch");
  std::filesystem::create_symlink("/bin/sh", folder.path() / "bin/sh");
  environment["PATH"] = folder.path() / "bin";
  const ToolResult result = slurm();
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("there is no sbatch here"));
  EXPECT_THAT(result.err, HasSubstr("--dry-run"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "runs"));
  EXPECT_EQ(slurm({"--dry-run"}).code, 0);
}

TEST_F(FakeSlurm, WhatSlurmRefusesIsHandedInLater) {
  write("b.toml", numbers(4));
  write("fake/refuse", "");
  const ToolResult refused = slurm();
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("no such partition"));
  EXPECT_THAT(refused.err, HasSubstr("Slurm did not take the script"));
  std::filesystem::remove(fake() / "refuse");
  const std::string record = text("runs/b/batch.json");
  nlohmann::json changed = nlohmann::json::parse(record);
  changed["slurm"]["cpus"] = 2.5;
  write("runs/b/batch.json", changed.dump());
  const ToolResult damaged = run({"batch", "resume", "b"});
  EXPECT_EQ(damaged.code, 2);
  EXPECT_THAT(damaged.err, HasSubstr("runs/b/batch.json: slurm.cpus must be a whole number from 1 "
                                     "to 1000000, but is 2.5"));
  write("runs/b/batch.json", record);
  EXPECT_EQ(run({"batch", "resume", "b"}).code, 0);
  EXPECT_THAT(run({"batch", "status", "b"}).out, HasSubstr("4 done of 4"));
}

TEST_F(FakeSlurm, WhatIsInTheQueueIsNotHandedInTwice) {
  write("b.toml", numbers(8));
  only_queue();
  slurm({"--jobs-per-task", "4"});
  write("fake/queue", "101 0 PENDING\n101 1 COMPLETING\n99 1 PENDING\n");
  EXPECT_THAT(run({"batch", "status", "b"}).out,
              HasSubstr("2 shares: 0 run, 1 waits in Slurm's queue"));
  EXPECT_THAT(text("fake/asked"), HasSubstr("--name=lockstep-b"));
  const ToolResult result = run({"batch", "resume", "b"});
  EXPECT_THAT(result.err, HasSubstr("4 jobs are with Slurm already"));
  EXPECT_THAT(script(102), HasSubstr("set -- 2\n"));
}

TEST_F(FakeSlurm, LargeGroupsOfJobsThatWaitRunInStages) {
  write("b.toml",
        "[[jobs]]\nname = \"features\"\ncommand = [\"sh\", \"-c\", \"echo f >> $FAKE_SLURM/ran\"]\n"
        "[jobs.matrix]\ns = [1, 2]\n"
        "[[jobs]]\nname = \"fit\"\nafter = \"features\"\ncommand = [\"sh\", \"-c\", \"echo t{k} >> "
        "$FAKE_SLURM/ran\"]\n[jobs.matrix]\nk = {from = 1, to = 6}\n"
        "[[jobs]]\nname = \"collect\"\nafter = \"fit\"\ncommand = [\"sh\", \"-c\", \"echo c >> "
        "$FAKE_SLURM/ran\"]\n");
  const ToolResult result = slurm({"--jobs-per-task", "3"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(calls(), HasSubstr("--parsable --dependency=afterany:101 "));
  EXPECT_THAT(calls(), HasSubstr("--parsable --dependency=afterany:102 "));
  EXPECT_EQ(lines_in(text("fake/ran")), 9);
  EXPECT_THAT(text("fake/ran"), ::testing::StartsWith("f\nf\nt"));
  EXPECT_THAT(text("fake/ran"), ::testing::EndsWith("\nc\n"));
  EXPECT_THAT(run({"batch", "status", "b"}).out, HasSubstr("9 done of 9"));
}

class Stages : public FakeSlurm {
 protected:
  Stages() {
    write("b.toml",
          "[[jobs]]\nname = \"first\"\ncommand = [\"sh\", \"-c\", \"test -e "
          "$FAKE_SLURM/mended\"]\n"
          "[[jobs]]\nname = \"then\"\nafter = \"first\"\ncommand = [\"sh\", \"-c\", \"echo {k} >> "
          "$FAKE_SLURM/ran\"]\n[jobs.matrix]\nk = {from = 1, to = 4}\n");
  }
};

TEST_F(Stages, AJobDoesNotRunWhereOneOfAnotherShareFailedUntilThatIsMended) {
  slurm({"--jobs-per-task", "2"});
  EXPECT_EQ(text("fake/ran"), "");
  const std::string status = run({"batch", "status", "b"}).out;
  EXPECT_THAT(status, HasSubstr("failed: then,k=1: it needs first, which is failed"));
  EXPECT_THAT(run({"batch", "resume", "b"}).out, HasSubstr("nothing is left to run"));
  run({"batch", "retry", "b", "first"});
  write("fake/mended", "");
  EXPECT_EQ(run({"batch", "resume", "b"}).code, 0);
  EXPECT_EQ(lines_in(text("fake/ran")), 4);
  EXPECT_THAT(run({"batch", "status", "b"}).out, HasSubstr("5 done of 5"));
}

TEST_F(Stages, ATaskThatBeginsTooEarlyHoldsItsJobsBack) {
  only_queue();
  write("fake/mended", "");
  slurm({"--jobs-per-task", "2"});
  EXPECT_EQ(run_task(102, 0), 0);
  EXPECT_EQ(text("fake/ran"), "");
  EXPECT_THAT(text("fake/task.out"), HasSubstr("2 jobs wait for jobs of other shares"));
  EXPECT_EQ(run_task(101, 0), 0);
  EXPECT_EQ(run_task(102, 0), 0);
  EXPECT_EQ(lines_in(text("fake/ran")), 2);
  // Handing in the file again keeps the others back.
  slurm({"--jobs-per-task", "2"});
  EXPECT_EQ(lines_in(text("fake/ran")), 2);
  EXPECT_EQ(run_task(102, 1), 0);
  EXPECT_EQ(lines_in(text("fake/ran")), 4);
}

TEST_F(FakeSlurm, ASecondTaskOfAShareLeavesItToTheFirst) {
  write("b.toml",
        "command = [\"sh\", \"-c\", \"touch $FAKE_SLURM/ran; while [ ! -e $FAKE_SLURM/go ]; do "
        "sleep 0.01; done\"]\n");
  only_queue();
  slurm();
  testing::ToolProcess first =
      begin({"batch", "slurm-task", (folder.path() / "runs/b").string(), "1"}, "fake");
  ASSERT_TRUE(comes([&] { return std::filesystem::exists(fake() / "ran"); }));
  EXPECT_EQ(run_task(101, 0), 0);
  EXPECT_THAT(text("fake/task.out"), HasSubstr("share 1 is run by process"));
  EXPECT_THAT(run({"batch", "status", "b"}).out, HasSubstr("1 share: 1 runs"));
  EXPECT_THAT(run({"batch", "resume", "b"}).err, HasSubstr("1 job is with Slurm already"));
  run({"batch", "cancel", "b", "1"});
  EXPECT_EQ(first.wait().code, 0);
  EXPECT_THAT(run({"batch", "status", "b"}).out, HasSubstr("1 cancelled of 1"));
}

TEST_F(FakeSlurm, CancelEndsWhatWaitsHereAndInTheQueue) {
  write("b.toml", numbers(8));
  only_queue();
  slurm({"--jobs-per-task", "4"});
  EXPECT_THAT(run({"batch", "cancel", "b", "x=5"}).err, HasSubstr("1 job cancelled"));
  EXPECT_EQ(text("fake/cancelled"), "");
  EXPECT_THAT(run({"batch", "cancel", "b"}).err, HasSubstr("7 jobs cancelled"));
  EXPECT_EQ(text("fake/cancelled"), "--state=PENDING 101\n");
  EXPECT_EQ(run_task(101, 1), 0);
  EXPECT_EQ(text("fake/ran"), "");
}

TEST_F(FakeSlurm, ATaskOfAPausedBatchEndsAtOnce) {
  write("b.toml", numbers(2));
  only_queue();
  slurm();
  run({"batch", "pause", "b"});
  EXPECT_THAT(run({"batch", "status", "b"}).out, HasSubstr("paused"));
  EXPECT_EQ(run_task(101, 0), 0);
  EXPECT_EQ(text("fake/ran"), "");
  run({"batch", "unpause", "b"});
  EXPECT_EQ(run_task(101, 0), 0);
  EXPECT_EQ(lines_in(text("fake/ran")), 2);
}

TEST_F(FakeSlurm, RefusesWhatCannotBe) {
  write("b.toml", "cpus = 3\n" + numbers(2));
  EXPECT_THAT(slurm({"--cpus-per-task", "2"}).err,
              HasSubstr("the job x=1 needs 3 cores, but a task has 2"));
  EXPECT_THAT(slurm({"--dry-run"}).out, HasSubstr("#SBATCH --cpus-per-task=3\n"));
  write("b.toml", "gpus = 0.25\n" + numbers(2));
  EXPECT_THAT(slurm({"--gpus-per-task", "0"}).err,
              HasSubstr("the job x=1 needs 1 GPU, but a task has 0"));
  EXPECT_THAT(slurm({"--dry-run"}).out,
              HasSubstr("#SBATCH --cpus-per-task=4\n#SBATCH --gres=gpu:1\n"));
  EXPECT_THAT(slurm({"--jobs-per-task", "0"}).err, HasSubstr("--jobs-per-task must be a number"));
  EXPECT_THAT(slurm({"--sbatch=--array=1-3"}).err,
              HasSubstr("--array is set by lockstep batch slurm itself"));
  EXPECT_THAT(slurm({"--time", "soon"}).err, HasSubstr("--time must be a time as Slurm has it"));
  EXPECT_EQ(calls(), "");
}

TEST_F(FakeSlurm, CommandsOfOneMachineRefuseSuchABatch) {
  write("b.toml", numbers(2));
  slurm();
  EXPECT_THAT(run({"batch", "run", "b.toml"}).err, HasSubstr("runs/b runs under Slurm"));
  EXPECT_THAT(run({"batch", "add", "b", "--", "true"}).err, HasSubstr("runs/b runs under Slurm"));
  EXPECT_THAT(run({"batch", "resume", "b", "--joblog", "x"}).err,
              HasSubstr("--joblog is not for a batch that runs under Slurm"));
  run({"batch", "run", "--name", "c", "b.toml"});
  EXPECT_THAT(slurm({"--name", "c"}).err, HasSubstr("is one of lockstep batch run"));
}

TEST_F(FakeSlurm, WhatARecipeMakesOfAllJobsIsMadeOnceTheLastTaskIsOver) {
  if (!std::filesystem::exists(std::filesystem::path(LOCKSTEP_BUILD_DIR) /
                               "lightgbm/lib/lib_lightgbm.so"))
    GTEST_SKIP() << "LightGBM is not there";
  const ToolResult written = run({"batch", "gbdt", "data.made_symbols=2", "n_estimators=5",
                                  "--write", "b.toml", "--name", "b"});
  ASSERT_EQ(written.code, 0) << written.err;
  const ToolResult handed = slurm({"--jobs-per-task", "7"});
  ASSERT_EQ(handed.code, 0) << handed.err;
  EXPECT_THAT(run({"batch", "status", "b"}).out, HasSubstr("12 done of 12"));
  EXPECT_EQ(lines_in(text("runs/b/windows.csv")), 13);
  EXPECT_THAT(text("fake/101.1.out"), HasSubstr("in " + batch().string() + ": windows.csv"));
}

TEST_F(FakeSlurm, FlagsOfTasksReachThemAlsoWithResume) {
  write("b.toml", numbers(4, 2));
  slurm({"--slots", "3", "--grace", "30s"});
  EXPECT_THAT(script(101), HasSubstr("\"$1\" --slots 3 --grace 30s\n"));
  EXPECT_THAT(script(101), HasSubstr("--signal=B:TERM@80\n"));
  run({"batch", "retry", "b"});
  run({"batch", "resume", "b"});
  EXPECT_THAT(script(102), HasSubstr("\"$1\" --slots 3 --grace 30s\n"));
}

}  // namespace
}  // namespace lockstep
