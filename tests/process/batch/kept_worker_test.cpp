// workers = "kept": each job is a process of its own that another one left behind, and everything
// holds that holds of jobs that are started anew.
#include <signal.h>

#include <set>

#include "core/base/text/text.h"
#include "kept_rig.h"

namespace lockstep {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::ToolResult;

namespace fs = std::filesystem;

// Appends to `loads` when it is loaded. Its first argument is Python that runs as the job.
constexpr const char* worker = R"(
import os, sys, time, signal, subprocess
import next_job
with open("loads", "a") as file:
    file.write(f"{os.getpid()}\n")
home = os.getcwd()
next_job.stay()
def put(name, text):
    with open(os.path.join(home, name), "a") as file:
        file.write(f"{text}\n")
def waiting(least=0):
    mark = "LOCKSTEP_ATTEMPT=" + os.environ["LOCKSTEP_ATTEMPT"].split(":")[0] + ":w"
    found = []
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and mark.encode() in open(f"/proc/{name}/environ", "rb").read():
                found.append(int(name))
        except OSError:
            pass
    return found if len(found) >= least else waiting(least)
out = os.environ["LOCKSTEP_OUT"]
exec(sys.argv[1])
)";

class KeptWorkers : public KeptRig {
 protected:
  KeptWorkers() : KeptRig(worker) {}
};

TEST_F(KeptWorkers, EachJobIsAProcessOfItsOwnThatIsLoadedAlready) {
  const ToolResult result = run_kept(
      "put('pids', os.getpid()); put('sessions', os.getsid(0) == os.getpid());"
      "print('job', sys.argv[2]); open(out + '/result', 'w').write(sys.argv[2])",
      6);
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(loads(), 1u);
  const std::vector<std::string> pids = lines("pids");
  EXPECT_EQ(std::set<std::string>(pids.begin(), pids.end()).size(), 6u);
  EXPECT_THAT(lines("sessions"), Each("True"));
  for (int job = 1; job <= 6; ++job) {
    EXPECT_EQ(log(job), cat("job ", job, "\n"));
    EXPECT_EQ(text(cat("runs/b/jobs/1=", job, "/result")), cat(job));
  }
  EXPECT_THAT(survivors(), IsEmpty());
}

TEST_F(KeptWorkers, FindsTheEnvironmentOfItsOwnJobAndBearsItsMark) {
  const ToolResult result = run_kept(
      "seen = open('/proc/self/environ').read().split('\\0');"
      "mark = [v[17:] for v in seen if v.startswith('LOCKSTEP_ATTEMPT=')];"
      "put('marks', mark == [os.environ['LOCKSTEP_ATTEMPT']] and int(mark[0].split(':')[1]));"
      "put('own', [os.environ[n] for n in ('LOCKSTEP_JOB', 'LOCKSTEP_PARAM_1', 'LOCKSTEP_TRY')]);"
      "put('cores', len(os.sched_getaffinity(0)));"
      "put('threads', os.environ['OMP_NUM_THREADS']);"
      "put('inherited', 'LOCKSTEP_WORKER' in os.environ);"
      "os.environ['LEFT'] = 'x'; os.chdir('/'); put('left', os.environ.get('LEFT'))",
      3);
  EXPECT_EQ(result.code, 0) << result.err << log(1) << log(2);
  EXPECT_EQ(loads(), 1u);
  EXPECT_EQ(text("marks"), "1\n2\n3\n");
  EXPECT_EQ(text("own"), "['1=1', '1', '1']\n['1=2', '2', '1']\n['1=3', '3', '1']\n");
  EXPECT_THAT(lines("cores"), Each("1"));
  EXPECT_THAT(lines("threads"), Each("1"));
  EXPECT_THAT(lines("inherited"), Each("False"));
}

TEST_F(KeptWorkers, AnEnvironmentThatWasReadWhileLoadingIsTheSame) {
  std::ofstream(folder.path() / "b.toml")
      << "command = ['python3', 'worker.py', 'put(\"seen\", os.environ[\"RATE\"])']\n"
         "workers = 'kept'\nenv = {RATE = '{rate}'}\n[matrix]\nrate = [1, 2]\ntime = [1, 2, 3]\n";
  EXPECT_EQ(run({"batch", "run", "b.toml", "--slots", "1"}).code, 0);
  EXPECT_EQ(text("seen"), "1\n1\n1\n2\n2\n2\n");
  EXPECT_EQ(loads(), 2u) << "one for each value";
}

