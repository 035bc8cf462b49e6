// lockstep batch: what becomes of jobs, and of a batch that is interrupted.
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "batch_rig.h"
#include "fakes/raw_controls.h"

namespace lockstep {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::ToolProcess;
using testing::ToolResult;

class Batch : public BatchRig {
 protected:
  // What a terminal is sent.
  std::string on_a_terminal(Words words) const {
    words.insert(words.begin(), testing::program("lockstep"));
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    int terminal = -1;
    const pid_t child = forkpty(&terminal, nullptr, nullptr, nullptr);
    if (child == 0) {
      if (chdir(folder.path().c_str()) == 0) execv(arguments[0], arguments.data());
      _exit(127);
    }
    std::string seen;
    char block[4096];
    for (ssize_t got = 0; (got = read(terminal, block, sizeof block)) > 0;)
      seen.append(block, static_cast<std::size_t>(got));
    close(terminal);
    waitpid(child, nullptr, 0);
    return seen;
  }
};

TEST_F(Batch, RunsEveryJobAndPublishesWhatItWrote) {
  const ToolResult result = run_jobs(
      {},
      {"sh", "-c", "echo said $0; echo $0 > $LOCKSTEP_OUT/out.txt", "{1}", ":::", "a", "b", "c"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("3 done of 3\n"));
  EXPECT_EQ(jobs_in("done"), 3);
  Ledger opened = ledger();
  std::vector<std::string> written, printed;
  for (std::int64_t id = 1; id <= 3; ++id) {
    const std::string name = opened.job(id).name;
    written.push_back(read_file(batch() / "jobs" / name / "out.txt"));
    printed.push_back(read_file(batch() / "logs" / (name + ".1.log")));
  }
  EXPECT_THAT(written, ElementsAre("a\n", "b\n", "c\n"));
  EXPECT_THAT(printed, ElementsAre("said a\n", "said b\n", "said c\n"));
  EXPECT_TRUE(std::filesystem::is_empty(batch() / "attempts"));
}

TEST_F(Batch, WithoutANameIsOneOfItsOwnAlsoInTheSameSecond) {
  std::vector<ToolProcess> tools;
  const std::string root = cat("run.root=", (folder.path() / "runs").string());
  for (const std::string value : {"a", "b", "c", "d"}) {
    std::filesystem::create_directory(folder.path() / value);  // for what it prints
    tools.push_back(begin({"batch", "run", root, "--", "true", "{1}", ":::", value}, value));
  }
  for (ToolProcess& tool : tools) {
    const ToolResult result = tool.wait();
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("1 done of 1\n"));
  }
  int batches = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path() / "runs"))
    batches += std::filesystem::exists(entry.path() / "ledger.sqlite") ? 1 : 0;
  EXPECT_EQ(batches, 4);
}

TEST_F(Batch, WhatEndedWellBeforeAStopReachedItDoesNotRunAgain) {
  Words command{"sh", "-c", "sleep 0.0$(($0 % 10))", "{1}", ":::"};
  for (int i = 0; i < 400; ++i) command.push_back(std::to_string(i));
  for (int stops = 0; stops < 3; ++stops) {
    ToolProcess tool =
        begin(stops == 0 ? run_words({"--slots", "20"}, command) : Words{"batch", "resume", "b"});
    ASSERT_TRUE(comes_true([&] { return jobs_in("done") > 100 * stops; }));
    kill(tool.pid(), SIGTERM);
    tool.wait();
  }
  EXPECT_EQ(run({"batch", "resume", "b"}).code, 0);
  EXPECT_EQ(jobs_in("done"), 400);
  EXPECT_EQ(count("SELECT count(*) FROM attempt WHERE exit_code = 0"), 400);
}

TEST_F(Batch, ACopyOfItLeavesItsJobsAlone) {
  ToolProcess tool =
      begin(run_words({"--slots", "2"}, {"sh", "-c", "until [ -e end ]; do sleep 0.02; done", "{1}",
                                         ":::", "a", "b"}));
  ASSERT_TRUE(comes_true([&] { return jobs_in("running") == 2; }));
  const std::filesystem::path copy = folder.path() / "copy";
  std::filesystem::copy(batch(), copy, std::filesystem::copy_options::recursive);
  std::filesystem::create_directory(folder.path() / "here");  // for what it prints
  EXPECT_EQ(begin({"batch", "cancel", copy, "1=a"}, "here").wait().code, 0);
  ToolProcess of_copy = begin({"batch", "resume", copy}, "here");
  ASSERT_TRUE(comes_true([&] {
    return Statement(Ledger::open_to_read(copy / "ledger.sqlite").database(),
                     "SELECT 1 FROM attempt WHERE number = 2")
        .step();
  }));
  write_file_atomic(folder.path() / "end", "");
  of_copy.wait();
  Ledger copied = Ledger::open_to_read(copy / "ledger.sqlite");
  for (const char* state : {"done", "cancelled"})
    EXPECT_TRUE(
        Statement(copied.database(), cat("SELECT 1 FROM job WHERE state = '", state, "'")).step())
        << state;
  const ToolResult result = tool.wait();
  EXPECT_EQ(result.code, 0) << result.out;
  EXPECT_EQ(count("SELECT count(*) FROM attempt WHERE exit_code = 0"), 2);
}

