// Orders to a supervisor, what it records, and what becomes of the processes of an attempt.
#include "tools/jobs/process/job_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "tools/jobs/process/cgroup.h"
#include "tools/jobs/process/process_tree.h"

namespace lockstep {
namespace {

using ::testing::HasSubstr;

TEST(JobOrders, ComeBackFromJsonAsTheyWere) {
  const JobOrder order{.attempt = 1'234'567'890'123,
                       .mark = "batch:7",
                       .command = {"sh", "-c", "echo \"a b\"\n"},
                       .environment = {"A=1", "EMPTY="},
                       .folder = "/tmp/a folder",
                       .out = "/tmp/out",
                       .log = "/tmp/log",
                       .group = "/sys/fs/cgroup/lockstep-batch/7",
                       .log_limit_bytes = 1ULL << 40,
                       .cores = {0, 5},
                       .timeout_s = 2.5,
                       .grace_s = 0.25,
                       .leases = 3,
                       .worker_mark = "batch:w"};
  const JobOrder back = order_from_json(order_json(order));
  EXPECT_EQ(order_json(back), order_json(order));
  EXPECT_EQ(back.attempt, order.attempt);
  EXPECT_EQ(back.mark, order.mark);
  EXPECT_EQ(back.command, order.command);
  EXPECT_EQ(back.environment, order.environment);
  EXPECT_EQ(back.folder, order.folder);
  EXPECT_EQ(back.out, order.out);
  EXPECT_EQ(back.log, order.log);
  EXPECT_EQ(back.group, order.group);
  EXPECT_EQ(back.log_limit_bytes, order.log_limit_bytes);
  EXPECT_EQ(back.cores, order.cores);
  EXPECT_EQ(back.timeout_s, order.timeout_s);
  EXPECT_EQ(back.grace_s, order.grace_s);
  EXPECT_EQ(back.leases, order.leases);
  EXPECT_EQ(back.worker_mark, order.worker_mark);
  EXPECT_EQ(order_from_json(order_json({.mark = "m:1"})).timeout_s, std::nullopt);
}

TEST(JobExits, WithNumbersThatAreNoneAreRefused) {
  for (const char* key : {"attempt", "code", "signal", "max_rss_bytes"})
    for (const nlohmann::json& none :
         {nlohmann::json(-1), nlohmann::json(1.5), nlohmann::json(1e300), nlohmann::json(~0ULL)}) {
      nlohmann::json value = exit_json({.attempt = 9});
      value[key] = none;
      EXPECT_THROW(exit_from_json(value), Error) << key << " " << none;
    }
}

TEST(JobExits, ComeBackFromJsonAsTheyWere) {
  const JobExit exit{.attempt = 9,
                     .problem = "cannot start",
                     .code = 143,
                     .signal = 15,
                     .ended_by = "timeout",
                     .started = 1.5e9 + 0.125,
                     .ended = 1.5e9 + 0.25,
                     .cpu_s = 0.375,
                     .max_rss_bytes = std::int64_t{1} << 41,
                     .cleared = false};
  const JobExit back = exit_from_json(exit_json(exit));
  EXPECT_EQ(exit_json(back), exit_json(exit));
  EXPECT_EQ(back.attempt, exit.attempt);
  EXPECT_EQ(back.problem, exit.problem);
  EXPECT_EQ(back.code, exit.code);
  EXPECT_EQ(back.signal, exit.signal);
  EXPECT_EQ(back.ended_by, exit.ended_by);
  EXPECT_EQ(back.started, exit.started);
  EXPECT_EQ(back.ended, exit.ended);
  EXPECT_EQ(back.cpu_s, exit.cpu_s);
  EXPECT_EQ(back.max_rss_bytes, exit.max_rss_bytes);
  EXPECT_FALSE(back.cleared);
}

class JobProcessTest : public ::testing::Test {
 protected:
  JobOrder order(const std::string& script) const {
    return {.attempt = 1,
            .mark = mark,
            .command = {"sh", "-c", script},
            .environment = {"LOCKSTEP_ATTEMPT=" + mark},
            .folder = folder.path(),
            .out = folder.path() / "out",
            .log = folder.path() / "log",
            .grace_s = 0.1};
  }
  // To its end, as a supervisor does.
  JobExit run(JobOrder given) {
    JobProcess job(std::move(given), {}, leaders, now(), 1000);
    while (!job.over()) {
      int status = 0;
      rusage usage{};
      for (pid_t child = 0; (child = wait4(-1, &status, WNOHANG, &usage)) > 0;)
        if (child == job.leader()) job.reaped(status, usage, 1000 + now());
      job.read_output();
      job.look(now(), now());
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_TRUE(leaders.empty());
    return job.exit();
  }
  static double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }

