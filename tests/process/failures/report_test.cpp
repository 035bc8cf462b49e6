// What people are told of a failure or an interrupt: the cause first, and only what is true.
#include "failing_run.h"
#include "runtime/run/folder/run_dir.h"

#include <sys/mount.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>

namespace lockstep {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Report : public FailingRun {
 protected:
  // A run of which the test goes on to do something.
  ToolProcess start(const std::string& faults, const Words& more = {}) {
    Words words = train_words(more);
    return ToolProcess(words, folder.path(), {{"LOCKSTEP_TEST_FAULTS", faults}});
  }
  bool says(const ToolProcess& tool, const std::string& text) {
    for (const double end_s = system_clock().now_s() + 60; system_clock().now_s() < end_s;) {
      const bool begun = std::filesystem::exists(folder.path() / "stderr.txt");
      if (begun && tool.err().find(text) != std::string::npos) return true;
      system_clock().sleep_s(0.01);
    }
    return false;
  }
  std::string shown(const std::string& run = "a") {
    return testing::run_tool({"runs", run}, folder.path()).out;
  }
};

TEST_F(Report, AnExceptionOfThePluginComesFirstAndItsFramesOnRequest) {
  const std::string first =
      "error: rank 1 on cpu:1 failed in forward of step 4: mat1 and mat2 "
      "shapes cannot be multiplied (2x3 and 4x5); rank 0 ";
  const ToolResult plain = train("shapes 3 1");
  EXPECT_EQ(plain.code, 1);
  EXPECT_THAT(plain.err, HasSubstr(first));
  EXPECT_THAT(plain.err, Not(HasSubstr("frame #")));
  EXPECT_THAT(plain.err,
              HasSubstr("hint: with TORCH_SHOW_CPP_STACKTRACES=1 it says where in C++ it "
                        "was thrown"));
  EXPECT_EQ(plain.err.find("cannot be multiplied"), plain.err.rfind("cannot be multiplied"));
  const std::string log = read_file(folder.path() / "runs/a/logs/rank1.log");
  EXPECT_THAT(log, HasSubstr("error: mat1 and mat2"));
  EXPECT_THAT(log, Not(HasSubstr("frame #")));
  environment["TORCH_SHOW_CPP_STACKTRACES"] = "1";
  const ToolResult framed = train("shapes 3 1", {"--name", "framed"});
  EXPECT_THAT(framed.err, HasSubstr(first));
  EXPECT_THAT(framed.err, HasSubstr("\nframe #0: "));
}

TEST_F(Report, AKillNamesMemoryAsTheLikelyCause) {
  const ToolResult result = train("kill 3 1");
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("killed by signal 9 (Killed) in forward of step 4"));
  EXPECT_THAT(result.err, AnyOf(HasSubstr("memory ran out"),
                                HasSubstr("counted no kill for lack of memory meanwhile")));
}

TEST_F(Report, ResumeIsOfferedOnlyWhereACheckpointIs) {
  const ToolResult nothing = train("segv 0 1");
  EXPECT_EQ(nothing.code, 1);
  EXPECT_THAT(nothing.err, Not(HasSubstr("lockstep resume")));
  const ToolResult saved = train("segv 7 1", {"--name", "saved"});
  EXPECT_THAT(saved.err, HasSubstr("hint: what was saved is kept: lockstep resume runs/saved"));
}

TEST_F(Report, TheFirstInterruptIsAnsweredAtOnceAndTheSecondIsTheReason) {
  ToolProcess tool = start("stop 5 1");
  ASSERT_TRUE(says(tool, "checkpoint at step 4"));
  kill(tool.pid(), SIGINT);
  EXPECT_TRUE(says(tool, "\nstopping after this step; again to stop now\n"));
  system_clock().sleep_s(0.3);  // else it is an echo of the first
  kill(tool.pid(), SIGINT);
  const ToolResult result = tool.wait();
  EXPECT_EQ(result.code, 130);
  EXPECT_THAT(result.err, HasSubstr("interrupted: a second interrupt (SIGINT); what was saved is "
                                    "kept: lockstep resume runs/a"));
  EXPECT_THAT(shown(), HasSubstr("a second interrupt (SIGINT)"));
  EXPECT_THAT(shown(), Not(HasSubstr("the machine went down")));
}

