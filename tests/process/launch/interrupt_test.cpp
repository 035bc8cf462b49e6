// Signals to the launcher. Rank 0 sends them: its parent is the launcher.
#include "launch_fixture.h"

namespace lockstep {
namespace {

using ::testing::StartsWith;

struct Interrupt : LaunchFixture {
  // All ranks wait for each other with their traps set, then rank 0 acts and all wait.
  LaunchSpec ranks(const std::string& traps, const std::string& rank_zero) {
    return script(2, traps +
                         "\nsleep 1000 & note $$ $!\nawait pids0; await pids1\n"
                         "if [ $RANK = 0 ]; then " +
                         rank_zero + "; fi\nwhile true; do wait; done");
  }
};

TEST_F(Interrupt, IsPassedOnSoThatRanksStop) {
  for (const char* name : {"INT", "TERM", "USR1"}) {
    std::filesystem::remove(dir() / "pids0");
    std::filesystem::remove(dir() / "pids1");
    const auto outcome = run(
        ranks(cat("trap 'echo got ", name, "; exit 75' ", name), cat("kill -", name, " $PPID")));
    ASSERT_TRUE(std::holds_alternative<Stopped>(outcome)) << name << log(0);
    EXPECT_EQ(std::get<Stopped>(outcome).why, cat("SIG", name));
  }
  for (const int rank : {0, 1}) {
    EXPECT_EQ(log(rank), "got INT\ngot TERM\ngot USR1\n");
    for (const pid_t pid : pids(rank)) EXPECT_FALSE(alive(pid));
  }
}

TEST_F(Interrupt, IsPassedOnOnceThoughItsEchoFollows) {
  const auto outcome =
      run(ranks("n=0; trap 'n=$((n+1)); echo got $n' TERM; trap 'exit 75' USR1",
                "kill -TERM $PPID; kill -TERM $PPID; sleep 0.1; kill -USR1 $PPID"));
  EXPECT_TRUE(std::holds_alternative<Stopped>(outcome)) << log(0);
  for (const int rank : {0, 1}) EXPECT_EQ(log(rank), "got 1\n");
}

TEST_F(Interrupt, SecondOneKills) {
  const LaunchSpec spec = ranks("trap '' INT TERM", "kill -INT $PPID; sleep 0.3; kill -INT $PPID");
  EXPECT_TRUE(std::holds_alternative<Interrupted>(run(spec)));
  EXPECT_LT(took_s_, 4) << "there is no grace";
  for (const int rank : {0, 1}) {
    for (const pid_t pid : pids(rank)) EXPECT_FALSE(alive(pid));
  }
}

TEST_F(Interrupt, KillsRanksThatDoNotStopInTime) {
  LaunchSpec spec = ranks("trap '' INT TERM", "kill -INT $PPID");
  spec.stop_grace_s = [] { return 0.2; };
  spec.grace_s = 0.2;
  EXPECT_TRUE(std::holds_alternative<Interrupted>(run(spec)));
  EXPECT_GE(took_s_, 0.4);
  for (const int rank : {0, 1}) EXPECT_FALSE(alive(pids(rank)[0]));
}

TEST_F(Interrupt, IsAnsweredAtOnce) {
  LaunchSpec spec = ranks("trap 'exit 75' INT; trap '' TERM",
                          "kill -TERM $PPID; sleep 0.4; "
                          "kill -TERM $PPID");
  std::vector<int> answered;
  spec.on_signal = [&](int number) { answered.push_back(number); };
  EXPECT_TRUE(std::holds_alternative<Interrupted>(run(spec)));
  EXPECT_EQ(answered, std::vector<int>{SIGTERM}) << "the second is no wish to stop in order";
}

TEST_F(Interrupt, OfAProgramThatDoesNotHandleItIsNoFailure) {
  EXPECT_TRUE(std::holds_alternative<Interrupted>(run(ranks("", "kill -TERM $PPID"))));
}

TEST_F(Interrupt, HandlersAreAsBeforeAfterwards) {
  const auto mine = [](int) {};
  signal(SIGUSR1, mine);
  run(script(1, "true"));
  EXPECT_EQ(signal(SIGUSR1, SIG_DFL), static_cast<void (*)(int)>(mine));
}

}  // namespace
}  // namespace lockstep
