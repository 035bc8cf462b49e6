// A rank that fails, and what is left of the others.
#include <sys/wait.h>

#include "launch_fixture.h"
#include "runtime/launch/restart.h"

namespace lockstep {
namespace {

using ::testing::ElementsAre;

struct Failure : LaunchFixture {
  void expect_no_process(std::initializer_list<int> ranks) {
    for (const int rank : ranks) {
      for (const pid_t pid : pids(rank)) EXPECT_FALSE(alive(pid)) << "of rank " << rank;
    }
  }
};

TEST_F(Failure, KillsAllRanksWhenOneFails) {
  const LaunchSpec spec = script(3,
                                 "sleep 1000 & note $$ $!\n"
                                 "if [ $RANK = 1 ]; then await pids0; await pids2; exit 3; fi\n"
                                 "wait");
  const auto failed = std::get<RankFailed>(run(spec));
  EXPECT_EQ(failed.rank, 1);
  EXPECT_EQ(failed.device, "cpu:1");
  EXPECT_EQ(failed.how, "exit code 3");
  EXPECT_EQ(failed.exit_code, 3);
  expect_no_process({0, 1, 2});
  EXPECT_LT(took_s_, spec.grace_s) << "SIGTERM was enough";
}

TEST_F(Failure, KillsRanksThatIgnoreSigterm) {
  LaunchSpec spec =
      script(2,
             "if [ $RANK = 0 ]; then trap '' TERM; sleep 1000 & note $$ $!; wait; fi\n"
             "await pids0; kill -SEGV $$");
  spec.grace_s = 0.2;
  const auto failed = std::get<RankFailed>(run(spec));
  EXPECT_EQ(failed.rank, 1);
  EXPECT_EQ(failed.how, "killed by signal 11 (Segmentation fault)");
  EXPECT_EQ(failed.exit_code, 139);
  expect_no_process({0});
  EXPECT_GE(took_s_, 0.2);
}

TEST_F(Failure, ReportsTheLastLogLines) {
  const auto failed = std::get<RankFailed>(run(script(2, "seq 1 100; exit $RANK")));
  std::string expected = "81";
  for (int i = 82; i <= 100; ++i) expected += cat("\n", i);
  EXPECT_EQ(failed.last_lines, expected);
}

TEST_F(Failure, ReportsTheLastLinesOfForwardedOutputToo) {
  LaunchSpec spec = script(1, "echo why >&2; exit 1");
  spec.forward_output = true;
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(std::get<RankFailed>(run(spec)).last_lines, "why");
  ::testing::internal::GetCapturedStdout();
}

TEST_F(Failure, EndsWhatFinishedRanksLeftRunning) {
  const LaunchSpec spec = script(2, "sleep 1000 & note $!");
  EXPECT_TRUE(std::holds_alternative<Finished>(run(spec)));
  expect_no_process({0, 1});
}

TEST_F(Failure, NoProcessSurvivesWhenTheLauncherIsKilled) {
  LaunchSpec spec = script(2, "trap '' TERM; sleep 1000 & note $$ $!; wait");
  const pid_t launcher = fork();
  if (launcher == 0) {
    launch(spec, system_clock());
    _exit(0);
  }
  ASSERT_TRUE(soon([&] { return has_pids(0) && has_pids(1); }));
  for (const int rank : {0, 1}) {
    ASSERT_EQ(pids(rank).size(), 2u);
    for (const pid_t pid : pids(rank)) ASSERT_TRUE(alive(pid));
  }
  kill(launcher, SIGKILL);
  ASSERT_EQ(waitpid(launcher, nullptr, 0), launcher);
  for (const int rank : {0, 1}) {
    for (const pid_t pid : pids(rank)) EXPECT_TRUE(soon([&] { return !alive(pid); }));
  }
}

TEST_F(Failure, LeavesNoChildUnreaped) {
  run(script(2, "exit $RANK"));
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST_F(Failure, StartsAgainUntilItGoesWell) {
  std::vector<int> restarts;
  std::vector<std::string> lines;
  const auto outcome = launch_with_restarts(
      script(2, "echo start $LOCKSTEP_RESTART; [ $LOCKSTEP_RESTART = 2 ] || exit 1"),
      system_clock(), 5, [&](int restart, const RankFailed& failed) {
        restarts.push_back(restart);
        lines.push_back(failed.last_lines);
      });
  EXPECT_TRUE(std::holds_alternative<Finished>(outcome));
  EXPECT_THAT(restarts, ElementsAre(1, 2));
  EXPECT_THAT(lines, ElementsAre("start 0", "start 1"));
}

TEST_F(Failure, StartsAgainOnlyAsOftenAsAllowed) {
  int restarts = 0;
  const auto outcome = launch_with_restarts(script(1, "exit 7"), system_clock(), 2,
                                            [&](int, const RankFailed&) { ++restarts; });
  EXPECT_EQ(std::get<RankFailed>(outcome).exit_code, 7);
  EXPECT_EQ(restarts, 2);
}

TEST_F(Failure, DoesNotStartAgainWhatWasStopped) {
  const auto outcome = launch_with_restarts(
      script(1, "trap 'exit 75' TERM; kill -TERM $PPID; sleep 1000 & wait"), system_clock(), 2,
      [&](int, const RankFailed&) { ADD_FAILURE() << "restarted"; });
  EXPECT_TRUE(std::holds_alternative<Stopped>(outcome));
}

}  // namespace
}  // namespace lockstep
