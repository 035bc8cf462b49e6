// lockstep launch: what it prints, where, and how it ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/text/text.h"
#include "fakes/tenths.h"
#include "fakes/tool.h"

namespace lockstep {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::ToolResult;

class LaunchCommand : public ::testing::Test {
 protected:
  ToolResult launch(const std::string& script, std::vector<std::string> flags = {}) {
    std::vector<std::string> words{"launch", "--devices", "cpu:2"};
    words.insert(words.end(), flags.begin(), flags.end());
    words.insert(words.end(), {"--", "sh", "-c", script});
    return testing::run_tool(words, folder.path());
  }
  TemporaryDirectory folder;
};

TEST_F(LaunchCommand, KeepsStandardErrorApartAndShowsATracebackOnce) {
  const ToolResult result =
      launch("[ $RANK = 0 ] && exec sleep 1000; echo loss 1.5; echo Traceback >&2; exit 1");
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.out, "[1] loss 1.5\n");
  EXPECT_THAT(result.err, HasSubstr("[1] Traceback\n"));
  EXPECT_EQ(result.err.find("Traceback"), result.err.rfind("Traceback"));
  EXPECT_THAT(result.err, HasSubstr("error: rank 1 on cpu:1 failed: exit code 1\n\nhint: all that "
                                    "it printed is in logs/rank1.log\n"));
  const std::string log = read_file(folder.path() / "logs/rank1.log");
  EXPECT_THAT(log, HasSubstr("loss 1.5\n"));
  EXPECT_THAT(log, HasSubstr("Traceback\n"));
}

TEST_F(LaunchCommand, DividesTheOutputOfStartsInALog) {
  const std::string fails_once =
      "[ $RANK$LOCKSTEP_RESTART = 10 ] && exec sleep 1000; echo of $RANK $LOCKSTEP_RESTART; "
      "[ $LOCKSTEP_RESTART = 1 ]";
  for (int start = 0; start < 2; ++start) ASSERT_EQ(launch(fails_once, {"--restart", "1"}).code, 0);
  EXPECT_THAT(read_file(folder.path() / "logs/rank0.log"),
              ::testing::MatchesRegex("of 0 0\n--- started [-0-9]+ [:0-9]+, restart 1\nof 0 1\n"
                                      "--- started [-0-9]+ [:0-9]+\nof 0 0\n"
                                      "--- started [-0-9]+ [:0-9]+, restart 1\nof 0 1\n"));
}

TEST_F(LaunchCommand, TakesExitCode75OfAForeignProgramForAFailure) {
  const ToolResult result = launch("[ $RANK = 0 ] && exec sleep 1000; exit 75");
  EXPECT_EQ(result.code, 75) << "as the rank that failed";
  EXPECT_THAT(result.err, HasSubstr("error: rank 1 on cpu:1 failed: exit code 75"));
  const ToolResult again =
      launch("[ $RANK$LOCKSTEP_RESTART = 10 ] && exit 75; exit 0", {"--restart", "1"});
  EXPECT_EQ(again.code, 0);
  EXPECT_THAT(again.err, HasSubstr("starting all ranks again (restart 1)"));
}

TEST_F(LaunchCommand, SaysWhatASignalDoesAndHowLongRanksHave) {
  const ToolResult result = launch(
      "trap '' TERM; sleep 1000 & [ $RANK = 0 ] && sleep 0.3 && kill -TERM $PPID; wait; wait",
      {"--stop-grace", "1s"});
  EXPECT_EQ(result.code, 130);
  EXPECT_THAT(result.err, HasSubstr("SIGTERM was passed on to all ranks; again to kill them\n"));
  EXPECT_THAT(result.err, HasSubstr("interrupted: it did not stop within 1 s of SIGTERM"));
}

TEST_F(LaunchCommand, SaysThatMemoryMayBeTheCauseOfAKill) {
  const ToolResult result = launch("[ $RANK = 0 ] && exec sleep 1000; kill -KILL $$");
  EXPECT_EQ(result.code, 137);
  EXPECT_THAT(result.err, HasSubstr("killed by signal 9 (Killed)\n\n"));
  EXPECT_THAT(result.err, HasSubstr("memory"));
}

TEST_F(LaunchCommand, NotesRanksThatNeverMet) {
  if (!testing::has_turn_twice(1)) GTEST_SKIP() << testing::in_another_tenth;
  const ToolResult apart = launch("sleep 6");
  EXPECT_EQ(apart.code, 0);
  EXPECT_THAT(apart.err, HasSubstr("note: the 2 ranks never met: none of them opened MASTER_PORT"));
  const ToolResult together = launch(
      "[ $RANK = 1 ] && exec sleep 6; exec python3 -c \"import os, socket, time; s = "
      "socket.create_server(('127.0.0.1', int(os.environ['MASTER_PORT']))); time.sleep(6)\"");
  EXPECT_EQ(together.code, 0) << together.err;
  EXPECT_THAT(together.err, Not(HasSubstr("never met")));
  EXPECT_THAT(launch("exit 0").err, Not(HasSubstr("never met"))) << "too short to know";
}

