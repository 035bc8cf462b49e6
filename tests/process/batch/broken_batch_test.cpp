// Disks that are full, read only or without locks, and jobs that do harm: a clear error before any
// work starts, or a failed job with its reason while the rest goes on.
#include <fstream>
#include <sstream>

#include "batch_rig.h"
#include "tools/jobs/ledger/database.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::ToolResult;

class BadDisk : public BatchRig {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "a sanitizer must be loaded first";
#endif
  }
  ToolResult run_on_broken(const std::string& order, const std::string& below = "runs/b") {
    environment = {{"LD_PRELOAD", testing::preloadable("tests/libwatched-files.so")},
                   {"LOCKSTEP_TEST_FILES_BELOW", fs::canonical(folder.path()) / below},
                   {"LOCKSTEP_TEST_FILES_IN", "run"},
                   {"LOCKSTEP_TEST_FILES", order}};
    const ToolResult result = run_jobs({"--slots", "2", "--cpus", "0"}, command);
    environment.clear();
    return result;
  }
  const Words command{
      "sh", "-c", "echo $0 >> ran; echo $0 > $LOCKSTEP_OUT/r", "{1}", ":::", "1", "2", "3", "4"};
};

TEST_F(BadDisk, FullWhileTheLedgerIsMade) {
  const ToolResult result = run_on_broken("write ENOSPC 3 100000");
  EXPECT_EQ(result.code, 2) << result.err;
  EXPECT_THAT(result.err, AllOf(HasSubstr("error: "), HasSubstr("hint: "), HasSubstr("room")));
  EXPECT_EQ(text("ran"), "");
}

TEST_F(BadDisk, FullWhileJobsRun) {
  for (const int from : {40, 50, 60, 70, 80}) {
    fs::remove_all(folder.path() / "runs");
    fs::remove(folder.path() / "ran");
    const ToolResult result =
        run_on_broken("write ENOSPC " + std::to_string(from) + " 100000", "runs/b/ledger");
    if (result.code == 0) continue;
    SCOPED_TRACE("from write " + std::to_string(from) + " on");
    EXPECT_THAT(result.err,
                AllOf(HasSubstr("error: "), HasSubstr("ledger.sqlite"), HasSubstr("make room")));
    const ToolResult on = run_jobs({}, command);
    EXPECT_EQ(on.code, 0) << on.err;
    EXPECT_EQ(jobs_in("done"), 4);
    const std::string ran = text("ran");
    EXPECT_EQ(std::count(ran.begin(), ran.end(), '\n'), 4) << "each of them once";
    EXPECT_THAT(survivors(), IsEmpty());
  }
}

TEST_F(BadDisk, WithoutLocks) {
  const ToolResult result = run_on_broken("flock ENOLCK 1 1");
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, AllOf(HasSubstr("cannot lock"), HasSubstr("a file system with locks")));
  EXPECT_EQ(text("ran"), "");
}

TEST_F(BadDisk, AFolderThatCannotBeWritten) {
  fs::create_directories(folder.path() / "runs");
  fs::permissions(folder.path() / "runs", fs::perms::owner_read | fs::perms::owner_exec);
  const ToolResult result = testing::without_root_powers(
      {testing::program("lockstep"), "batch", "run", "--name", "b", "--", "true"}, folder.path());
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, AllOf(HasSubstr("error: "), HasSubstr("runs/b")));
  fs::permissions(folder.path() / "runs", fs::perms::owner_all);
}

class BadJob : public BatchRig {};

TEST_F(BadJob, ThatWritesOutsideItsFolderHarmsNoOther) {
  const std::string script =
      "case $0 in "
      "gone) rm -r $LOCKSTEP_OUT;; "
      "link) rm -r $LOCKSTEP_OUT; ln -s \"$PWD/outside\" $LOCKSTEP_OUT;; "
      "file) rm -r $LOCKSTEP_OUT; echo x > $LOCKSTEP_OUT;; "
      "up) echo x > $LOCKSTEP_OUT/../../stray;; "
      "*) echo $0 > $LOCKSTEP_OUT/result;; esac";
  fs::create_directory(folder.path() / "outside");
  std::ofstream(folder.path() / "outside/precious") << "text";
  const Words command{"sh", "-c", script, "{1}", ":::", "gone", "link", "file", "up", "good"};
  const ToolResult first = run_jobs({}, command);
  EXPECT_EQ(first.code, 0) << first.err;
  run({"batch", "retry", "b", "2"});
  EXPECT_EQ(run({"batch", "resume", "b"}).code, 0) << "a second time, over what it had made";
  EXPECT_EQ(text("outside/precious"), "text");
  EXPECT_EQ(read_file(batch() / "jobs" / ledger().job(5).name / "result"), "good\n");
}