TEST_F(KeptWorkers, TheSameWordsInAnotherFolderAreAnotherProgram) {
  for (const char* name : {"a", "b"}) {
    fs::create_directory(folder.path() / name);
    fs::copy(folder.path() / "next_job.py", folder.path() / name);
    std::ofstream(folder.path() / name / "fit.py")
        << "import sys, next_job\nopen('../loads', 'a').write('x\\n')\nnext_job.stay()\n"
        << "open('../ran', 'a').write('" << name << "' + sys.argv[1] + '\\n')\n";
  }
  std::ofstream(folder.path() / "b.toml")
      << "command = ['python3', 'fit.py', '{n}']\ncwd = '{where}'\nworkers = 'kept'\n"
         "[matrix]\nwhere = ['a', 'b']\nn = [1, 2, 3]\n";
  EXPECT_EQ(run({"batch", "run", "b.toml", "--slots", "1"}).code, 0);
  EXPECT_EQ(text("ran"), "a1\na2\na3\nb1\nb2\nb3\n");
  EXPECT_EQ(loads(), 2u);
}

TEST_F(KeptWorkers, AProgramBelowOneThatClosesFilesRunsAsItWouldAlone) {
  std::ofstream(folder.path() / "b.toml")
      << "command = ['python3', '-c', 'import subprocess, sys; "
         "sys.exit(subprocess.call(sys.argv[1:]))', "
         "'python3', 'worker.py', 'put(\"ran\", sys.argv[2])', '{n}']\nworkers = 'kept'\n"
         "[matrix]\nn = [1, 2, 3]\n";
  EXPECT_EQ(run({"batch", "run", "b.toml", "--slots", "1"}).code, 0)
      << text("runs/b/logs/n=1.1.log");
  EXPECT_EQ(text("ran"), "1\n2\n3\n");
}

TEST_F(KeptWorkers, ACrashCostsOnlyTheJobThatRan) {
  const ToolResult result = run_kept(
      "put('ran', sys.argv[2]);"
      "sys.argv[2] == '2' and os.kill(os.getpid(), signal.SIGKILL);"
      "sys.argv[2] == '3' and sys.exit(5)",
      5);
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(text("ran"), "1\n2\n3\n4\n5\n");
  EXPECT_EQ(loads(), 1u) << "the copy was left before";
  EXPECT_EQ(jobs_in("done"), 3);
  EXPECT_EQ(count("SELECT exit_code FROM attempt WHERE job = 2"), 137);
  EXPECT_EQ(count("SELECT exit_code FROM attempt WHERE job = 3"), 5);
}

TEST_F(KeptWorkers, TimesAndMemoryAreThoseOfTheJob) {
  const ToolResult result = run_kept(
      "exec('big = bytearray(200 << 20)\\nend = time.process_time() + 1.5\\n"
      "while time.process_time() < end: pass') if sys.argv[2] == '2' else None",
      3);
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(count("SELECT job FROM attempt WHERE cpu_s > 1.4"), 2);
  EXPECT_EQ(count("SELECT count(*) FROM attempt WHERE cpu_s < 1.2"), 2);
  EXPECT_EQ(count("SELECT group_concat(job) FROM attempt WHERE max_rss_bytes > 200 << 20"), 2);
}

TEST_F(KeptWorkers, WhatAJobLeavesBehindIsGoneBeforeTheNextBegins) {
  expect_gone_before_the_next(leave_a_child);
  EXPECT_EQ(loads(), 1u);
}

TEST_F(KeptWorkers, ATimeOutEndsTheJobAndNotWhatStaysForTheNext) {
  const ToolResult result =
      run_kept("sys.argv[2] == '1' and time.sleep(100)", 3, {"--timeout", "5", "--grace", "1"});
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(jobs_in("done"), 2);
  EXPECT_EQ(count("SELECT count(*) FROM attempt WHERE outcome = 'timed out'"), 1);
  EXPECT_EQ(loads(), 1u);
}

TEST_F(KeptWorkers, ACancelEndsTheJobAlone) {
  cancel_second("sys.argv[2] == '2' and time.sleep(100)", 3);
  EXPECT_EQ(loads(), 1u);
}