TEST_F(Report, AStopThatTakesLongerThanItsGraceSaysSo) {
  ToolProcess tool = start("stop 5 1", {"stop.grace=1s"});
  ASSERT_TRUE(says(tool, "checkpoint at step 4"));
  kill(tool.pid(), SIGTERM);
  EXPECT_TRUE(says(tool, "SIGTERM: stopping after this step; again to stop now"));
  const ToolResult result = tool.wait();
  EXPECT_EQ(result.code, 130);
  EXPECT_THAT(result.err, HasSubstr("interrupted: it did not stop within 1 s of SIGTERM; "));
  EXPECT_THAT(shown(), HasSubstr("it did not stop within 1 s of SIGTERM"));
}

TEST_F(Report, AWorkerThatNobodyWatchesWritesTheSecondSignalDownItself) {
  Words words = train_words({});
  words[0] = program("lockstep-worker");
  const auto devices = std::find(words.begin(), words.end(), "--devices");
  words.erase(devices, devices + 2);
  ToolProcess worker(words, folder.path(), {{"LOCKSTEP_TEST_FAULTS", "loop 5 0"}});
  const auto step_4 = folder.path() / "runs/a/checkpoints/step-000000004";
  for (int i = 0; i < 6000 && !std::filesystem::exists(step_4); ++i) system_clock().sleep_s(0.01);
  kill(worker.pid(), SIGTERM);
  system_clock().sleep_s(0.3);
  kill(worker.pid(), SIGTERM);
  const ToolResult result = worker.wait();
  EXPECT_EQ(result.code, 130) << result.err;
  EXPECT_THAT(shown(), HasSubstr("a second signal"));
  EXPECT_THAT(shown(), Not(HasSubstr("the machine went down")));
}

TEST_F(Report, ADebuggerThatTakesLongHoldsUpNoInterrupt) {
  const std::filesystem::path tools = folder.path() / "tools";
  std::filesystem::create_directory(tools);
  for (const char* name : {"eu-stack", "gdb"}) {
    std::ofstream(tools / name) << "#!/bin/sh\ntouch " << (folder.path() / "debugging").string()
                                << "\nexec sleep 1000\n";
    std::filesystem::permissions(tools / name, std::filesystem::perms::owner_all);
  }
  ToolProcess tool(
      train_words({"stop.hang_after=3s"}), folder.path(),
      {{"LOCKSTEP_TEST_FAULTS", "loop 7 1"}, {"PATH", tools.string() + ":" + std::getenv("PATH")}});
  for (int i = 0; i < 9000 && !std::filesystem::exists(folder.path() / "debugging"); ++i)
    system_clock().sleep_s(0.01);
  const double begin_s = system_clock().now_s();
  kill(tool.pid(), SIGINT);
  EXPECT_TRUE(says(tool, "stopping after this step"));
  system_clock().sleep_s(0.3);
  kill(tool.pid(), SIGINT);
  EXPECT_EQ(tool.wait().code, 130);
  EXPECT_LT(system_clock().now_s() - begin_s, 12) << "of the 15 s that a debugger gets";
}

TEST_F(Report, AFullDiskDoesNotHideTheFailure) {
  const std::filesystem::path disk = folder.path() / "disk";
  std::filesystem::create_directory(disk);
  if (mount("none", disk.c_str(), "tmpfs", 0, "size=4m") != 0)
    GTEST_SKIP() << "cannot mount a file system: " << std::strerror(errno);
  ToolProcess tool = start("stop 7 1", {"run.root=" + disk.string()});
  EXPECT_TRUE(says(tool, "checkpoint at step 6"));
  std::ofstream filler(disk / "filler", std::ios::binary);
  while (filler.write(std::string(4096, 'x').data(), 4096).flush()) continue;
  kill(testing::ranks_of(tool.pid()).at(1), SIGKILL);
  const ToolResult result = tool.wait();
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("error: rank 1 on cpu:1 failed: killed by signal 9 (Killed)"));
  EXPECT_THAT(result.err, HasSubstr("warning: the run's state could not be written: "));
  umount2(disk.c_str(), MNT_DETACH);
}

}  // namespace
}  // namespace lockstep
