// What people of GNU parallel write: values from files and standard input, output in order, a job
// log, ends before the end.
#include <signal.h>

#include <fstream>

#include "batch_rig.h"
#include "core/base/text/text.h"

namespace lockstep {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;
using testing::ToolResult;

class BatchWords : public BatchRig {
 protected:
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder.path() / name, std::ios::binary) << text;
  }
  // Through a shell, in which it is $0.
  ToolResult shell(const std::string& line) {
    return testing::ToolProcess({"sh", "-c", line, testing::program("lockstep")}, folder.path(),
                                environment)
        .wait();
  }
  std::vector<std::string> printed() const {
    std::vector<std::string> lines;
    for (std::int64_t id = 1; id <= count("SELECT count(*) FROM job"); ++id)
      lines.push_back(trim(text("runs/b/logs/" + ledger().job(id).name + ".1.log")));
    return lines;
  }
};

TEST_F(BatchWords, ValuesComeFromStandardInput) {
  for (const char* const flag : {"-a -", "--arg-file -", "--arg-file=-"}) {
    std::filesystem::remove_all(folder.path() / "runs");
    const ToolResult result = shell("printf 'a b\\n\\nc\\r\\nd' | \"$0\" batch run --name b " +
                                    std::string(flag) + " -- echo {#} {}");
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_THAT(printed(), ElementsAre("1 a b", "2 c", "3 d")) << flag;
  }
}

TEST_F(BatchWords, AndFromFilesWithEachOther) {
  write("one", "a\nb\n");
  write("two", "1\n2\n");
  EXPECT_EQ(run({"batch", "run", "--name", "b", "-a", "one", "-a", "two", "--", "echo"}).code, 0);
  EXPECT_THAT(printed(), ElementsAre("a 1", "a 2", "b 1", "b 2"));
}

TEST_F(BatchWords, AnExpectationDecidesOnTheExitCode) {
  const auto of = [&](const Words& flags) {
    std::filesystem::remove_all(folder.path() / "runs");
    Words words{"batch", "run", "--name", "b"};
    words.insert(words.end(), flags.begin(), flags.end());
    for (const char* word : {"--", "sh", "-c", "exit $0", "{1}", ":::", "0", "0", "0", "1"})
      words.emplace_back(word);
    return run(words);
  };
  EXPECT_EQ(of({}).code, 1);
  const ToolResult met = of({"--expect", "failed<=25%"});
  EXPECT_EQ(met.code, 0) << met.err;
  EXPECT_THAT(met.err, HasSubstr("--expect failed<=25%: 1 of 4 jobs, 25.0 %: met\n"));
  const ToolResult missed = of({"--expect", "failed<=25%,failed<=0"});
  EXPECT_EQ(missed.code, 4);
  EXPECT_THAT(missed.err, HasSubstr("--expect failed<=0: 1 of 4 jobs, 25.0 %: not met\n"));
  const ToolResult unread = of({"--expect", "gpu_activity>40"});
  EXPECT_EQ(unread.code, 2);
  EXPECT_THAT(unread.err, HasSubstr("--expect must be gpu_activity, sm_activity or failed"));
  const ToolResult without = of({"--expect", "gpu_activity>=40%"});
  EXPECT_EQ(without.code, 2);
  EXPECT_THAT(without.err, HasSubstr("is about GPUs, but no job asks for one"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "runs/b"));
}

TEST_F(BatchWords, JobsForGpusDoNotBeginWhereThereIsNone) {
  const ToolResult result = testing::run_tool(
      {"batch", "run", "--name", "b", "--gpus", "1", "--", "true", ":::", "1", "2"}, folder.path(),
      {{"CUDA_VISIBLE_DEVICES", ""}});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err,
              HasSubstr("2 jobs need a GPU, and there is none\n\nhint: lockstep doctor"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "runs"));
}

TEST_F(BatchWords, NorDoesAResumeWhichNamesNoFlagThatItDoesNotHave) {
  ASSERT_EQ(run_jobs({}, {"true", ":::", "0"}).code, 0);
  ASSERT_EQ(run({"batch", "add", "b", "--gpus", "1", "--", "true", ":::", "1"}).code, 0);
  const ToolResult result =
      testing::run_tool({"batch", "resume", "b"}, folder.path(), {{"CUDA_VISIBLE_DEVICES", ""}});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("a job needs a GPU, and there is none"));
  EXPECT_THAT(result.err, ::testing::Not(HasSubstr("--devices-like")));
  EXPECT_EQ(jobs_in("waiting"), 1);
}

TEST_F(BatchWords, JobsForGpusThatAreDoneNeedNoneAnyMore) {
  ASSERT_EQ(run_jobs({}, {"true", ":::", "1"}).code, 0);
  const auto on_gpu = [&](const Words& values) {
    return testing::run_tool(run_words({"--gpus", "1"}, values), folder.path(),
                             {{"CUDA_VISIBLE_DEVICES", ""}});
  };
  const ToolResult done = on_gpu({"true", ":::", "1"});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_THAT(on_gpu({"true", ":::", "1", "2"}).err, HasSubstr("a job needs a GPU"));
}