TEST_F(KeptWorkers, ALogIsBoundedAsAnyOther) {
  const ToolResult result = run_kept(
      "[print('x' * 1023) for i in range(4096 if sys.argv[2] == '2' else 1)]; print('the end')", 3,
      {"--log-limit-mb", "1"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_LT(log(2).size(), std::size_t{3} << 20);
  EXPECT_THAT(log(2), ::testing::EndsWith("the end\n"));
  EXPECT_EQ(log(3).size(), 1024u + 8);
}

TEST_F(KeptWorkers, AProgramThatKnowsNothingOfItIsAProcessForEachJob) {
  const ToolResult result =
      run(run_words({"--slots", "1", "--workers", "kept"},
                    {"sh", "-c", "echo $$ >> pids; exit $0", "{1}", ":::", "0", "3", "0"}));
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(lines("pids").size(), 3u);
  EXPECT_EQ(jobs_in("done"), 2);
}

// What a program below the job's own says is not the job's word.
TEST_F(KeptWorkers, AProgramBelowAShellIsAProcessForEachJob) {
  const ToolResult result = run(run_words(
      {"--slots", "1", "--workers", "kept"},
      {"sh", "-c", "python3 worker.py \"put('ran', $0)\" x; exit 0", "{1}", ":::", "1", "2", "3"}));
  EXPECT_EQ(result.code, 0) << result.err << log(1);
  EXPECT_EQ(text("ran"), "1\n2\n3\n");
  EXPECT_EQ(loads(), 3u);
  EXPECT_THAT(survivors(), IsEmpty());
}

TEST_F(KeptWorkers, OneThatTalksNonsenseIsAProcessForEachJob) {
  std::ofstream(folder.path() / "nonsense.py")
      << "import os, sys\n"
         "open('loads', 'a').write('x\\n')\n"
         "fd, mark = os.environ['LOCKSTEP_WORKER'].split(' ')\n"
         "os.write(int(fd), [b'{\"stays\": 1, \"job\": 0}\\n', b'\\xff\\n\\n[]\\n', b'x' * (2 << "
         "20),\n"
         "    b'{\"stays\": 1, \"job\": %d, \"arguments\": []}\\n' % "
         "os.getpid()][int(sys.argv[1])])\n";
  const ToolResult result =
      run(run_words({"--slots", "1", "--workers", "kept", "--timeout", "20"},
                    {"python3", "nonsense.py", "{1}", ":::", "0", "1", "2", "3", "0"}));
  EXPECT_EQ(result.code, 0) << result.err << result.out;
  EXPECT_EQ(loads(), 5u);
}

// It says that a copy waits, which never answers.
TEST_F(KeptWorkers, OneThatNeverTakesAJobUpIsAProcessForEachJob) {
  std::ofstream(folder.path() / "deaf.py")
      << "import os, sys, json, time\n"
         "open('loads', 'a').write(sys.argv[1] + '\\n')\n"
         "if 'LOCKSTEP_WORKER' in os.environ:\n"
         "    fd = int(os.environ['LOCKSTEP_WORKER'].split(' ')[0])\n"
         "    copy = os.fork()\n"
         "    if copy == 0: time.sleep(1000)\n"
         "    os.write(fd, json.dumps({'stays': copy, 'job': os.getpid(),\n"
         "                             'arguments': sys.argv[1:]}).encode() + b'\\n')\n";
  const ToolResult result = run(run_words({"--slots", "1", "--workers", "kept"},
                                          {"python3", "deaf.py", "{1}", ":::", "1", "2", "3"}));
  EXPECT_EQ(result.code, 0) << result.err << result.out;
  EXPECT_EQ(text("loads"), "1\n2\n3\n");
  EXPECT_EQ(count("SELECT count(*) FROM attempt"), 3);
  EXPECT_THAT(survivors(), IsEmpty());
}

// It begins with the job and does not say in /proc whose it is: nobody could find it.
TEST_F(KeptWorkers, OneThatDoesNotBearTheMarkOfItsJobIsAProcessForEachJob) {
  std::ofstream(folder.path() / "next_job.py", std::ios::app)
      << "\ndef write_mark(place, mark):\n    pass\n";
  const ToolResult result =
      run_kept("time.sleep(0.3); open(out + '/ran', 'w'); put('ended', sys.argv[2])", 3);
  EXPECT_EQ(result.code, 0) << result.err << result.out;
  EXPECT_EQ(text("ended"), "1\n2\n3\n");
  EXPECT_EQ(loads(), 3u);
}

TEST_F(KeptWorkers, OneThatIsKilledWhileItWaitsCostsNothing) {
  const ToolResult result = run_kept(
      "[os.kill(pid, signal.SIGKILL) for pid in waiting(1)] if sys.argv[2] == '1' else None;"
      "put('ran', sys.argv[2])",
      3);
  EXPECT_EQ(result.code, 0) << result.err << log(1);
  EXPECT_EQ(text("ran"), "1\n2\n3\n");
  EXPECT_EQ(loads(), 2u);
  EXPECT_EQ(count("SELECT count(*) FROM attempt"), 3);
}

TEST_F(KeptWorkers, EndWithTheirSupervisor) {
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

TEST_F(KeptWorkers, AJobOutlivesItsSchedulerAndIsAdopted) {
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

TEST_F(KeptWorkers, NoMoreOfThemWaitThanJobsRunAtOnce) {
  std::ofstream(folder.path() / "b.toml")
      << "command = ['python3', 'worker.py', \"put('most', len(waiting()))\"]\n"
         "workers = 'kept'\nenv = {KIND = '{kind}'}\n"
         "[matrix]\nkind = [1, 2, 3, 4, 5, 6]\n";
  const ToolResult result = run({"batch", "run", "b.toml", "--slots", "1"});
  EXPECT_EQ(result.code, 0) << result.err << result.out;
  for (const std::string& most : lines("most"))
    EXPECT_LE(std::stoi(most), 2) << "one of another kind, and the copy of the job itself";
}

TEST_F(KeptWorkers, AWordThatIsNoneIsRefused) {
  const ToolResult result = run(run_words({"--workers", "keep"}, {"true"}));
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("workers must be \"new\" or \"kept\", but is \"keep\""));
}

}  // namespace
}  // namespace lockstep