  TemporaryDirectory folder;
  std::set<pid_t> leaders;
  const std::string mark = "job-test-" + std::to_string(getpid()) + ":1";
};

TEST_F(JobProcessTest, GivesACommandItsFolderItsVariablesAndItsLog) {
  const JobExit exit = run(order("pwd; echo $LOCKSTEP_ATTEMPT; echo err >&2; exit 3"));
  EXPECT_EQ(exit.code, 3);
  EXPECT_EQ(exit.signal, 0);
  EXPECT_EQ(exit.problem, "");
  EXPECT_GT(exit.max_rss_bytes, 100'000);
  EXPECT_TRUE(std::filesystem::is_directory(folder.path() / "out"));
  EXPECT_EQ(read_file(folder.path() / "log"),
            std::filesystem::canonical(folder.path()).string() + "\n" + mark + "\nerr\n");
}

TEST_F(JobProcessTest, SaysWhatCannotBeStarted) {
  JobOrder given = order("");
  given.command = {"/nothing/here"};
  JobExit exit = run(given);
  EXPECT_EQ(exit.code, 127);
  EXPECT_THAT(exit.problem, HasSubstr("cannot start \"/nothing/here\""));
  given = order("true");
  given.folder = folder.path() / "gone";
  EXPECT_THAT(run(given).problem, HasSubstr("in the folder"));
  given = order("true");
  given.out = folder.path() / "no/out";
  EXPECT_THAT(run(given).problem, HasSubstr("cannot make the folder"));
}

// A power loss may take the attempt's row and leave its folder: its number comes again.
TEST_F(JobProcessTest, WhatAnEarlierAttemptOfThatNumberLeftIsGone) {
  std::filesystem::create_directories(folder.path() / "out/below");
  std::ofstream(folder.path() / "out/below/stale") << "x";
  EXPECT_EQ(run(order("exit 0")).code, 0);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path() / "out"));
}

TEST_F(JobProcessTest, NeitherDoesItsLogGoOnInAnother) {
  std::ofstream(folder.path() / "log") << "of another\n";
  run(order("echo mine"));
  EXPECT_EQ(read_file(folder.path() / "log"), "mine\n");
}

TEST_F(JobProcessTest, ALogThatCannotBeMadeEndsNoJob) {
  JobOrder given = order("echo text; exit 4");
  given.log = folder.path() / "no/log";
  EXPECT_EQ(run(given).code, 4);
}

// It may be a while before its supervisor hears of its end.
TEST_F(JobProcessTest, OneThatHasEndedByItselfIsNotSaidToHaveBeenEnded) {
  JobProcess job(order("exit 0"), {}, leaders, now(), 1000);
  siginfo_t info{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(job.leader()), &info, WEXITED | WNOWAIT), 0);
  job.stop("stop", now());
  int status = 0;
  rusage usage{};
  ASSERT_GT(wait4(job.leader(), &status, 0, &usage), 0);
  job.reaped(status, usage, 1001);
  job.stop("stop", now());
  while (!job.over()) job.look(now(), now());
  EXPECT_EQ(job.exit().ended_by, "");
  EXPECT_EQ(job.exit().code, 0);
}