TEST_F(BatchWords, AJobIsGivenByTheNameThatItWasGiven) {
  write("b.toml", "command = ['sh', '-c', 'echo {lr}; exit 1']\n[matrix]\nlr = [0.1, 0.2]\n");
  ASSERT_EQ(run({"batch", "run", "b.toml", "run.root=runs"}).code, 1);
  EXPECT_EQ(run({"batch", "logs", "b", "lr=0.2", "run.root=runs"}).out, "0.2\n");
  EXPECT_THAT(run({"batch", "status", "b", "lr=0.2"}).out, HasSubstr("\"name\": \"lr=0.2\""));
  EXPECT_EQ(run({"batch", "retry", "b", "lr=0.1"}).code, 0);
  EXPECT_EQ(jobs_in("waiting"), 1);
  EXPECT_EQ(run({"batch", "cancel", "b", "lr=0.1"}).code, 0);
  EXPECT_EQ(jobs_in("cancelled"), 1);
  EXPECT_THAT(run({"batch", "logs", "b", "lr=0.3"}).err, HasSubstr("did you mean lr="));
}

TEST_F(BatchWords, AFileThatIsNotThereIsNamed) {
  const ToolResult result = run({"batch", "run", "-a", "nothing-here", "--", "echo"});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("nothing-here"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "runs"));
}

