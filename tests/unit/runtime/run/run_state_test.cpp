// How a run ended, and the user's git work tree.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>

#include "core/base/text/text.h"
#include "run_fixtures.h"
#include "runtime/run/folder/run_dir.h"

namespace lockstep {
namespace {

using ::testing::HasSubstr;

class RunStates : public ::testing::Test {
 protected:
  RunStates() { run.write_record({{"recipe", "toy"}}); }

  TemporaryDirectory folder;
  std::filesystem::path root = folder.path() / "runs";
  RunDir run = RunDir::create(root, "first", "toy");
};

TEST_F(RunStates, ARunWithoutAWordWasInterrupted) {
  EXPECT_EQ(run.state(), RunState::interrupted);
  EXPECT_THAT(run.state_reason(), HasSubstr("killed"));
}

TEST_F(RunStates, AnInterruptThatWasWrittenDownIsTheReason) {
  run.write_state(RunState::running, "");
  EXPECT_THAT(run.state_reason(), HasSubstr("the machine went down"));
  run.write_state(RunState::interrupted, "a second interrupt (SIGINT)");
  EXPECT_EQ(run.state(), RunState::interrupted);
  EXPECT_EQ(run.state_reason(), "a second interrupt (SIGINT)");
}

TEST_F(RunStates, AStateThatCannotBeWrittenThrowsNothingWhereItMustHideNothing) {
  EXPECT_EQ(run.try_write_state(RunState::failed, "a reason"), "");
  EXPECT_EQ(run.state_reason(), "a reason");
  std::filesystem::remove_all(run.path());
  EXPECT_THAT(run.try_write_state(RunState::failed, "a reason"), HasSubstr("No such file"));
}

TEST_F(RunStates, TheLastWordCounts) {
  for (RunState state : {RunState::finished, RunState::stopped, RunState::failed}) {
    run.write_state(state, "a reason");
    EXPECT_EQ(run.state(), state);
    EXPECT_EQ(run.state_reason(), "a reason");
  }
}

TEST_F(RunStates, ALockedRunIsRunningWhateverItSaidBefore) {
  run.write_state(RunState::stopped, "time");
  RunDir other = RunDir::open("first", root);
  other.lock();
  EXPECT_EQ(run.state(), RunState::running);
  EXPECT_EQ(other.state(), RunState::running);
  EXPECT_EQ(run.state_reason(), "");
}

TEST_F(RunStates, ARunKilledAfterItWentOnWasInterruptedNotStopped) {
  run.write_state(RunState::stopped, "time");
  run.write_state(RunState::running, "");
  EXPECT_EQ(run.state(), RunState::interrupted);
}

TEST_F(RunStates, ADamagedStateIsNoWordAndNeverCrashes) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    put(run.path() / "state.json", random_bytes(random, random() % 60));
    EXPECT_EQ(run.state(), RunState::interrupted);
  }
  for (const char* text : {"{}", "[]", "{\"state\":3}", "{\"state\":\"odd\"}", "null"}) {
    put(run.path() / "state.json", text);
    EXPECT_EQ(run.state(), RunState::interrupted);
  }
  put(run.path() / "state.json", "{\"state\":\"failed\",\"why\":[1]}");
  EXPECT_EQ(run.state(), RunState::failed);
  EXPECT_EQ(run.state_reason(), "");
}

TEST_F(RunStates, AReadOnlyRunCanBeReadAndNotLocked) {
  run.write_state(RunState::stopped, "time");
  { RunDir::open("first", root).lock(); }
  chmod(folder.path().c_str(), 0755);
  chmod(run.path().c_str(), 0555);
  chmod((run.path() / "lock").c_str(), 0444);
  {
    OrdinaryUser user;
    RunDir reader = RunDir::open("first", root);
    EXPECT_EQ(reader.record()["recipe"], "toy");
    EXPECT_EQ(reader.state(), RunState::stopped);
    EXPECT_EQ(list_runs(root).size(), 1u);
    const std::string error = error_if_any([&] { reader.lock(); });
    EXPECT_THAT(error, HasSubstr("Permission denied"));
    EXPECT_THAT(error, HasSubstr("--into"));
    EXPECT_THROW(reader.write_state(RunState::failed, ""), Error);
  }
  chmod(run.path().c_str(), 0755);
  chmod((run.path() / "lock").c_str(), 0644);
  RunDir::open("first", root).lock();
  {
    RunDir holder = RunDir::open("first", root);
    holder.lock();
    chmod(run.path().c_str(), 0555);
    chmod((run.path() / "lock").c_str(), 0444);
    OrdinaryUser user;
    EXPECT_EQ(RunDir::open("first", root).state(), RunState::running);
  }
  chmod(run.path().c_str(), 0755);
}

TEST_F(RunStates, EveryStateHasItsWord) {
  EXPECT_STREQ(to_string(RunState::running), "running");
  EXPECT_STREQ(to_string(RunState::finished), "finished");
  EXPECT_STREQ(to_string(RunState::stopped), "stopped");
  EXPECT_STREQ(to_string(RunState::failed), "failed");
  EXPECT_STREQ(to_string(RunState::interrupted), "interrupted");
}

class GitState : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::system("git --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "git is not installed";
    setenv("GIT_CEILING_DIRECTORIES", folder.path().parent_path().c_str(), 1);
  }
  void git(const std::string& arguments) {
    ASSERT_EQ(
        std::system(cat("git -C '", folder.path().string(), "' -c user.name=a -c user.email=a@b.c ",
                        arguments, " >/dev/null 2>&1")
                        .c_str()),
        0)
        << arguments;
  }

  TemporaryDirectory folder;
};

TEST_F(GitState, IsNullOutsideAWorkTreeAndWithoutACommit) {
  EXPECT_TRUE(git_state(folder.path()).is_null());
  EXPECT_TRUE(git_state(folder.path() / "nowhere").is_null());
  git("init -b trunk");
  EXPECT_TRUE(git_state(folder.path()).is_null());
}

TEST_F(GitState, TellsCommitBranchAndChanges) {
  git("init -b trunk");
  put(folder.path() / "a", "1");
  git("add a");
  git("commit -m one");
  nlohmann::json state = git_state(folder.path());
  EXPECT_EQ(state["commit"].get<std::string>().size(), 40u);
  EXPECT_EQ(state["branch"], "trunk");
  EXPECT_EQ(state["dirty"], false);
  std::filesystem::create_directories(folder.path() / "runs" / "x");
  put(folder.path() / "runs" / "x" / "run.json", "{}");
  EXPECT_EQ(git_state(folder.path() / "runs")["dirty"], false);
  put(folder.path() / "a", "2");
  EXPECT_EQ(git_state(folder.path())["dirty"], true);
  git("checkout -f --detach");
  EXPECT_TRUE(git_state(folder.path())["branch"].is_null());
}

}  // namespace
}  // namespace lockstep