TEST_F(BadJob, ThatIgnoresSigtermOrCannotBeStartedFailsAndTheRestGoesOn) {
  std::ofstream(folder.path() / "jobs.toml")
      << "[[jobs]]\ncommand = [\"sh\", \"-c\", \"trap '' TERM; while :; do sleep 0.1; done\"]\n"
         "timeout = \"0.3s\"\n"
         "[[jobs]]\ncommand = [\"sh\", \"-c\", \"rm -r later\"]\n"
         "[[jobs]]\ncommand = [\"true\"]\ncwd = \"later\"\npriority = -1\n"
         "[[jobs]]\ncommand = [\"sh\", \"-c\", \"echo x > ran\"]\npriority = -2\n";
  fs::create_directory(folder.path() / "later");
  const ToolResult result =
      run({"batch", "run", "jobs.toml", "--name", "b", "--grace", "0.2s", "--slots", "1"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.out, AllOf(HasSubstr("took longer than 0.3 s"), HasSubstr("in the folder"),
                                HasSubstr("2 done, 2 failed of 4")));
  EXPECT_EQ(text("ran"), "x\n");
  EXPECT_THAT(survivors(), IsEmpty());
}

// A job takes away what the batch works in, or what it writes to.
TEST_F(BadJob, ThatRemovesFoldersOfTheBatchFailsOrTheBatchSaysWhatIsGone) {
  const ToolResult attempts = run_jobs(
      {"--slots", "1"}, {"sh", "-c", "[ $0 != 1 ] || rm -r runs/b/attempts runs/b/jobs; true",
                         "{1}", ":::", "1", "2", "3"});
  EXPECT_EQ(attempts.code, 1) << attempts.err;
  EXPECT_THAT(attempts.out, HasSubstr("cannot make the folder"));
  EXPECT_THAT(survivors(), IsEmpty());
  EXPECT_EQ(run({"batch", "retry", "b"}).code, 0);
  EXPECT_EQ(run({"batch", "resume", "b"}).code, 0) << "they are made again";
  EXPECT_EQ(jobs_in("done"), 3);
}

TEST_F(BadJob, ThatRemovesTheWholeBatchEndsItWithAnError) {
  const ToolResult result = run_jobs(
      {"--slots", "2", "--cpus", "0"},
      {"sh", "-c", "setsid sleep 1000 & echo $! >> left; [ $0 != 3 ] || rm -rf runs/b; true", "{1}",
       ":::", "1", "2", "3", "4", "5", "6"});
  EXPECT_NE(result.code, 0);
  EXPECT_THAT(result.err, AllOf(HasSubstr("error: "), HasSubstr("runs/b")));
  std::istringstream pids(text("left"));
  for (pid_t pid = 0; pids >> pid;)
    EXPECT_TRUE(comes([&] { return start_ticks(pid) == 0; })) << pid << " is left";
}

// Such as a tool that looks at it in a transaction of its own.
TEST_F(BadDisk, ALedgerThatAnotherHoldsForASecondIsWaitedFor) {
  testing::ToolProcess tool = begin(run_words(
      {"--slots", "1"}, {"sh", "-c", "echo x >> ran; sleep 0.1", "{1}", ":::", "1", "2", "3"}));
  ASSERT_TRUE(comes([&] { return !text("ran").empty(); }));
  {
    Database holder(batch() / "ledger.sqlite", Database::Access::write);
    Transaction held(holder);
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
  const ToolResult result = tool.wait();
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(jobs_in("done"), 3);
}

}  // namespace
}  // namespace lockstep