TEST_F(LaunchCommand, NotesNothingOfRanksThatWereStoppedBeforeTheyMet) {
  if (!testing::has_turn_twice(2)) GTEST_SKIP() << testing::in_another_tenth;
  for (const char* how : {"exit 0", "exit 75", "exit 143"}) {
    const ToolResult stopped = launch(cat(
        "trap '", how, "' TERM; sleep 6; [ $RANK = 0 ] && kill -TERM $PPID; sleep 1000 & wait"));
    EXPECT_THAT(stopped.err, HasSubstr("SIGTERM was passed on to all ranks")) << how;
    EXPECT_THAT(stopped.err, Not(HasSubstr("never met"))) << how;
  }
}

TEST_F(LaunchCommand, NotesRanksThatNeverMetThoughTheyWereAskedToSave) {
  if (!testing::has_turn_twice(2)) GTEST_SKIP() << testing::in_another_tenth;
  const ToolResult apart =
      launch("trap 'echo saved' USR1; sleep 2; [ $RANK = 0 ] && kill -USR1 $PPID; sleep 5; exit 0");
  EXPECT_EQ(apart.code, 0) << apart.err;
  EXPECT_THAT(apart.out, HasSubstr("saved"));
  EXPECT_THAT(apart.err, HasSubstr("note: the 2 ranks never met"));
}

TEST_F(LaunchCommand, SaysOfAPortInUseThatTheScriptMayStartItsOwnProcesses) {
  const ToolResult result =
      launch("[ $RANK = 0 ] && exec sleep 1000; echo errno: 98 - Address already in use; exit 1");
  EXPECT_THAT(result.err, HasSubstr("hint: if the script starts its own processes (mp.spawn"));
}

TEST_F(LaunchCommand, SaysOfAMissingProcessGroupWhatTheScriptMustCall) {
  const ToolResult result = launch(
      "[ $RANK = 0 ] && exec sleep 1000; echo 'ValueError: Default process group has not been "
      "initialized, please make sure to call init_process_group.' >&2; exit 1");
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err,
              HasSubstr("hint: the script must call torch.distributed.init_process_group()"));
}

TEST_F(LaunchCommand, KnowsWhatPeopleTypeForTorchrun) {
  const auto hint = [&](const std::vector<std::string>& flags) {
    const ToolResult result = launch("true", flags);
    EXPECT_EQ(result.code, 2) << flags[0];
    return result.err;
  };
  EXPECT_THAT(hint({"-m", "pkg"}), HasSubstr("lockstep launch python3 -m MODULE"));
  EXPECT_THAT(hint({"--nnodes", "2"}), HasSubstr("lockstep help several hosts"));
  EXPECT_THAT(hint({"--master_port", "29501"}), HasSubstr("at a port that is free"));
  EXPECT_THAT(hint({"--nproc_per_node", "2"}), HasSubstr("--devices says where"));
  EXPECT_THAT(hint({"--max-restarts", "2"}), HasSubstr("it is called --restart"));
}

// An outer Slurm job of one task must not be taken for the launcher.
TEST_F(LaunchCommand, StandsForTorchrunAndKeepsItsIdOverRestarts) {
  const ToolResult result = launch(
      "echo $TORCHELASTIC_RUN_ID $TORCHELASTIC_RESTART_COUNT $TORCHELASTIC_MAX_RESTARTS "
      "$GROUP_WORLD_SIZE >> ids; [ $TORCHELASTIC_RESTART_COUNT = 1 ] || sleep 0.2; "
      "[ $TORCHELASTIC_RESTART_COUNT = 1 ]",
      {"--restart", "1"});
  EXPECT_EQ(result.code, 0) << result.err;
  const std::vector<std::string> lines = split(read_file(folder.path() / "ids"), '\n');
  ASSERT_EQ(lines.size(), 5U);
  const std::string id = lines[0].substr(0, lines[0].find(' '));
  EXPECT_THAT(id, ::testing::StartsWith("lockstep-"));
  EXPECT_EQ(lines[0], id + " 0 1 1");
  EXPECT_EQ(lines[3], id + " 1 1 1");
}

TEST_F(LaunchCommand, RefusesWhatIsNoNumber) {
  for (const char* flag : {"--restart", "--log-limit-mb"}) {
    const ToolResult result = launch("true", {flag, "many"});
    EXPECT_EQ(result.code, 2);
    EXPECT_THAT(result.err, HasSubstr(std::string(flag) + " must be a number"));
  }
}

}  // namespace
}  // namespace lockstep
