#include "runtime/launch/supervision.h"

#include <gtest/gtest.h>
#include <signal.h>

namespace lockstep {

bool operator==(const Command& a, const Command& b) {
  return a.action == b.action && a.signal == b.signal;
}
void PrintTo(const Command& command, std::ostream* out) {
  *out << "{action " << static_cast<int>(command.action) << ", signal " << command.signal << "}";
}

namespace {

using Commands = std::vector<Command>;

struct SupervisionTest : ::testing::Test {
  Supervision supervision{5, [this] { return stop_grace_s; }};
  double stop_grace_s = 60;
  static Supervision::Exit exited(int rank, int code) { return {rank, {.code = code}}; }
  static Supervision::Exit worker_stopped(int rank) {
    return {rank, {.code = exit_stopped}, /*is_worker=*/true};
  }
  std::string why_interrupted() { return std::get<Interrupted>(supervision.outcome()).why; }
  static Supervision::Exit killed(int rank, int signal) {
    return {rank, {.code = 128 + signal, .signal = signal}};
  }
  template <class Outcome>
  bool ends_as() {
    return std::holds_alternative<Outcome>(supervision.outcome());
  }
  RankFailed failure() { return std::get<RankFailed>(supervision.outcome()); }
};

TEST_F(SupervisionTest, FinishesWhenAllRanksExitWithZero) {
  EXPECT_EQ(supervision.on_exits({exited(0, 0), exited(1, 0)}, 1), Commands{});
  EXPECT_TRUE(ends_as<Finished>());
  EXPECT_EQ(supervision.deadline_s(), std::nullopt);
}

TEST_F(SupervisionTest, IsStoppedWhenAnyRankStoppedAndNoneFailed) {
  supervision.on_exits({exited(0, 0)}, 1);
  EXPECT_EQ(supervision.on_exits({worker_stopped(1)}, 1), Commands{});
  EXPECT_TRUE(ends_as<Stopped>());
  EXPECT_EQ(std::get<Stopped>(supervision.outcome()).why, "");
}

TEST_F(SupervisionTest, TakesTheCodeOfAStopForAFailureOfAForeignProgramThatNoSignalStopped) {
  EXPECT_EQ(supervision.on_exits({exited(1, exit_stopped)}, 1), (Commands{{Action::terminate}}));
  EXPECT_EQ(failure().rank, 1);
  EXPECT_EQ(failure().how, "exit code 75");
  Supervision asked(5, [] { return 60.0; });
  asked.on_signal(SIGTERM, 0);
  asked.on_exits({exited(0, exit_stopped), exited(1, exit_stopped)}, 1);
  EXPECT_TRUE(std::holds_alternative<Stopped>(asked.outcome()));
}

TEST_F(SupervisionTest, TakesAWorkerThatEndsBeforeItIsDoneForAFailureWhateverItsCode) {
  EXPECT_EQ(supervision.on_exits({{.rank = 1, .status = {.code = 0}, .is_early = true}}, 1),
            (Commands{{Action::terminate}}));
  EXPECT_EQ(failure().rank, 1);
  EXPECT_EQ(failure().how, "something called exit() before it was done");
  EXPECT_EQ(failure().exit_code, exit_failed);
}

TEST_F(SupervisionTest, TerminatesTheOthersAtTheFirstFailureAndKillsThemAfterGrace) {
  EXPECT_EQ(supervision.on_exits({exited(1, 3)}, 10), (Commands{{Action::terminate}}));
  EXPECT_EQ(supervision.on_exits({exited(0, 4)}, 11), Commands{});
  EXPECT_EQ(supervision.on_time(14.9), Commands{});
  EXPECT_EQ(supervision.on_time(15), (Commands{{Action::kill}}));
  EXPECT_EQ(failure().rank, 1);
  EXPECT_EQ(failure().how, "exit code 3");
  EXPECT_EQ(failure().exit_code, 3);
}

TEST_F(SupervisionTest, NamesTheKilledRankAmongThoseSeenTogether) {
  supervision.on_exits({exited(0, 1), killed(2, SIGKILL), exited(3, 1)}, 0);
  EXPECT_EQ(failure().rank, 2);
  EXPECT_EQ(failure().how, "killed by signal 9 (Killed)");
  EXPECT_EQ(failure().exit_code, 137);
}

TEST_F(SupervisionTest, GivesUpOnWhatSurvivesSigkill) {
  supervision.on_exits({exited(1, 3)}, 0);
  supervision.on_time(5);
  EXPECT_FALSE(supervision.given_up());
  supervision.on_time(*supervision.deadline_s());
  EXPECT_TRUE(supervision.given_up());
  EXPECT_TRUE(ends_as<RankFailed>());
}

TEST_F(SupervisionTest, PassesTheFirstInterruptOnOnce) {
  EXPECT_EQ(supervision.on_signal(SIGINT, 0), (Commands{{Action::pass_on_to_groups, SIGINT}}));
  EXPECT_EQ(supervision.on_signal(SIGINT, 0.1), Commands{}) << "the echo of the first";
  supervision.on_exits({exited(0, exit_stopped), exited(1, exit_stopped)}, 5);
  EXPECT_EQ(std::get<Stopped>(supervision.outcome()).why, "SIGINT");
}

TEST_F(SupervisionTest, PassesSigtermAndHangUpToTheRanksAlone) {
  EXPECT_EQ(supervision.on_signal(SIGTERM, 0), (Commands{{Action::pass_on_to_leaders, SIGTERM}}));
  Supervision other(5, [] { return 60.0; });
  EXPECT_EQ(other.on_signal(SIGHUP, 0), (Commands{{Action::pass_on_to_leaders, SIGTERM}}));
  Supervision knowing(
      5, [] { return 60.0; }, /*ranks_know_hangup=*/true);
  EXPECT_EQ(knowing.on_signal(SIGHUP, 0), (Commands{{Action::pass_on_to_leaders, SIGHUP}}));
  knowing.on_exits({killed(0, SIGHUP)}, 1);
  EXPECT_TRUE(std::holds_alternative<Interrupted>(knowing.outcome()));
}

TEST_F(SupervisionTest, KillsAtTheSecondInterrupt) {
  supervision.on_signal(SIGINT, 0);
  EXPECT_EQ(supervision.on_signal(SIGTERM, 1), (Commands{{Action::kill}}));
  EXPECT_EQ(supervision.on_signal(SIGTERM, 2), Commands{});
  supervision.on_exits({killed(0, SIGKILL), killed(1, SIGKILL)}, 2);
  EXPECT_EQ(why_interrupted(), "a second interrupt (SIGTERM)");
}

TEST_F(SupervisionTest, TerminatesAndThenKillsWhatDoesNotStop) {
  supervision.on_signal(SIGINT, 100);
  EXPECT_EQ(supervision.on_time(159), Commands{});
  EXPECT_EQ(supervision.on_time(160), (Commands{{Action::terminate}}));
  EXPECT_EQ(supervision.on_time(165), (Commands{{Action::kill}}));
  EXPECT_EQ(why_interrupted(), "it did not stop within 60 s of SIGINT");
}

TEST_F(SupervisionTest, AsksHowLongAStopMayTakeWhenItBegins) {
  stop_grace_s = 600;  // a save that took two minutes
  supervision.on_signal(SIGTERM, 100);
  stop_grace_s = 1;
  EXPECT_EQ(supervision.on_time(699), Commands{});
  EXPECT_EQ(supervision.on_time(700), (Commands{{Action::terminate}}));
}

TEST_F(SupervisionTest, PassesSigusr1OnOnceWithoutADeadline) {
  EXPECT_EQ(supervision.on_signal(SIGUSR1, 0), (Commands{{Action::pass_on_to_leaders, SIGUSR1}}));
  EXPECT_EQ(supervision.on_signal(SIGUSR1, 9), Commands{});
  EXPECT_EQ(supervision.deadline_s(), std::nullopt);
  EXPECT_EQ(supervision.on_signal(SIGINT, 10), (Commands{{Action::pass_on_to_groups, SIGINT}}));
}

TEST_F(SupervisionTest, TakesDeathByTheSignalPassedOnForAnInterruptNotAFailure) {
  supervision.on_signal(SIGINT, 0);
  EXPECT_EQ(supervision.on_exits({killed(0, SIGINT)}, 1), (Commands{{Action::terminate}}));
  EXPECT_EQ(why_interrupted(), "ended by SIGINT");
  Supervision shell(5, [] { return 60.0; });
  shell.on_signal(SIGTERM, 0);
  shell.on_exits({exited(0, 143)}, 1);
  EXPECT_TRUE(std::holds_alternative<Interrupted>(shell.outcome()));
}

TEST_F(SupervisionTest, ReportsARankThatFailsWhileItStops) {
  supervision.on_signal(SIGINT, 0);
  supervision.on_exits({exited(1, 1)}, 1);
  EXPECT_EQ(failure().rank, 1);
}

TEST_F(SupervisionTest, KillsAtAnInterruptDuringTheGraceOfAFailure) {
  supervision.on_exits({exited(1, 1)}, 0);
  EXPECT_EQ(supervision.on_signal(SIGINT, 1), (Commands{{Action::kill}}));
  EXPECT_TRUE(ends_as<RankFailed>());
}

TEST_F(SupervisionTest, EndsWhatFinishedRanksLeftBehindAndStillFinishes) {
  supervision.on_exits({exited(0, 0)}, 0);
  EXPECT_EQ(supervision.on_all_ended(0), (Commands{{Action::terminate}}));
  EXPECT_EQ(supervision.on_signal(SIGINT, 1), (Commands{{Action::kill}}));
  EXPECT_TRUE(ends_as<Finished>());
}

}  // namespace
}  // namespace lockstep
