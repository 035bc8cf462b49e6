// Processes are found by the mark that they inherited, and by nothing else.
#include "tools/jobs/process/process_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "core/base/process/spawn.h"

namespace lockstep {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// Sleeps with a mark until the test ends. Marks have the test's own process in them, so that runs
// of it beside each other do not meet.
class ProcessTree : public ::testing::Test {
 protected:
  ProcessTree() { prctl(PR_SET_CHILD_SUBREAPER, 1); }  // as a supervisor
  ~ProcessTree() override {
    for (const pid_t process : started) {
      kill(process, SIGKILL);
      waitpid(process, nullptr, 0);
    }
  }
  pid_t start(const std::string& mark, const std::string& command = "exec sleep 100") {
    std::vector<std::string> environment{"PATH=/usr/bin:/bin", "OTHER_LOCKSTEP_ATTEMPT=no"};
    if (!mark.empty()) environment.push_back(std::string(attempt_variable) + "=" + mark);
    started.push_back(spawn({.argv = {"sh", "-c", command}, .environment = environment}));
    return started.back();
  }
  static std::vector<pid_t> marked(const std::string& mark) {
    std::vector<pid_t> pids;
    for (const MarkedProcess& process : processes_marked(mark)) pids.push_back(process.pid);
    return pids;
  }
  const std::string batch = "test-" + std::to_string(getpid());
  std::vector<pid_t> started;
};

TEST_F(ProcessTree, FindsWhatHasTheMarkOrOneOfTheBatch) {
  const pid_t one = start(batch + ":1"), ten = start(batch + ":10"), other = start(batch + "0:1");
  start("");
  EXPECT_EQ(attempt_of(one), batch + ":1");
  EXPECT_EQ(attempt_of(other), batch + "0:1");
  EXPECT_THAT(marked(batch + ":1"), UnorderedElementsAre(one));
  EXPECT_THAT(marked(batch + ":"), UnorderedElementsAre(one, ten));
  EXPECT_THAT(marked(batch + ":2"), IsEmpty());
}

TEST_F(ProcessTree, FindsWhatCalledSetsid) {
  start(batch + ":1", "setsid sleep 100 & wait");
  for (int i = 0; i < 200 && marked(batch + ":1").size() < 2; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  const std::vector<pid_t> found = marked(batch + ":1");
  EXPECT_EQ(found.size(), 2U);
  for (const MarkedProcess& process : processes_marked(batch + ":1"))
    signal_marked(process, SIGKILL);
}

TEST_F(ProcessTree, WhatHasEndedAndWaitsToBeReapedIsGone) {
  const pid_t process = start(batch + ":7");
  EXPECT_NE(start_ticks(process), 0U);
  kill(process, SIGKILL);
  siginfo_t info{};
  waitid(P_PID, static_cast<id_t>(process), &info, WEXITED | WNOWAIT);
  EXPECT_THAT(marked(batch + ":7"), IsEmpty());
  EXPECT_EQ(start_ticks(process), 0U);
}

// That is what every other process of the machine has.
using ProcessTreeDeathTest = ProcessTree;
TEST_F(ProcessTreeDeathTest, AnEmptyMarkIsRefused) {
  EXPECT_DEATH(processes_marked(""), "does not hold");
  EXPECT_DEATH(processes_marked(":"), "does not hold");
  EXPECT_DEATH(signal_marked({.pid = getpid()}, 0), "does not hold");
  EXPECT_DEATH(signal_descendants({0}, 0), "does not hold");
  EXPECT_DEATH(signal_descendants({1}, 0), "does not hold");
  EXPECT_DEATH(signal_descendants({-1}, 0), "does not hold");
}

TEST_F(ProcessTree, AProcessWhoseMarkIsEmptyBelongsToNobody) {
  const pid_t process = start("");
  const pid_t empty = spawn(
      {.argv = {"sleep", "100"}, .environment = {{"PATH=/usr/bin:/bin", "LOCKSTEP_ATTEMPT="}}});
  started.push_back(empty);
  EXPECT_EQ(attempt_of(process), "");
  EXPECT_EQ(attempt_of(empty), "");
}

TEST_F(ProcessTree, SignalsNobodyWhoGotTheNumberMeanwhile) {
  const pid_t process = start(batch + ":2");
  signal_marked({.pid = process, .mark = batch + ":1"}, SIGKILL);
  EXPECT_NE(start_ticks(process), 0U);
  signal_marked({.pid = process, .mark = batch + ":2"}, SIGKILL);
  int status = 0;
  waitpid(process, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
}

TEST_F(ProcessTree, SignalsAllThatDescendAndNoOthers) {
  const pid_t parent = start(batch + ":3", "sh -c 'sleep 100 & wait' & sleep 100 & wait");
  const pid_t other = start(batch + ":4");
  for (int i = 0; i < 1000 && marked(batch + ":3").size() < 4; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  ASSERT_EQ(marked(batch + ":3").size(), 4U);
  EXPECT_THAT(own_children(), Contains(parent));
  signal_descendants({parent}, SIGKILL);
  for (int i = 0; i < 1000 && !marked(batch + ":3").empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_THAT(marked(batch + ":3"), IsEmpty());
  EXPECT_NE(start_ticks(other), 0U);
}

TEST_F(ProcessTree, ANumberWithItsStartNamesAProcess) {
  const pid_t process = start(batch + ":5");
  EXPECT_EQ(start_ticks(process), start_ticks(process));
  EXPECT_EQ(start_ticks(1 << 29), 0U);
}

}  // namespace
}  // namespace lockstep
