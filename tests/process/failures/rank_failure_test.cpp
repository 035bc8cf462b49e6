// Ranks that die, throw, stop or loop in the middle of a step: the run ends in seconds, says which
// rank, where, and what the others waited for, leaves nothing behind, and goes on afterwards.
#include "failing_run.h"
#include "fakes/tenths.h"
#include "runtime/run/events/samples.h"

namespace lockstep {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

class RankFailure : public FailingRun {
 protected:
  void goes_on() {
    const ToolResult resumed = run({program("lockstep"), "resume", "a", "--devices", "cpu:3"}, "");
    EXPECT_EQ(resumed.code, 0) << resumed.err;
    // Unless the rank died before the background had written step 6.
    EXPECT_THAT(resumed.err, AnyOf(HasSubstr("resumed at step 6"), HasSubstr("resumed at step 4")));
  }
};

class RankDies : public RankFailure,
                 public ::testing::WithParamInterface<std::pair<const char*, const char*>> {};

TEST_P(RankDies, IsNamedWithStepAndWhatTheOthersWaitFor) {
  const auto [fault, how] = GetParam();
  const bool is_like_others = fault == std::string("abort") || fault == std::string("exit");
  if (is_like_others && !testing::has_turn_twice(2)) GTEST_SKIP() << testing::in_another_tenth;
  const ToolResult result = train(std::string(fault) + " 7 1");
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr(std::string("error: rank 1 on cpu:1 failed") + how));
  EXPECT_THAT(result.err, HasSubstr("; rank 0 "));
  EXPECT_THAT(result.err, HasSubstr("of step 8; rank 2 "));
  EXPECT_LT(took_s, 10);  // with the start
  goes_on();
}

INSTANTIATE_TEST_SUITE_P(
    Ways, RankDies,
    ::testing::Values(std::pair("segv",
                                ": killed by signal 11 (Segmentation fault) in "
                                "forward of step 8; "),
                      std::pair("abort",
                                ": killed by signal 6 (Aborted) in forward of step "
                                "8; "),
                      std::pair("exit", ": exit code 3 in forward of step 8; "),
                      std::pair("throw", " in forward of step 8: thrown by request; ")),
    [](const auto& way) { return std::string(way.param.first); });

// The others lose their connection before the launcher can see the end of the rank that is the
// cause.
TEST_F(RankFailure, OfARankThatIsKilledWhileTheRanksMeetIsNotTakenForThatOfAnother) {
  const ToolResult result = train("leaving 0 0; late 0 2");
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("error: rank 0 on cpu:0 failed: killed by signal 9"));
}

class RankHangs : public RankFailure,
                  public ::testing::WithParamInterface<std::pair<const char*, const char*>> {};

TEST_P(RankHangs, IsNamedAfterTheTimeThatItMayTake) {
  const auto [fault, how] = GetParam();
  if (fault == std::string("loop") && !testing::has_turn_twice(3))
    GTEST_SKIP() << testing::in_another_tenth;
  const ToolResult result = train(std::string(fault) + " 7 1", {"stop.hang_after=3s"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr(std::string("error: rank 1 on cpu:1 failed: ") + how +
                                    ": no sign of life for "));
  EXPECT_THAT(result.err, HasSubstr(" s in forward of step 8; rank 0 waits in all-reduce "));
  EXPECT_LT(took_s, 45);  // start, 3 s, a debugger, and 5 s until SIGKILL
  if (std::string(fault) == "loop") {
    EXPECT_THAT(result.err, HasSubstr("; its stacks "));
    EXPECT_THAT(result.err, HasSubstr("raise stop.hang_after (1m by default)"));
  }
  if (result.err.find("; its stacks are in ") != std::string::npos)
    EXPECT_THAT(read_file(folder.path() / "runs/a/logs/rank1.stack.txt"),
                HasSubstr("FaultyRecipe"));
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
  // The newest checkpoint, or the one before it where a rank died while that was being written.
  const auto again_from = [&](const std::string& newest, const std::string& before) {
    const std::string begin = "; starting again from step ", end = " (restart 1 of 1)";
    return AnyOf(HasSubstr(begin + newest + end), HasSubstr(begin + before + end));
  };
  EXPECT_THAT(result.err, again_from("2", "0"));
  EXPECT_THAT(result.err, again_from("6", "4"));
  EXPECT_THAT(result.err, again_from("8", "6"));
  EXPECT_EQ(effective_samples(folder.path() / "runs/a"),
            effective_samples(folder.path() / "runs/whole"));
}

TEST_F(RankFailure, ARestartKeepsTheReserveThatWasTyped) {
  once = true;
  const ToolResult result =
      train("segv 3 1", {"restart=1", "stop.steps=1000000", "stop.after=6s", "stop.reserve=1s"});
  ASSERT_EQ(result.code, 75) << result.err;
  EXPECT_THAT(result.err, HasSubstr("starting again"));
  EXPECT_THAT(result.err, HasSubstr("go on with: lockstep resume runs/a stop.after=6s "
                                    "stop.reserve=1s"));
}

TEST_F(RankFailure, GivesUpWithoutProgressAndRestartsNoErrorOfTheUser) {
  if (!testing::has_turn_twice(2)) GTEST_SKIP() << testing::in_another_tenth;
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
  if (!testing::has_turn_twice(2)) GTEST_SKIP() << testing::in_another_tenth;
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

TEST_F(RankFailure, ARankThatLeavesOutACollectiveIsNamed) {
  if (!testing::has_turn_twice(1)) GTEST_SKIP() << testing::in_another_tenth;
  const ToolResult result = train(
      "diverge 0 1", {"stop.hang_after=3s", "eval.every_steps=7", "checkpoint.keep_best=false"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("hangs, as ranks wait in different collectives: "));
  EXPECT_THAT(result.err, HasSubstr("rank 0 on cpu:0"));
  EXPECT_THAT(result.err, HasSubstr(" waits in broadcast "));
  EXPECT_THAT(result.err, HasSubstr("rank 1 waits in all-reduce "));
  EXPECT_LT(took_s, 45);
}

TEST_F(RankFailure, ASlowRankIsNoHangingOne) {
  const ToolResult result = train("data 5 1", {"stop.hang_after=3s"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_GT(took_s, 15);  // 16 samples, a second each, and the others waited all the while
}

}  // namespace
}  // namespace lockstep
