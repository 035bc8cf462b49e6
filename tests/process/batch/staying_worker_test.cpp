// workers = "kept": one process runs one job after the other, and everything holds that holds of
// jobs that are processes of their own.
#include <signal.h>

#include <set>

#include "kept_rig.h"

namespace lockstep {
namespace {

using ::testing::Each;
using ::testing::IsEmpty;
using testing::ToolResult;

constexpr const char* staying_worker = R"(
import os, sys, time, signal, subprocess, threading
import next_job
with open("loads", "a") as file:
    file.write(f"{os.getpid()}\n")
home = os.getcwd()
def put(name, text):
    with open(os.path.join(home, name), "a") as file:
        file.write(f"{text}\n")
for arguments in next_job.jobs():
    out = os.environ["LOCKSTEP_OUT"]
    exec(arguments[0])
)";

class StayingWorkers : public KeptRig {
 protected:
  StayingWorkers() : KeptRig(staying_worker) {}
};

TEST_F(StayingWorkers, OneProcessRunsOneJobAfterTheOther) {
  const ToolResult result = run_kept(
      "put('pids', os.getpid());"
      "print('job', sys.argv[2]); open(out + '/result', 'w').write(sys.argv[2])",
      6);
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(loads(), 1u);
  const std::vector<std::string> pids = lines("pids");
  ASSERT_EQ(pids.size(), 6u);
  EXPECT_THAT(pids, Each(pids[0]));
  for (int job = 1; job <= 6; ++job) {
    EXPECT_EQ(log(job), cat("job ", job, "\n"));
    EXPECT_EQ(text(cat("runs/b/jobs/1=", job, "/result")), cat(job));
  }
  EXPECT_EQ(count("SELECT count(*) FROM attempt WHERE exit_code = 0"), 6);
  EXPECT_THAT(survivors(), IsEmpty());
}

TEST_F(StayingWorkers, AJobFindsItsEnvironmentAndFolderAndBearsItsMark) {
  const ToolResult result = run_kept(
      "seen = open('/proc/self/environ').read().split('\\0');"
      "mark = [v[17:] for v in seen if v.startswith('LOCKSTEP_ATTEMPT=')];"
      "put('marks', mark == [os.environ['LOCKSTEP_ATTEMPT']] and int(mark[0].split(':')[1]));"
      "put('own', [os.environ[n] for n in ('LOCKSTEP_JOB', 'LOCKSTEP_PARAM_1', 'LOCKSTEP_TRY')]);"
      "put('there', os.getcwd() == home and out.endswith('attempts/' + sys.argv[2])); "
      "os.chdir('/')",
      3);
  EXPECT_EQ(result.code, 0) << result.err << log(1) << log(2);
  EXPECT_EQ(loads(), 1u);
  EXPECT_EQ(text("marks"), "1\n2\n3\n");
  EXPECT_EQ(text("own"), "['1=1', '1', '1']\n['1=2', '2', '1']\n['1=3', '3', '1']\n");
  EXPECT_THAT(lines("there"), Each("True")) << text("there");
}

TEST_F(StayingWorkers, ACrashCostsOnlyTheJobThatRan) {
  const ToolResult result = run_kept(
      "put('ran', sys.argv[2]);"
      "sys.argv[2] == '2' and os.kill(os.getpid(), signal.SIGKILL);"
      "sys.argv[2] == '3' and sys.exit(5)",
      5);
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(text("ran"), "1\n2\n3\n4\n5\n");
  EXPECT_EQ(loads(), 3u) << "1 and 2, 3, 4 and 5";
  EXPECT_EQ(jobs_in("done"), 3);
  EXPECT_EQ(count("SELECT exit_code FROM attempt WHERE job = 2"), 137);
  EXPECT_EQ(count("SELECT exit_code FROM attempt WHERE job = 3"), 5);
}

TEST_F(StayingWorkers, TimesAndMemoryAreThoseOfTheJob) {
  const ToolResult result = run_kept(
      "exec('end = time.process_time() + 0.4\\nbig = bytearray(200 << 20)\\n"
      "while time.process_time() < end: pass\\nbig = 0') if sys.argv[2] in '24' else None;"
      "sys.argv[2] == '4' and os._exit(0)",
      4);
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(loads(), 1u);
  EXPECT_EQ(count("SELECT count(*) FROM attempt WHERE cpu_s > 0.35 AND cpu_s < 0.75"), 2);
  EXPECT_EQ(count("SELECT count(*) FROM attempt WHERE cpu_s < 0.3"), 2);
  EXPECT_EQ(count("SELECT sum(job) FROM attempt WHERE max_rss_bytes > 200 << 20"), 2 + 4);
}

TEST_F(StayingWorkers, OneWithChildrenEndsWithItsJobAndTheyAreGoneBeforeTheNextBegins) {
  expect_gone_before_the_next(leave_a_child);
  EXPECT_EQ(loads(), 3u);
}

TEST_F(StayingWorkers, OrphansAreGoneBeforeTheNextBegins) {
  expect_gone_before_the_next("os.system('setsid sleep 1000 & echo $! >> left');");
  EXPECT_EQ(loads(), 1u);
}

TEST_F(StayingWorkers, ATimeOutEndsTheJobAlone) {
  const ToolResult result =
      run_kept("sys.argv[2] == '2' and time.sleep(100)", 4, {"--timeout", "5", "--grace", "1"});
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(jobs_in("done"), 3);
  EXPECT_EQ(count("SELECT job FROM attempt WHERE outcome = 'timed out'"), 2);
  EXPECT_EQ(loads(), 2u);
}

TEST_F(StayingWorkers, ACancelEndsTheJobAlone) {
  cancel_second("sys.argv[2] == '2' and time.sleep(100)", 4);
  EXPECT_EQ(loads(), 2u);
}

// The signal may still be on its way when the job ends.
TEST_F(StayingWorkers, OneThatWasToldToEndGetsNoOtherJob) {
  cancel_second(
      "told = []; signal.signal(signal.SIGTERM, lambda *how: told.append(1));"
      "exec('while sys.argv[2] == \"2\" and not told: time.sleep(0.01)')",
      4);
  EXPECT_EQ(text("ran"), "1\n2\n3\n4\n");
  EXPECT_EQ(loads(), 2u);
  EXPECT_THAT(survivors(), IsEmpty());
}

TEST_F(StayingWorkers, WhatAJobDoesToItsVariablesTheNextOneDoesNotSee) {
  const ToolResult result = run_kept(
      "put('own', [os.environ.get(n) for n in ('LOCKSTEP_TRY', 'LOCKSTEP_SLOT', "
      "'LOCKSTEP_DEVICE')]);"
      "os.environ['LOCKSTEP_TRY'] = '7'; del os.environ['LOCKSTEP_SLOT'];"
      "os.environ['LOCKSTEP_DEVICE'] = 'gpu'",
      3);
  EXPECT_EQ(result.code, 0) << result.err << log(2);
  EXPECT_EQ(loads(), 1u);
  EXPECT_THAT(lines("own"), Each("['1', '0', 'cpu']"));
}

TEST_F(StayingWorkers, WhatALibraryPrintsIsInTheLogOfTheJob) {
  environment["PYTHONUNBUFFERED"] = "";  // as not set: else C's output has no buffer either
  const ToolResult result =
      run_kept("next_job.LIBC.printf(f'from C {sys.argv[2]}\\n'.encode())", 3);
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(loads(), 1u);
  for (int job = 1; job <= 3; ++job) EXPECT_EQ(log(job), cat("from C ", job, "\n"));
}

TEST_F(StayingWorkers, WhatIsPrintedLastIsInTheLogOfTheJob) {
  const ToolResult result =
      run_kept("[print('x' * 1023) for i in range(64)]; print('the end', sys.argv[2])", 4);
  EXPECT_EQ(result.code, 0) << result.err;
  for (int job = 1; job <= 4; ++job) {
    EXPECT_EQ(log(job).size(), 64u * 1024 + 10);
    EXPECT_THAT(log(job), ::testing::EndsWith(cat("the end ", job, "\n")));
  }
}

TEST_F(StayingWorkers, OneThatSaysWhatCannotBeIsAProcessForEachJob) {
  for (const char* said : {"ended=256", "ended=-1", "ended='0'", "ended=None"}) {
    SCOPED_TRACE(said);
    std::filesystem::remove(folder.path() / "loads");
    std::filesystem::remove_all(folder.path() / "runs");
    std::ofstream(folder.path() / "lies.py")
        << "import os, next_job\nopen('loads', 'a').write('x\\n')\n"
           "batch, mark = next_job.socket_of_batch()\n"
        << "next_job.say(batch, stays=os.getpid(), " << said << ")\n";
    const ToolResult result = run(run_words({"--slots", "1", "--workers", "kept"},
                                            {"python3", "lies.py", "{1}", ":::", "1", "2", "3"}));
    EXPECT_EQ(result.code, 0) << result.err << result.out;
    EXPECT_EQ(loads(), 3u);
  }
}

// It says that it has ended, and goes on: nobody waits for it.
TEST_F(StayingWorkers, OneThatNeverTakesAJobUpIsAProcessForEachJob) {
  std::ofstream(folder.path() / "deaf.py")
      << "import os, time, next_job\nopen('loads', 'a').write('x\\n')\n"
         "batch, mark = next_job.socket_of_batch()\n"
         "if batch is not None:\n"
         "    next_job.say(batch, stays=os.getpid(), ended=0)\n"
         "    time.sleep(1000)\n";
  const ToolResult result = run(run_words({"--slots", "1", "--workers", "kept"},
                                          {"python3", "deaf.py", "{1}", ":::", "1", "2", "3"}));
  EXPECT_EQ(result.code, 0) << result.err << result.out;
  EXPECT_EQ(loads(), 3u);
  EXPECT_EQ(count("SELECT count(*) FROM attempt"), 3);
  EXPECT_THAT(survivors(), IsEmpty());
}

TEST_F(StayingWorkers, EndWithTheirSupervisor) {
  testing::ToolProcess tool =
      begin(words("put('ran', sys.argv[2]); sys.argv[2] == '2' and time.sleep(0.5)", 4));
  ASSERT_TRUE(comes([&] { return lines("ran").size() == 2; }));
  const std::vector<pid_t> supervisors = testing::children_of(tool.pid());
  ASSERT_EQ(supervisors.size(), 1u);
  kill(tool.pid(), SIGKILL);
  kill(supervisors[0], SIGKILL);
  tool.wait();
  EXPECT_TRUE(comes([&] { return survivors().empty(); }));
  EXPECT_EQ(run({"batch", "resume", "b", "--slots", "1"}).code, 0);
  EXPECT_EQ(text("ran"), "1\n2\n2\n3\n4\n");
  EXPECT_THAT(survivors(), IsEmpty());
}

TEST_F(StayingWorkers, AJobOutlivesItsSchedulerAndIsAdopted) {
  testing::ToolProcess tool =
      begin(words("put('ran', sys.argv[2]); sys.argv[2] == '2' and time.sleep(0.7)", 4));
  ASSERT_TRUE(comes([&] { return lines("ran").size() == 2; }));
  kill(tool.pid(), SIGKILL);
  tool.wait();
  const ToolResult on = run({"batch", "resume", "b", "--slots", "1"});
  EXPECT_EQ(on.code, 0) << on.err;
  EXPECT_EQ(text("ran"), "1\n2\n3\n4\n");
  EXPECT_EQ(loads(), 2u) << "one for each supervisor";
  EXPECT_EQ(count("SELECT count(*) FROM attempt"), 4);
  EXPECT_THAT(survivors(), IsEmpty());
}

// Job 1 is at its end when another scheduler begins: its process bears the mark of those that wait,
// and has not said yet that the job has ended.
TEST_F(StayingWorkers, OneThatIsAboutToSayThatItsJobHasEndedIsLeftToSayIt) {
  std::ofstream(folder.path() / "slow.py") << "import os, time, next_job\n"
                                              "mark = next_job.LIBC.getenv(b'LOCKSTEP_ATTEMPT')\n"
                                              "batch, idle_mark = next_job.socket_of_batch()\n"
                                              "next_job.write_mark(mark, idle_mark)\n"
                                              "open('ran', 'a').write('x\\n')\n"
                                              "while not os.path.exists('go'): time.sleep(0.01)\n"
                                              "next_job.say(batch, stays=os.getpid(), ended=0)\n"
                                              "next_job.next_of(batch)\n";
  testing::ToolProcess tool = begin(run_words({"--slots", "1", "--workers", "kept"},
                                              {"python3", "slow.py", "{1}", ":::", "1", "2"}));
  ASSERT_TRUE(comes([&] { return lines("ran").size() == 1; }));
  kill(tool.pid(), SIGKILL);
  tool.wait();
  testing::ToolProcess next = begin({"batch", "resume", "b", "--slots", "2"});
  EXPECT_TRUE(comes([&] { return lines("ran").size() == 2; })) << "it has looked at job 1 by then";
  std::ofstream(folder.path() / "go");
  const ToolResult on = next.wait();
  EXPECT_EQ(on.code, 0) << on.err;
  EXPECT_EQ(count("SELECT count(*) FROM attempt WHERE exit_code = 0"), 2);
  EXPECT_THAT(survivors(), IsEmpty());
}

}  // namespace
}  // namespace lockstep