TEST_F(Batch, ThatWasRenamedEndsWhatAnEarlierSchedulerLeft) {
  ToolProcess tool = begin(run_words({"--slots", "1"}, {"sleep", "1000"}));
  ASSERT_TRUE(comes_true([&] { return jobs_in("running") == 1; }));
  Ledger opened = ledger();
  const std::string mark = attempt_mark(opened.fact("id"), 1);
  ASSERT_TRUE(comes_true([&] { return !processes_marked(mark).empty(); }));
  kill(tool.pid(), SIGKILL);
  tool.wait();
  std::filesystem::rename(batch(), folder.path() / "renamed");
  EXPECT_EQ(run({"batch", "cancel", "renamed"}).code, 0);
  EXPECT_TRUE(comes_true([&] { return processes_marked(mark).empty(); }));
}

// A batch that keeps running: its job "live" ends once the file "end" is there.
class LiveBatch : public BatchRig {
 protected:
  void start(const std::string& jobs) {
    write_file_atomic(folder.path() / "b.toml",
                      "shell = true\n[[jobs]]\nname = \"live\"\n"
                      "command = \"until [ -e end ]; do sleep 0.02; done\"\n" +
                          jobs);
    tool_.emplace(begin({"batch", "run", "b.toml", "--slots", "4"}));
  }
  void wait_for_jobs(const std::string& where) {
    const std::string sql = "SELECT count(*) FROM job WHERE " + where;
    ASSERT_TRUE(comes_true([&] { return count(sql) > 0; })) << where;
  }
  ToolResult end() {
    write_file_atomic(folder.path() / "end", "");
    return tool_->wait();
  }
  std::string reason_of(const std::string& job) const {
    Ledger opened = ledger();
    Statement row(opened.database(), "SELECT reason FROM job WHERE name = '" + job + "'");
    return row.step() ? row.text(0) : "";
  }
  std::optional<ToolProcess> tool_;
};

TEST_F(LiveBatch, JobsThatAreDoneAndNeedEachOtherRunAgainAfterARetryOfEach) {
  start(
      "[[jobs]]\nname = \"a\"\ncommand = \"true\"\n"
      "[[jobs]]\nname = \"b\"\ncommand = \"true\"\nafter = \"a\"\n");
  wait_for_jobs("name = 'b' AND state = 'done'");
  EXPECT_EQ(run({"batch", "retry", "b", "a"}).code, 0);
  wait_for_jobs("name = 'a' AND state = 'done' AND (SELECT count(*) FROM attempt) = 4");
  EXPECT_EQ(run({"batch", "retry", "b", "b"}).code, 0);
  wait_for_jobs("name = 'b' AND state = 'done' AND (SELECT count(*) FROM attempt) = 5");
  const ToolResult result = end();
  EXPECT_EQ(result.code, 0) << result.out;
  EXPECT_EQ(count("SELECT count(*) FROM attempt"), 5);
}

TEST_F(LiveBatch, AJobThatRunsCannotBeRetried) {
  start("");
  wait_for_jobs("name = 'live' AND state = 'running'");
  const ToolResult refused = run({"batch", "retry", "b", "live"});
  EXPECT_EQ(refused.code, 2) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("job live is running: it cannot be retried"));
  EXPECT_THAT(refused.err, HasSubstr("lockstep batch cancel runs/b live ends it"));
  EXPECT_EQ(end().code, 0);
  EXPECT_EQ(count("SELECT count(*) FROM attempt"), 1);
}

TEST_F(LiveBatch, AJobOfAKilledSchedulerIsNotSaidToRun) {
  start("");
  wait_for_jobs("name = 'live' AND state = 'running'");
  kill(tool_->pid(), SIGKILL);
  tool_->wait();
  const ToolResult asked = run({"batch", "retry", "b", "live"});
  EXPECT_EQ(asked.code, 0) << asked.err;
  EXPECT_THAT(asked.err, HasSubstr("lockstep batch resume runs/b waits for it, or runs it again"));
  write_file_atomic(folder.path() / "end", "");
  EXPECT_EQ(run({"batch", "resume", "b"}).code, 0);
  EXPECT_EQ(count("SELECT count(*) FROM job WHERE state = 'done'"), 1);
}