TEST_F(JobProcessTest, NorIsOneThatEndsByItselfWhileItIsBeingStopped) {
  int by_itself = 0, ended = 0;
  for (int i = 0; i < 100; ++i) {
    JobOrder given = order("exec sleep 0.02");
    given.grace_s = 60;
    JobProcess job(given, {}, leaders, now(), 1000);
    const int us = i < 5 ? 0 : i < 95 ? 15'000 + 80 * i : 500'000;
    std::this_thread::sleep_for(std::chrono::microseconds(us));
    job.stop("stop", now());
    while (!job.over()) {
      int status = 0;
      rusage usage{};
      if (job.leader() != 0 && wait4(job.leader(), &status, WNOHANG, &usage) > 0)
        job.reaped(status, usage, 1001);
      job.look(now(), now());
    }
    const JobExit exit = job.exit();
    EXPECT_EQ(exit.ended_by, exit.code == 0 ? "" : "stop") << i;
    EXPECT_EQ(exit.signal, exit.code == 0 ? 0 : SIGTERM);
    ++(exit.code == 0 ? by_itself : ended);
  }
  EXPECT_GT(by_itself, 0);
  EXPECT_GT(ended, 0);
}

TEST_F(JobProcessTest, OneThatEndsWellOnSigtermWasEnded) {
  JobProcess job(order("trap 'exit 0' TERM; touch ready; while :; do sleep 0.01; done"), {},
                 leaders, now(), 1000);
  while (!std::filesystem::exists(folder.path() / "ready"))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  job.stop("stop", now());
  while (!job.over()) {
    int status = 0;
    rusage usage{};
    if (job.leader() != 0 && wait4(job.leader(), &status, WNOHANG, &usage) > 0)
      job.reaped(status, usage, 1001);
    job.look(now(), now());
  }
  EXPECT_EQ(job.exit().ended_by, "stop");
  EXPECT_EQ(job.exit().code, 0);
}

TEST_F(JobProcessTest, WhatIgnoresSigtermIsKilledAfterItsGrace) {
  JobOrder given = order("trap '' TERM; while :; do sleep 0.01; done");
  given.timeout_s = 0.1;
  const JobExit exit = run(given);
  EXPECT_EQ(exit.ended_by, "timeout");
  EXPECT_EQ(exit.signal, 9);
  EXPECT_EQ(exit.code, 137);
}

// In a session and with variables of its own, so that only its control group tells whose it is.
TEST_F(JobProcessTest, WithAControlGroupItIsNotOverBeforeWhatHidWhoseItIs) {
  const CgroupPlace place = find_cgroup_place("lockstep-job-test-" + std::to_string(getpid()));
  if (place.folder.empty()) GTEST_SKIP() << "no control groups here: " << place.why_not;
  JobOrder given = order(
      "env -i setsid sleep 1000 >/dev/null 2>&1 & echo $! > hidden; sleep 0.1; "
      "sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done' & sleep 0.3");
  given.group = place.folder / "1";
  const JobExit exit = run(given);
  EXPECT_EQ(exit.code, 0);
  EXPECT_TRUE(exit.cleared);
  EXPECT_EQ(start_ticks(std::stoi(read_file(folder.path() / "hidden"))), 0U);
  EXPECT_GT(exit.cpu_s, 0.02) << "also of what it did not wait for";
  EXPECT_FALSE(std::filesystem::exists(given.group));
  remove_cgroup(place.folder);
}

TEST_F(JobProcessTest, AControlGroupThatCannotBeMadeEndsNoJob) {
  JobOrder given = order("setsid sleep 1000 >/dev/null 2>&1 & exit 4");
  given.group = folder.path() / "no/such/group";
  EXPECT_EQ(run(given).code, 4);
  given.group = folder.path() / "groups/7";  // made, but nothing can be born there
  EXPECT_EQ(run(given).code, 4);
  EXPECT_FALSE(std::filesystem::exists(given.group));
}