TEST_F(BatchWords, ALineOfAShellHasItsValuesQuoted) {
  const ToolResult result =
      run_jobs({"--shell"}, {"printf '%s;' {} | tr a-z A-Z", ":::", "it's", "$HOME `id`"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(printed(), ElementsAre("IT'S;", "$HOME `ID`;"));
}

TEST_F(BatchWords, KeepsTheOrderOfOutputs) {
  const ToolResult result = run_jobs(
      {"--keep-order", "--slots", "4", "--cpus", "0"},
      {"sh", "-c", "sleep 0.$0; echo $0; echo more; [ $0 != 3 ]", "{}", ":::", "4", "3", "2", "1"});
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.out, "4\nmore\n3\nmore\n2\nmore\n1\nmore\n");
  EXPECT_THAT(result.err, HasSubstr("3 done, 1 failed of 4"));
}

// The last job waits until it has seen the output of the one before it.
TEST_F(BatchWords, OutputIsNotHeldBackBehindAJobThatWillNotRun) {
  std::ofstream(folder.path() / "jobs.toml")
      << "command = ['sh', '-c', 'echo {#}']\n[[jobs]]\nname = 'fails'\ncommand = ['false']\n"
         "[[jobs]]\nname = 'blocked'\nafter = 'fails'\n[[jobs]]\nname = 'free'\n"
         "[[jobs]]\nname = 'last'\nshell = true\n"
         "command = 'for i in $(seq 100); do grep -q 3 seen && exit; sleep 0.1; done; exit 9'\n";
  const ToolResult result =
      shell("\"$0\" batch run jobs.toml --name b --keep-order --slots 2 > seen");
  EXPECT_THAT(result.err, HasSubstr("2 done, 1 failed, 1 left of 4"));
  EXPECT_EQ(text("seen"), "3\n");
}

TEST_F(BatchWords, OfJobsThatAreTriedAgainOnlyTheLastOutputIsShown) {
  const ToolResult result = run_jobs({"--keep-order", "--retries", "2"},
                                     {"sh", "-c", "echo try $LOCKSTEP_TRY; [ $LOCKSTEP_TRY = 2 ]"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out, "try 2\n");
}

TEST_F(BatchWords, AReaderThatHasSeenEnoughEndsNoJob) {
  const ToolResult result = shell(
      "\"$0\" batch run --name b --keep-order -- sh -c 'yes $0 | head -c 200000; touch ran-$0' {} "
      "::: "
      "1 2 3 4 | head -n 1");
  EXPECT_EQ(result.out, "1\n");
  EXPECT_THAT(result.err, HasSubstr("standard output was not read to its end"));
  EXPECT_EQ(jobs_in("done"), 4);
}

// Seq Host Starttime JobRuntime Send Receive Exitval Signal Command
std::vector<std::vector<std::string>> rows_of(const std::string& log) {
  std::vector<std::vector<std::string>> rows;
  for (const std::string& line : split(trim(log), '\n')) rows.push_back(split(line, '\t'));
  return rows;
}

TEST_F(BatchWords, TheJobLogHasTheColumnsOfGnuParallel) {
  run_jobs(
      {"--joblog", "log", "--slots", "1", "--timeout", "5s"},
      {"sh", "-c", "{}", ":::", "echo four", "exit 3", "kill -9 $$", "sleep 100", "echo '\t\n'"});
  const auto rows = rows_of(text("log"));
  ASSERT_THAT(rows, SizeIs(6));
  EXPECT_THAT(rows[0], ElementsAre("Seq", "Host", "Starttime", "JobRuntime", "Send", "Receive",
                                   "Exitval", "Signal", "Command"));
  std::vector<std::string> ends;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    ASSERT_THAT(rows[i], SizeIs(9)) << i;
    ends.push_back(rows[i][0] + " " + rows[i][5] + " " + rows[i][6] + " " + rows[i][7]);
    EXPECT_GT(std::stod(rows[i][2]), 1.7e9);
    EXPECT_THAT(rows[i][3], SizeIs(10));
  }
  EXPECT_THAT(ends, ElementsAre("1 5 0 0", "2 0 3 0", "3 0 0 9", "4 0 -1 15", "5 3 0 0"));
  EXPECT_EQ(rows[1][8], "sh -c 'echo four'");
  EXPECT_EQ(rows[5][8], "sh -c 'echo '\\''\\t\\n'\\'''");
}

TEST_F(BatchWords, TheJobLogIsContinuedAndNothingElseIsOverwritten) {
  write("other", "my own notes, which nobody may overwrite or append to, whatever they are for\n");
  const ToolResult refused = run_jobs({"--joblog", "other"}, {"true"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("is there already, and is no job log"));
  EXPECT_THAT(text("other"), StartsWith("my own"));
  EXPECT_EQ(jobs_in("done"), 0);
  run(run_words({"--joblog", "log"}, {"true"}, "one"));
  run(run_words({"--joblog", "log"}, {"false"}, "two"));
  EXPECT_THAT(rows_of(text("log")), SizeIs(3));
  EXPECT_THAT(run(run_words({"--joblog", "no/such/folder"}, {"true"}, "c")).err,
              HasSubstr("cannot write the job log no/such/folder"));
}

TEST_F(BatchWords, HaltSoonStartsNoMore) {
  const ToolResult result =
      run_jobs({"--halt", "soon,fail=2", "--slots", "1"},
               {"sh", "-c", "echo $0 >> begun; exit $0", "{}", ":::", "0", "1", "2", "3", "4"});
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(text("begun"), "0\n1\n2\n");
  EXPECT_THAT(result.err, HasSubstr("2 jobs failed (--halt soon,fail=2): no more begin\n"));
  EXPECT_EQ(jobs_in("waiting"), 2);
  EXPECT_EQ(run({"batch", "resume", "b", "--slots", "1"}).code, 1);
  EXPECT_EQ(text("begun"), "0\n1\n2\n3\n4\n");
}

TEST_F(BatchWords, HaltNowEndsWhatRuns) {
  const ToolResult result =
      run_jobs({"--halt", "now,fail=1", "--slots", "2", "--cpus", "0"},
               {"sh", "-c", "$0", "{}", ":::", "sleep 1000", "false", "touch never"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(survivors(), IsEmpty());
  EXPECT_EQ(count("SELECT count(*) FROM attempt WHERE outcome = 'stopped'"), 1);
  EXPECT_EQ(text("never"), "");
}

TEST_F(BatchWords, HaltAtASuccessIsOne) {
  const ToolResult result = run_jobs({"--halt", "now,success=1", "--slots", "1"},
                                     {"test", "{}", "=", "2", ":::", "1", "2", "3"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(jobs_in("waiting"), 1);
}

TEST_F(BatchWords, HaltCountsSharesOfAllJobs) {
  Words command{"sh", "-c", "echo x >> begun", ":::"};
  for (int i = 0; i < 20; ++i) command.push_back(std::to_string(i));
  EXPECT_EQ(run_jobs({"--halt", "soon,done=25%", "--slots", "1"}, command).code, 75);
  EXPECT_EQ(jobs_in("done"), 5);
}

TEST_F(BatchWords, FlagsOfJobsAreRefusedWithAFileOfThem) {
  write_file_atomic(folder.path() / "jobs.toml", "command = [\"true\"]\n");
  const std::pair<const char*, const char*> flags[] = {
      {"--timeout", "5s"}, {"--retries", "2"}, {"--gpus", "1"}, {"-a", "values"}};
  for (const auto& [flag, value] : flags) {
    const ToolResult result = run({"batch", "run", "jobs.toml", flag, value});
    EXPECT_EQ(result.code, 2) << flag;
    EXPECT_THAT(result.err, HasSubstr(cat(flag, " is about jobs whose command stands after --")));
  }
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "runs"));
  EXPECT_EQ(run({"batch", "run", "jobs.toml", "--slots", "1"}).code, 0);
}

TEST_F(BatchWords, HaltThatCannotBeReadIsRefusedBeforeAnythingIsMade) {
  for (const char* const rule : {"", "soon", "fail=1", "later,fail=1", "soon,fail=0",
                                 "soon,fails=1", "soon,fail=101%", "soon,fail=1.5"}) {
    const ToolResult result = run_jobs({"--halt", rule}, {"true"});
    EXPECT_EQ(result.code, 2) << rule;
    EXPECT_THAT(result.err, HasSubstr("--halt must be never, or soon or now")) << rule;
  }
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "runs"));
}

}  // namespace
}  // namespace lockstep
