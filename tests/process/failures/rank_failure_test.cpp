// Ranks that die, throw, stop or loop in the middle of a step: the run ends in seconds, says which
// rank, where, and what the others waited for, leaves nothing behind, and goes on afterwards.
#include "base/clock.h"
#include "fakes/tool.h"
#include "run/samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <thread>

namespace lockstep {
namespace {

using ::testing::HasSubstr;
using testing::program;
using testing::ToolProcess;
using testing::ToolResult;
using Words = std::vector<std::string>;

class RankFailure : public ::testing::Test {
 protected:
  ToolResult train(const std::string& faults, const Words& more = {}) {
    Words words{program("lockstep"),
                "train",
                "faulty",
                "--plugin",
                std::string(LOCKSTEP_BUILD_DIR) + "/tests/libfaulty-plugin.so",
                "--devices",
                "cpu:3",
                "--name",
                "a",
                "stop.steps=12",
                "batch.global=48",
                "checkpoint.every_steps=2",
                "data.threads=1"};
    words.insert(words.end(), more.begin(), more.end());
    if (std::find(more.begin(), more.end(), "--name") == more.end())
      words.insert(words.end(), {"--name", "a"});
    return run(words, faults);
  }
  ToolResult run(const Words& words, const std::string& faults) {
    const double begin_s = system_clock().now_s();
    std::map<std::string, std::string> environment{{"LOCKSTEP_TEST_FAULTS", faults}};
    if (once) environment["LOCKSTEP_TEST_ONCE"] = folder.path().string();
    ToolProcess tool(words, folder.path(), environment);
    std::vector<pid_t> ranks;
    std::jthread watcher([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        for (const pid_t rank : testing::ranks_of(tool.pid()))
          if (std::find(ranks.begin(), ranks.end(), rank) == ranks.end()) ranks.push_back(rank);
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
    });
    ToolResult result = tool.wait();
    watcher.request_stop();
    watcher.join();
    took_s = system_clock().now_s() - begin_s;
    EXPECT_GE(ranks.size(), 3U);  // and workers that prepared
    for (const pid_t rank : ranks) EXPECT_NE(kill(rank, 0), 0) << "rank " << rank << " survived";
    return result;
  }
  void goes_on() {
    const ToolResult resumed = run({program("lockstep"), "resume", "a", "--devices", "cpu:3"}, "");
    EXPECT_EQ(resumed.code, 0) << resumed.err;
    EXPECT_THAT(resumed.err, HasSubstr("resumed at step 6"));
  }

  TemporaryDirectory folder;
  bool once = false;  // faults come once at all, not once in each start
  double took_s = 0;
};

class RankDies : public RankFailure,
                 public ::testing::WithParamInterface<std::pair<const char*, const char*>> {};

TEST_P(RankDies, IsNamedWithStepAndWhatTheOthersWaitFor) {
  const auto [fault, how] = GetParam();
  const ToolResult result = train(std::string(fault) + " 7 1");
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr(std::string("error: rank 1 on cpu:1 failed: ") + how));
  EXPECT_THAT(result.err, HasSubstr(" in forward of step 8; rank 0 "));
  EXPECT_THAT(result.err, HasSubstr("of step 8; rank 2 "));
  EXPECT_LT(took_s, 10);  // with the start
  goes_on();
}

INSTANTIATE_TEST_SUITE_P(Ways, RankDies,
                         ::testing::Values(std::pair("segv", "killed by signal 11"),
                                           std::pair("abort", "killed by signal 6"),
                                           std::pair("exit", "exit code 3"),
                                           std::pair("throw", "exit code 1")),
                         [](const auto& way) { return std::string(way.param.first); });

class RankHangs : public RankFailure,
                  public ::testing::WithParamInterface<std::pair<const char*, const char*>> {};

TEST_P(RankHangs, IsNamedAfterTheTimeThatItMayTake) {
  const auto [fault, how] = GetParam();
  const ToolResult result = train(std::string(fault) + " 7 1", {"stop.hang_after=3s"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr(std::string("error: rank 1 on cpu:1 failed: ") + how +
                                    ": no sign of life for "));
  EXPECT_THAT(result.err, HasSubstr(" s in forward of step 8; rank 0 waits in all-reduce "));
  EXPECT_LT(took_s, 15);  // start, 3 s, and 5 s until SIGKILL
  goes_on();
}

INSTANTIATE_TEST_SUITE_P(Ways, RankHangs,
                         ::testing::Values(std::pair("loop", "hangs"),
                                           std::pair("stop", "is stopped by a signal")),
                         [](const auto& way) { return std::string(way.param.first); });

TEST_F(RankFailure, RestartsFromTheNewestCheckpointAsLongAsThereIsProgress) {
  ASSERT_EQ(train("", {"run.record_samples=true", "--name", "whole"}).code, 0);
  once = true;
  const ToolResult result =
      train("segv 3 1;abort 7 0;exit 9 2", {"restart=1", "run.record_samples=true"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("warning: rank 1 on cpu:1 failed: killed by signal 11"));
  EXPECT_THAT(result.err, HasSubstr("; starting again from step 2 (restart 1 of 1)"));
  EXPECT_THAT(result.err, HasSubstr("; starting again from step 6 (restart 1 of 1)"));
  EXPECT_THAT(result.err, HasSubstr("; starting again from step 8 (restart 1 of 1)"));
  EXPECT_EQ(effective_samples(folder.path() / "runs/a"),
            effective_samples(folder.path() / "runs/whole"));
}

TEST_F(RankFailure, GivesUpWithoutProgressAndRestartsNoErrorOfTheUser) {
  const ToolResult result = train("segv 7 1", {"restart=2"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("(restart 2 of 2)"));
  EXPECT_THAT(result.err, HasSubstr("\nerror: rank 1 on cpu:1 failed: killed by signal 11"));
  goes_on();
  const ToolResult never = train("forward 2 1;forward 2 1;forward 2 1;forward 2 1;forward 2 1",
                                 {"restart=2", "--name", "b"});
  EXPECT_EQ(never.code, 2);
  EXPECT_EQ(never.err.find("starting again"), std::string::npos) << never.err;
}

TEST_F(RankFailure, WeightsThatDifferEndTheRunAndNameRankAndTensor) {
  const ToolResult result = train("corrupt 6 2", {"check.weights_every=5", "--name", "differs"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("after step 10 the weights of rank 2 (cpu:2) differ from those "
                                    "of the other ranks, first in "));
  const ToolResult unnoticed = train("corrupt 6 2", {"check.weights_every=0"});
  EXPECT_EQ(unnoticed.code, 0) << unnoticed.err;
  const ToolResult fine = train(
      "", {"check.weights_every=1", "shard_optimizer=true", "precision=bf16", "--name", "fine"});
  EXPECT_EQ(fine.code, 0) << fine.err;
}

TEST_F(RankFailure, ASlowRankIsNoHangingOne) {
  const ToolResult result = train("data 5 1", {"stop.hang_after=3s"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_GT(took_s, 15);  // 16 samples, a second each, and the others waited all the while
}

}  // namespace
}  // namespace lockstep