// A program in bash that says what a process says that stays for the next job.
class StayingJobProcessTest : public JobProcessTest {
 protected:
  // `script` has $fd, and `stays CODE`.
  JobOrder staying(const std::string& own_mark, const std::string& script) const {
    JobOrder given = order("");
    given.command = {"bash", "-c",
                     "fd=${LOCKSTEP_WORKER% *}; stays() { printf '{\"stays\":%d,\"job\":%d,"
                     "\"arguments\":[\"a\"],\"ended\":%d}\\n' $$ $$ $1 >&$fd; }; " +
                         script,
                     "a"};
    given.environment = {"LOCKSTEP_ATTEMPT=" + own_mark};
    given.worker_mark = worker_mark;
    return given;
  }
  // Until it has said something, or 10 s are over.
  static void hear(JobProcess& job, double at) {
    pollfd watched{job.worker_fd(), POLLIN, 0};
    ::poll(&watched, 1, 10'000);
    job.read_worker(at, 1000);
  }
  static std::pair<int, rusage> wait_for(pid_t child) {
    std::pair<int, rusage> result{};
    EXPECT_EQ(wait4(child, &result.first, 0, &result.second), child);
    return result;
  }
  // What stays of a first job, which bears `own_mark` all the time.
  std::unique_ptr<KeptWorker> first(const std::string& own_mark, const std::string& script) {
    JobProcess job(staying(own_mark, script), {}, leaders, 0, 1000);
    hear(job, 0);
    job.look(1, 1000);
    EXPECT_TRUE(job.over());
    return job.take_worker();
  }
  const std::string worker_mark = "job-test-" + std::to_string(getpid()) + ":w";
};

TEST_F(StayingJobProcessTest, AJobThatSaidThatItHadEndedHasThoughItsProcessIsKilled) {
  JobProcess job(
      staying(mark, "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; stays 3; kill -9 $$"), {},
      leaders, 0, 1000);
  const auto [status, usage] = wait_for(job.leader());
  job.read_worker(1, 1000);  // the word and the end of file come together
  job.reaped(status, usage, 1001);
  job.look(2, 1001);
  ASSERT_TRUE(job.over());
  const JobExit exit = job.exit();
  EXPECT_EQ(exit.code, 3);
  EXPECT_EQ(exit.signal, 0);
  EXPECT_GT(exit.cpu_s, 0);
  EXPECT_GT(exit.max_rss_bytes, 100'000);
  EXPECT_EQ(job.take_worker(), nullptr);
  EXPECT_TRUE(leaders.empty());
}

TEST_F(StayingJobProcessTest, OneThatTakesAJobAndKeepsTheMarkOfThoseThatWaitIsGivenUp) {
  std::unique_ptr<KeptWorker> worker = first(
      worker_mark, "stays 0; read -r job <&$fd; echo '{\"took\":true}' >&$fd; read -r on <&$fd");
  ASSERT_NE(worker->copy(), 0);
  JobProcess job(staying(mark, ""), {}, leaders, 100, 1000, std::move(worker));
  const pid_t process = job.leader();
  hear(job, 100);
  job.look(100.5, 1000);
  EXPECT_TRUE(job.distrusted().empty()) << "it may be about to say that it has ended";
  job.look(101.5, 1000);
  ASSERT_FALSE(job.distrusted().empty());
  EXPECT_EQ(WTERMSIG(wait_for(process).first), SIGKILL);
}

TEST_F(StayingJobProcessTest, OneThatTakesAJobAndSaysThatItHasEndedIsKept) {
  std::unique_ptr<KeptWorker> worker = first(
      worker_mark,
      "stays 0; read -r job <&$fd; echo '{\"took\":true}' >&$fd; read -r -t 0.2 on <&$fd; stays 4; "
      "read -r on <&$fd");
  JobProcess job(staying(mark, ""), {}, leaders, 100, 1000, std::move(worker));
  const pid_t process = job.leader();
  hear(job, 100);
  if (job.leader() != 0) hear(job, 100.5);
  job.look(102, 1000);
  ASSERT_TRUE(job.over());
  EXPECT_EQ(job.exit().code, 4);
  EXPECT_TRUE(job.distrusted().empty());
  EXPECT_EQ(job.take_worker()->copy(), process);
  EXPECT_TRUE(WIFEXITED(wait_for(process).first)) << "by itself, once nobody has the socket";
}

using JobProcessDeathTest = JobProcessTest;
TEST_F(JobProcessDeathTest, WithoutAMarkNothingIsStarted) {
  JobOrder given = order("true");
  given.mark = "";
  EXPECT_DEATH(JobProcess(given, {}, leaders, 0, 0), "does not hold");
}

}  // namespace
}  // namespace lockstep