TEST_F(LiveBatch, TheReasonWhyAJobDoesNotRunIsOneThatHoldsNow) {
  start(
      "[[jobs]]\nname = \"a\"\ncommand = \"[ -e mended ]\"\n"
      "[[jobs]]\nname = \"c\"\ncommand = \"false\"\n"
      "[[jobs]]\nname = \"b\"\ncommand = \"true\"\nafter = [\"a\", \"c\"]\n");
  wait_for_jobs("name = 'c' AND state = 'failed'");
  wait_for_jobs("name = 'a' AND state = 'failed'");
  write_file_atomic(folder.path() / "mended", "");
  EXPECT_EQ(run({"batch", "retry", "b", "a"}).code, 0);
  wait_for_jobs("name = 'a' AND state = 'done'");
  EXPECT_EQ(reason_of("b"), "needs c, which failed");
  const ToolResult result = end();
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.out, HasSubstr("needs c, which failed"));
  EXPECT_THAT(result.out, Not(HasSubstr("needs a, which failed")));
}

TEST_F(Batch, OfJobsThatFailSaysWhyAndTriesThemAgain) {
  const ToolResult result = run_jobs(
      {"--retries", "1"}, {"sh", "-c", "echo $0 >> tries; echo the reason; [ $0 = good ] || exit 3",
                           "{1}", ":::", "good", "bad"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("failed: exit code 3; it will be tried again"));
  EXPECT_THAT(result.err, HasSubstr(".2.log: the reason"));
  EXPECT_THAT(result.out, HasSubstr("1 done, 1 failed of 2"));
  EXPECT_EQ(count("SELECT count(*) FROM attempt"), 3);
  EXPECT_EQ(run({"batch", "retry", "b"}).code, 0);
  EXPECT_EQ(jobs_in("waiting"), 1);
  EXPECT_EQ(run({"batch", "resume", "b"}).code, 1);
  EXPECT_EQ(count("SELECT count(*) FROM attempt"), 5) << "with all of its retries";
}

TEST_F(Batch, SaysWhatCannotBeStarted) {
  const ToolResult result = run_jobs({}, {"sh", "-c", "exec ./nothing-here"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.out, HasSubstr("exit code 127"));
}

TEST_F(Batch, EndsWhatTakesTooLongWithAllItStarted) {
  const ToolResult result = run_jobs({"--timeout", "0.3s", "--grace", "0.2s"},
                                     {"sh", "-c", "setsid sleep 1000 & trap '' TERM; sleep 1000"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.out, HasSubstr("took longer than 0.3 s"));
  EXPECT_THAT(survivors(), IsEmpty());
}

TEST_F(Batch, EndsWhatAJobLeavesBehind) {
  const ToolResult result = run_jobs(
      {}, {"sh", "-c", "setsid sh -c 'sleep 1000 & sleep 1000' >/dev/null 2>&1 & sleep 0.2"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(survivors(), IsEmpty());
}

// In sessions and with variables of their own.
class BatchThatHides : public Batch {
 protected:
  const std::string hides = "env -i setsid sleep 1000 >/dev/null 2>&1 & echo $! >> hidden; ";
  int living() const {
    std::istringstream pids(text("hidden"));
    int count = 0;
    for (pid_t pid = 0; pids >> pid;) count += start_ticks(pid) != 0;
    return count;
  }
  // Of the batch; empty where none can be made.
  std::filesystem::path groups() const {
    const std::string by = ledger().fact("clean-up");
    return by.starts_with("control group: ") ? by.substr(15) : "";
  }
};

TEST_F(BatchThatHides, EndsItWithTheMarkAlone) {
  environment["LOCKSTEP_CGROUPS"] = "off";
  EXPECT_EQ(run_jobs({}, {"sh", "-c", hides + "sleep 0.1", "{1}", ":::", "1", "2"}).code, 0);
  EXPECT_EQ(living(), 0) << "its supervisor ends them";
  EXPECT_THAT(ledger().fact("clean-up"), HasSubstr("mark: LOCKSTEP_CGROUPS is off"));
  std::filesystem::remove_all(folder.path() / "runs");
  testing::ToolProcess tool =
      begin(run_words({}, {"sh", "-c", hides + "[ $LOCKSTEP_TRY = 2 ] || sleep 1000"}));
  ASSERT_TRUE(comes([&] { return living() == 1; }));
  kill(testing::children_of(tool.pid()).at(0), SIGKILL);
  EXPECT_EQ(tool.wait().code, 0);
  EXPECT_EQ(living(), 0) << "so does a scheduler whose supervisor was killed";
}

TEST_F(BatchThatHides, EndsItWithItsJobWhereThereAreControlGroups) {
  EXPECT_EQ(run_jobs({"--slots", "2", "--cpus", "0"},
                     {"sh", "-c",
                      "if [ $0 = 1 ]; then touch $LOCKSTEP_OUT/x; " + hides +
                          "else until [ -e \"$PWD/runs/b/jobs/1=1\" ]; do sleep 0.01; done; "
                          "kill -0 $(cat hidden) 2>/dev/null && echo x > lives; true; fi",
                      "{1}", ":::", "1", "2"})
                .code,
            0);
  if (groups().empty()) GTEST_SKIP() << ledger().fact("clean-up");
  EXPECT_EQ(text("lives"), "") << "when its job was over, while another one ran";
  EXPECT_EQ(living(), 0);
  EXPECT_TRUE(comes([&] { return !std::filesystem::exists(groups()); })) << "no group is left";
  EXPECT_THAT(run({"batch", "status", "b", "--json"}).out, HasSubstr("control group: /"));
}

// Nobody is left who had it as a child.
TEST_F(BatchThatHides, EndsItAfterBothItsParentsWereKilledWhereThereAreControlGroups) {
  testing::ToolProcess tool =
      begin(run_words({}, {"sh", "-c", hides + "[ $LOCKSTEP_TRY = 2 ] || sleep 1000"}));
  ASSERT_TRUE(comes([&] { return living() == 1; }));
  const pid_t supervisor = testing::children_of(tool.pid()).at(0);
  kill(tool.pid(), SIGKILL);
  kill(supervisor, SIGKILL);
  tool.wait();
  const std::filesystem::path before = groups();
  EXPECT_EQ(living(), 1);
  EXPECT_EQ(run({"batch", "resume", "b"}).code, 0);
  EXPECT_THAT(survivors(), IsEmpty());
  if (before.empty()) {
    std::istringstream pids(text("hidden"));
    for (pid_t pid = 0; pids >> pid;) kill(pid, SIGKILL);
    GTEST_SKIP() << ledger().fact("clean-up");
  }
  EXPECT_EQ(living(), 0);
  EXPECT_TRUE(comes([&] { return !std::filesystem::exists(before); })) << "no group is left";
}

// What one start did with groups another one without them goes on with, and the reverse.
TEST_F(BatchThatHides, GoesOnWithAndWithoutControlGroups) {
  for (const char* second : {"off", "auto"}) {
    environment["LOCKSTEP_CGROUPS"] = second == std::string("off") ? "auto" : "off";
    testing::ToolProcess tool = begin(run_words(
        {}, {"sh", "-c", "echo x >> begun; setsid sleep 1000 & sleep 0.5; echo y >> ended"}));
    ASSERT_TRUE(comes([&] { return !text("begun").empty(); }));
    kill(tool.pid(), SIGKILL);
    tool.wait();
    environment["LOCKSTEP_CGROUPS"] = second;
    EXPECT_EQ(run({"batch", "resume", "b"}).code, 0);
    EXPECT_EQ(text("begun"), "x\n") << second << ": it was adopted";
    EXPECT_THAT(survivors(), IsEmpty());
    std::filesystem::remove_all(folder.path() / "runs");
    std::filesystem::remove(folder.path() / "begun");
  }
}

// A process that is just being started by a job that ends at once.
TEST_F(Batch, EndsWhatIsJustStarted) {
  Words command{"sh", "-c", "setsid sleep 1000 > /dev/null 2>&1 & exit 0", "{1}", ":::"};
  for (int i = 0; i < 200; ++i) command.push_back(std::to_string(i));
  EXPECT_EQ(run_jobs({"--slots", "2", "--cpus", "0"}, command).code, 0);
  EXPECT_THAT(survivors(), IsEmpty());
}

TEST_F(Batch, GivesEachJobThreadsCoresAndItsPlace) {
  run_jobs({"--cpus", "1"},
           {"sh", "-c",
            "echo $OMP_NUM_THREADS $(nproc) \"[$CUDA_VISIBLE_DEVICES]\" $LOCKSTEP_PARAM_1 >"
            " $LOCKSTEP_OUT/env",
            "{1}", ":::", "x"});
  const std::string name = ledger().job(1).name;
  EXPECT_EQ(read_file(batch() / "jobs" / name / "env"), "1 1 [] x\n");
}

TEST_F(Batch, NeverRunsMoreAtOnceThanAsked) {
  run_jobs({"--slots", "1", "--cpus", "0"},
           {"sh", "-c", "echo + >> trace; sleep 0.02; echo - >> trace", "{1}", ":::", "1", "2", "3",
            "4"});
  EXPECT_EQ(text("trace"), "+\n-\n+\n-\n+\n-\n+\n-\n");
}

TEST_F(Batch, AnInterruptLetsRunningJobsEndAndResumeGoesOn) {
  testing::ToolProcess tool =
      begin(run_words({"--slots", "1", "--grace", "30s", "--expect", "failed<=15%"},
                      {"sh", "-c", "echo $0 >> begun; sleep 0.4", "{1}", ":::", "1", "2", "3"}));
  ASSERT_TRUE(comes([&] { return !text("begun").empty(); }));
  kill(tool.pid(), SIGINT);
  const ToolResult result = tool.wait();
  EXPECT_EQ(result.code, 130);
  EXPECT_THAT(result.err, HasSubstr("interrupted: 1 running job may end"));
  EXPECT_THAT(result.err,
              HasSubstr("go on with: lockstep batch resume runs/b --slots 1 --grace 30s "
                        "--expect 'failed<=15%'\n"));
  EXPECT_EQ(jobs_in("done"), 1);
  EXPECT_EQ(jobs_in("waiting"), 2);
  EXPECT_EQ(run({"batch", "resume", "b"}).code, 0);
  EXPECT_EQ(jobs_in("done"), 3);
  EXPECT_EQ(text("begun"), "1\n2\n3\n");
}

TEST_F(Batch, ASecondInterruptEndsThemAndTheyRunAgain) {
  testing::ToolProcess tool =
      begin(run_words({}, {"sh", "-c", "echo x >> begun; [ -e short ] || sleep 1000"}));
  ASSERT_TRUE(comes([&] { return !text("begun").empty(); }));
  kill(tool.pid(), SIGINT);
  ASSERT_TRUE(comes([&] { return tool.err().find("interrupted") != std::string::npos; }));
  kill(tool.pid(), SIGINT);
  EXPECT_EQ(tool.wait().code, 130);
  EXPECT_THAT(survivors(), IsEmpty());
  EXPECT_EQ(count("SELECT count(*) FROM attempt WHERE outcome = 'stopped'"), 1);
  std::ofstream(folder.path() / "short");
  EXPECT_EQ(run({"batch", "resume", "b"}).code, 0);
  EXPECT_EQ(count("SELECT tries FROM job"), 1) << "a stop is no try";
}

TEST_F(Batch, JobsOfAKilledSchedulerRunOnAndAreNotRunTwice) {
  testing::ToolProcess tool = begin(run_words(
      {}, {"sh", "-c", "echo $0 >> begun; sleep 0.7; echo $0 >> ended", "{1}", ":::", "1"}));
  ASSERT_TRUE(comes([&] { return !text("begun").empty(); }));
  kill(tool.pid(), SIGKILL);
  tool.wait();
  const ToolResult result = run({"batch", "resume", "b"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("1 jobs of an earlier start still run"));
  EXPECT_EQ(text("begun"), "1\n");
  EXPECT_EQ(text("ended"), "1\n");
}

TEST_F(Batch, WhatEndedWhileNoSchedulerRanIsKnown) {
  testing::ToolProcess tool = begin(
      run_words({}, {"sh", "-c",
                     "echo x >> begun; sleep 0.3; echo '{\"result\": \"rows\", \"value\": 3}' >> "
                     "$LOCKSTEP_EVENTS; echo x >> ended; exit 5"}));
  ASSERT_TRUE(comes([&] { return !text("begun").empty(); }));
  kill(tool.pid(), SIGKILL);
  tool.wait();
  ASSERT_TRUE(comes([&] { return !text("ended").empty(); }));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_EQ(run({"batch", "resume", "b"}).code, 1);
  EXPECT_EQ(count("SELECT exit_code FROM attempt"), 5);
  EXPECT_EQ(count("SELECT number FROM result WHERE name = 'rows'"), 3) << "what it said, too";
  EXPECT_EQ(text("begun"), "x\n");
}

TEST_F(Batch, ASupervisorThatIsKilledCostsNoJob) {
  testing::ToolProcess tool =
      begin(run_words({}, {"sh", "-c",
                           "echo x >> begun; setsid sleep 1000 & [ $LOCKSTEP_TRY = 2 ] "
                           "|| sleep 1000"}));
  ASSERT_TRUE(comes([&] { return !text("begun").empty(); }));
  const std::vector<pid_t> children = testing::children_of(tool.pid());
  ASSERT_EQ(children.size(), 1U);
  kill(children[0], SIGKILL);
  const ToolResult result = tool.wait();
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("lost: its supervisor was ended; it will be tried again"));
  EXPECT_EQ(text("begun"), "x\nx\n");
  EXPECT_THAT(survivors(), IsEmpty());
}

TEST_F(Batch, OneSchedulerAtATime) {
  testing::ToolProcess tool = begin(run_words({}, {"sh", "-c", "echo x >> begun; sleep 1"}));
  ASSERT_TRUE(comes([&] { return !text("begun").empty(); }));
  const ToolResult second = run({"batch", "resume", "b"});
  EXPECT_EQ(second.code, 2);
  EXPECT_THAT(second.err, HasSubstr(std::to_string(tool.pid())));
  EXPECT_EQ(tool.wait().code, 0);
}

TEST_F(Batch, TakesRequestsWhileItRuns) {
  testing::ToolProcess tool =
      begin(run_words({"--slots", "1"},
                      {"sh", "-c", "echo $0 >> begun; sleep $0", "{1}", ":::", "1000", "0", "0"}));
  ASSERT_TRUE(comes([&] { return !text("begun").empty(); }));
  EXPECT_THAT(run({"batch", "pause", "b"}).err,
              HasSubstr("no more jobs start until lockstep batch unpause runs/b"));
  EXPECT_EQ(run({"batch", "cancel", "b", "1"}).code, 0);
  ASSERT_TRUE(comes([&] { return jobs_in("cancelled") == 1; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_EQ(text("begun"), "1000\n") << "paused";
  EXPECT_THAT(run({"batch", "unpause", "b"}).err, HasSubstr("jobs start again"));
  const ToolResult ended = tool.wait();
  EXPECT_EQ(ended.code, 0);
  EXPECT_THAT(ended.out, HasSubstr("(paused once, for "));
  EXPECT_EQ(jobs_in("done"), 2);
}

TEST_F(Batch, SaysOfAPausedOneWhatLetsItGoOn) {
  run_jobs({"--halt", "soon,success=1", "--slots", "1"}, {"true", "{1}", ":::", "1", "2"});
  EXPECT_EQ(run({"batch", "pause", "b"}).code, 0);
  testing::ToolProcess tool = begin({"batch", "resume", "b"});
  EXPECT_TRUE(comes([&] { return tool.err().find("unpause runs/b") != std::string::npos; }));
  EXPECT_EQ(run({"batch", "unpause", "b"}).code, 0);
  EXPECT_EQ(tool.wait().code, 0);
  EXPECT_EQ(jobs_in("done"), 2);
}

TEST_F(Batch, SaysHowFarItIs) {
  run_jobs({}, {"sh", "-c", "exit $0", "{1}", ":::", "0", "4"});
  EXPECT_THAT(run({"batch", "status", "b"}).out, HasSubstr("1 done, 1 failed of 2"));
  const std::string failed = run({"batch", "status", "b", "--failed"}).out;
  EXPECT_THAT(failed, HasSubstr("exit code 4"));
  EXPECT_EQ(std::count(failed.begin(), failed.end(), '\n'), 1);
  EXPECT_THAT(run({"batch", "status", "bb"}).err, HasSubstr("did you mean b?"));
  EXPECT_EQ(run({"batch", "wait", "b"}).code, 1);
}

TEST_F(Batch, RefusesFlagsThatCouldDoNothing) {
  run_jobs({}, {"true"});
  const std::pair<Words, const char*> cases[] = {
      {{"status", "b", "--failed", "--running"}, "--failed and --running"},
      {{"status", "b", "1", "--failed"}, "but one job is named"},
      {{"analyze", "b", "--csv", "-", "--json"}, "--csv is instead of what --json writes"},
      {{"analyze", "b", "--json", "--chart", "x.svg"}, "--json is instead of what --chart writes"},
      {{"logs", "b", "1", "--attempt", "2"}, "--attempt must be a number from 1 to 1, but is 2"},
      {{"logs", "b", "1", "--attempt", "first"}, "but is first"}};
  for (auto [words, says] : cases) {
    words.insert(words.begin(), "batch");
    const ToolResult result = run(words);
    EXPECT_EQ(result.code, 2) << says;
    EXPECT_THAT(result.err, HasSubstr(says));
  }
  EXPECT_EQ(run({"batch", "logs", "b", "1", "--attempt", "1"}).code, 0);
}

TEST_F(Batch, MayBeAddedToWhileItRunsAndAfterwards) {
  testing::ToolProcess tool = begin(run_words({}, {"sh", "-c", "echo x >> begun; sleep 0.8"}));
  ASSERT_TRUE(comes([&] { return !text("begun").empty(); }));
  EXPECT_EQ(run({"batch", "add", "b", "--", "touch", "{1}", ":::", "added"}).code, 0);
  EXPECT_EQ(tool.wait().code, 0);
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "added"));
  const ToolResult again =
      run({"batch", "add", "b", "--", "touch", "{1}", ":::", "added", "later"});
  EXPECT_THAT(again.err, HasSubstr("1 job added, 1 were there already; lockstep batch resume "
                                   "runs/b runs them"));
  const ToolResult on = run({"batch", "resume", "b"});
  EXPECT_THAT(on.err, HasSubstr("batch " + (folder.path() / "runs/b").string() + ": "));
  EXPECT_EQ(on.code, 0);
  EXPECT_EQ(jobs_in("done"), 3);
  EXPECT_THAT(run({"runs"}).out, HasSubstr("batch b: 3 done of 3\n"));
}

TEST_F(Batch, NamesAreThoseOfTheJobsThatTheFileHasNow) {
  const auto run_file = [&](const std::string& word, const std::string& name) {
    write_file_atomic(folder.path() / "b.toml",
                      "name = '" + name + "'\ncommand = ['sh', '-c', 'echo " + word + "']\n");
    return run({"batch", "run", "b.toml"});
  };
  EXPECT_EQ(run_file("old", "x").code, 0);
  EXPECT_THAT(run_file("new", "x").err,
              HasSubstr("1 has the name of an earlier job: it is jobs/x-"));
  EXPECT_EQ(run({"batch", "logs", "b", "x"}).out, "new\n");
  EXPECT_EQ(run({"batch", "logs", "b", "1"}).out, "old\n");
  EXPECT_THAT(run({"batch", "status", "b", "x"}).out, HasSubstr("\"name\": \"x-"));
  EXPECT_THAT(run({"batch", "status", "b", "1"}).out, HasSubstr("\"listed\": false"));
  EXPECT_THAT(run({"batch", "retry", "b", "x"}).err, HasSubstr("1 job will run with"));
  EXPECT_EQ(ledger().tries(2), 0);
  EXPECT_EQ(run_file("other", "y").code, 0);
  const ToolResult gone = run({"batch", "retry", "b", "x"});
  EXPECT_EQ(gone.code, 2);
  EXPECT_THAT(gone.err, HasSubstr("job x is not in the job file any more"));
}

TEST_F(Batch, SlotsMayBeChangedWhileItRuns) {
  // Each waits until three run, which one slot does not allow.
  testing::ToolProcess tool = begin(run_words(
      {"--slots", "1"}, {"sh", "-c", "touch run$1; while [ ! -e run3 ]; do sleep 0.01; done", "x",
                         "{1}", ":::", "1", "2", "3"}));
  ASSERT_TRUE(comes([&] { return std::filesystem::exists(folder.path() / "run1"); }));
  EXPECT_EQ(run({"batch", "slots", "b", "3"}).code, 0);
  EXPECT_EQ(tool.wait().code, 0);
  const ToolResult later = run({"batch", "slots", "b", "2"});
  EXPECT_EQ(later.code, 2);
  EXPECT_THAT(later.err,
              HasSubstr("batch " + (folder.path() / "runs/b").string() + " does not run"));
  EXPECT_THAT(later.err, HasSubstr("lockstep batch resume runs/b --slots 2"));
  EXPECT_THAT(run({"batch", "slots", "b", "0"}).err, HasSubstr("slots must be a number from 1"));
}

TEST_F(Batch, ATrainingThatIsTriedAgainGoesOnWhereItWas) {
  write_file_atomic(folder.path() / "lockstep",
                    "#!/bin/sh\n[ -e $LOCKSTEP_OUT/checkpoint ] && echo \"$@\" > words && exit 0\n"
                    "echo \"$@\" > first\ntouch $LOCKSTEP_OUT/checkpoint\nexit 1\n");
  std::filesystem::permissions(folder.path() / "lockstep", std::filesystem::perms::all);
  const ToolResult result =
      run_jobs({"--retries", "1"}, {"./lockstep", "train", "textgen", "run.root={out}"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(text("first"), Not(HasSubstr("--resume")));
  EXPECT_THAT(text("words"), HasSubstr("--resume auto"));
  EXPECT_TRUE(std::filesystem::exists(batch() / "jobs" / ledger().job(1).name / "checkpoint"));
}

TEST_F(Batch, NamesAndReasonsOfAStrangersLedgerDoNotSteerTheTerminal) {
  EXPECT_EQ(run_jobs({}, {"sh", "-c", "exit $0", "{1}", ":::", "1", "0"}).code, 1);
  const std::string forged = testing::steering + "\nfailed: forged";
  {
    Ledger opened = Ledger::open(batch() / "ledger.sqlite");
    Statement(opened.database(), "UPDATE job SET reason = ? WHERE state = 'failed'")
        .bind(1, forged)
        .run();
    Statement(opened.database(), "UPDATE job SET name = ? || id").bind(1, forged).run();
  }
  for (const Words& words :
       {Words{"batch", "status", "b"}, Words{"batch", "status", "b", "--jobs"},
        Words{"batch", "status", "b", "1"}, Words{"batch", "analyze", "b"},
        Words{"batch", "logs", "b", "1"}, Words{"report", "b"}, Words{"compare", "b", "b"}}) {
    const ToolResult result = run(words);
    EXPECT_FALSE(testing::has_raw_controls(result.out + result.err)) << words[1];
    EXPECT_THAT(result.out + result.err, Not(HasSubstr("\nfailed: forged"))) << words[1];
  }
}

// Into a pipe or a file they go byte for byte.
TEST_F(Batch, LogsOnATerminalKeepColoursAlone) {
  const std::string printed =
      "\x1b[31mred\x1b[0m\x1b]0;owned\x07\xc2\x9b"
      "2J\xe2\x80\xae\n 10%\r 20%\r\n";
  std::ofstream(folder.path() / "printed") << printed;
  EXPECT_EQ(run_jobs({}, {"cat", (folder.path() / "printed").string()}).code, 0);
  EXPECT_EQ(run({"batch", "logs", "b", "1"}).out, printed);
  const std::string seen = on_a_terminal({"batch", "logs", "b", "1"});
  EXPECT_THAT(seen, HasSubstr("\x1b[31mred\x1b[0m\\x1b]0;owned\\x07\\u009b2J\\u202e\r\n"));
  EXPECT_THAT(seen, HasSubstr("\n 20%\x1b[0m"));
}

// The terminal's side of what a program prints there.
TEST_F(Batch, ATerminalShowsATableOfSlots) {
  int terminal = -1;
  winsize size{.ws_row = 20, .ws_col = 60, .ws_xpixel = 0, .ws_ypixel = 0};
  const pid_t child = forkpty(&terminal, nullptr, nullptr, &size);
  if (child == 0) {
    if (chdir(folder.path().c_str()) != 0) _exit(126);
    setenv("TERM", "xterm", 1);
    const std::string tool = testing::program("lockstep");
    execl(tool.c_str(), "lockstep", "batch", "run", "--name", "b", "--slots", "2", "--", "sh", "-c",
          "sleep 1.3; [ $1 = 2 ]", "x", "{1}", ":::", "1", "2", nullptr);
    _exit(127);
  }
  std::string seen;
  char block[4096];
  for (ssize_t got = 0; (got = read(terminal, block, sizeof block)) > 0;)
    seen.append(block, static_cast<std::size_t>(got));
  close(terminal);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_THAT(seen, HasSubstr("0 done, 2 running of 2\r\n  slot 0  "));
  EXPECT_THAT(seen, HasSubstr("\r\n  slot 1  "));
  EXPECT_THAT(seen, HasSubstr("\r\x1b[2A\x1b[J"));
  EXPECT_THAT(seen, HasSubstr("failed: exit code 1"));
}

TEST_F(Batch, WhatIsAdoptedIsCancelledAndStoppedLikeAnyOther) {
  for (const bool cancels : {true, false}) {
    std::filesystem::remove_all(folder.path() / "runs");
    std::filesystem::remove(folder.path() / "begun");
    const Words command{"sh", "-c", "trap '' TERM; echo x >> begun; while :; do sleep 0.05; done"};
    testing::ToolProcess first = begin(run_words({"--retries", "3"}, command));
    ASSERT_TRUE(comes([&] { return !text("begun").empty(); }));
    kill(first.pid(), SIGKILL);
    first.wait();
    testing::ToolProcess tool = begin({"batch", "resume", "b", "--grace", "0.2s"});
    ASSERT_TRUE(comes([&] { return tool.err().find("still run") != std::string::npos; }));
    if (cancels) {
      EXPECT_EQ(run({"batch", "cancel", "b", "1"}).code, 0);
      EXPECT_EQ(tool.wait().code, 0);
      EXPECT_EQ(jobs_in("cancelled"), 1);
    } else {
      kill(tool.pid(), SIGTERM);
      tool.wait();
      EXPECT_EQ(jobs_in("waiting"), 1);
      EXPECT_EQ(count("SELECT tries FROM job"), 0) << "a stop is no try";
    }
    EXPECT_THAT(survivors(), IsEmpty());
    EXPECT_EQ(text("begun"), "x\n");
  }
}

TEST_F(Batch, AThousandOrdersAtOnceAreMoreThanASocketHolds) {
  Words command{"true", std::string(1500, 'x'), "{1}", ":::"};
  for (int i = 0; i < 1000; ++i) command.push_back(std::to_string(i));
  const ToolResult result = run_jobs({"--slots", "1000", "--cpus", "0"}, command);
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(jobs_in("done"), 1000);
}

TEST_F(Batch, AFloodedLogIsBounded) {
  const ToolResult result =
      run_jobs({"--log-limit-mb", "1"},
               {"sh", "-c", "yes 0123456789012345678901234567890123456789 | head -c 10000000"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_LE(std::filesystem::file_size(batch() / "logs" / (ledger().job(1).name + ".1.log")),
            (1U << 20) + 200);
}

TEST_F(Batch, AThousandChildrenThatIgnoreSigtermAreEnded) {
  const ToolResult result = run_jobs(
      {"--timeout", "2s", "--grace", "0.2s"},
      {"sh", "-c",
       "trap '' TERM; i=0; while [ $i -lt 1000 ]; do sleep 1000 & i=$((i+1)); done; wait"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(survivors(), IsEmpty());
}

}  // namespace
}  // namespace lockstep
