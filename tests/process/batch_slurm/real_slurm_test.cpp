// lockstep batch slurm on a real Slurm of one node, with GPUs that are only files.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "fake_slurm.h"
#include "fakes/nvml_machine.h"
#include "process/slurm/slurm_node.h"

namespace lockstep {
namespace {

using ::testing::HasSubstr;
using testing::SlurmNode;
using testing::ToolResult;
using testing::wait_for;

class RealSlurm : public BatchRig, protected testing::NvmlMachine {
 protected:
  void SetUp() override {
    if (const std::string why = SlurmNode::why_not(); !why.empty()) GTEST_SKIP() << why;
    node.emplace(/*gpus=*/2);
    std::filesystem::create_directories(folder.path() / "out");
    environment = environment_;
    environment["XDG_STATE_HOME"] = folder.path() / "state";
    environment["TRACE"] = folder.path() / "trace";
    nlohmann::json gpus = nlohmann::json::array();
    for (int i = 0; i < 2; ++i) gpus.push_back(gpu(i, {{"processes", nlohmann::json::array()}}));
    set(gpus);
  }
  void write(const std::string& content) const {
    std::ofstream(folder.path() / "b.toml") << content;
  }
  // The tool on the node, as a user of it would run it.
  ToolResult on_node(Words words) {
    words.insert(words.begin(), {"sh", "-c", "cd \"$0\" && exec \"$@\"", folder.path().string(),
                                 testing::program("lockstep")});
    words.push_back("run.root=" + (folder.path() / "my runs, all").string());
    Words all = node->on(words);
    return testing::ToolProcess(all, folder.path(), environment).wait();
  }
  std::string status() { return on_node({"batch", "status", "b"}).out; }
  bool ends_as(const std::string& counts) {
    return wait_for(60, [&] {
      return status().find(counts) != std::string::npos && node->says({"squeue", "-h"}).empty();
    });
  }
  std::string logs() const {
    std::string all;
    std::error_code ignored;
    for (const auto& entry :
         std::filesystem::directory_iterator(folder.path() / "my runs, all/b/slurm", ignored))
      all += entry.path().filename().string() + ":\n" + read_file(entry.path());
    return all;
  }

  std::optional<SlurmNode> node;
};

TEST_F(RealSlurm, RunsEveryJobOnceInTasksWithLedgersOfTheirOwn) {
  write(
      "command = [\"sh\", \"-c\", \"echo $SLURM_ARRAY_TASK_ID {x} >> $TRACE; echo said {x}; test "
      "{x} != 7 -o -e $TRACE.mended\"]\n[matrix]\nx = {from = 1, to = 24}\n");
  const ToolResult handed = on_node({"batch", "slurm", "b.toml", "--jobs-per-task", "6",
                                     "--at-once", "2", "--time", "5", "--partition", "all"});
  ASSERT_EQ(handed.code, 0) << handed.err;
  EXPECT_THAT(handed.out, HasSubstr("24 jobs in 4 tasks, 2 at once"));
  EXPECT_TRUE(ends_as("23 done, 1 failed of 24")) << status() << logs();
  EXPECT_EQ(std::ranges::count(text("trace"), '\n'), 24) << text("trace");
  const auto analysis = nlohmann::json::parse(on_node({"batch", "analyze", "b", "--json"}).out);
  EXPECT_EQ(analysis["attempts"], 24);

  // Only the task with the job that failed goes into the queue again.
  on_node({"batch", "retry", "b"});
  std::ofstream(folder.path() / "trace.mended");
  const ToolResult again = on_node({"batch", "resume", "b"});
  EXPECT_THAT(again.out, HasSubstr("1 job in 1 task"));
  EXPECT_TRUE(ends_as("24 done of 24")) << status() << logs();
  EXPECT_EQ(std::ranges::count(text("trace"), '\n'), 25);
}

TEST_F(RealSlurm, GivesEachTaskAGpuOfItsOwn) {
  if (!node->has_gpus()) GTEST_SKIP() << "this user may not make device files";
  write(
      "gpus = 0.5\ncpus = 0.5\ncommand = [\"sh\", \"-c\", \"echo $SLURM_ARRAY_TASK_ID "
      "$CUDA_VISIBLE_DEVICES >> $TRACE; sleep 2\"]\n[matrix]\nx = {from = 1, to = 4}\n");
  const ToolResult handed = on_node({"batch", "slurm", "b.toml", "--jobs-per-task", "2"});
  ASSERT_EQ(handed.code, 0) << handed.err;
  EXPECT_THAT(read_file(folder.path() / "my runs, all/b/slurm/1.sh"), HasSubstr("--gres=gpu:1"));
  EXPECT_TRUE(ends_as("4 done of 4")) << status() << logs();
  std::map<std::string, std::set<std::string>> of_task;
  std::istringstream lines(text("trace"));
  for (std::string task, device; lines >> task >> device;) of_task[task].insert(device);
  EXPECT_EQ(of_task.size(), 2u);
  std::set<std::string> all;
  for (const auto& [task, devices] : of_task) {
    EXPECT_EQ(devices.size(), 1u) << task;
    all.insert(devices.begin(), devices.end());
  }
  EXPECT_EQ(all, (std::set<std::string>{"GPU-00", "GPU-01"})) << text("trace") << logs();
}

TEST_F(RealSlurm, WhatACancelledTaskLeftIsHandedInAgain) {
  write(
      "command = [\"sh\", \"-c\", \"echo {x} >> $TRACE; while [ ! -e $TRACE.go ]; do sleep 0.1; "
      "done\"]\n[matrix]\nx = {from = 1, to = 4}\n");
  const ToolResult handed = on_node({"batch", "slurm", "b.toml", "--jobs-per-task", "2"});
  ASSERT_EQ(handed.code, 0) << handed.err;
  ASSERT_TRUE(wait_for(30, [&] { return !text("trace").empty(); })) << logs();
  // As at the time limit: Slurm tells the task alone, and ends it later.
  node->says({"scancel", "--batch", "--signal=TERM", "--state=RUNNING", "--name=lockstep-b"});
  EXPECT_TRUE(wait_for(30,
                       [&] {
                         return node->says({"squeue", "-h"}).empty();
                       }))
      << node->says({"squeue"}) << logs();
  std::ofstream(folder.path() / "trace.go");
  const ToolResult again = on_node({"batch", "resume", "b"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_TRUE(ends_as("4 done of 4")) << status() << logs();
}

TEST_F(RealSlurm, StagesWaitForEachOther) {
  write(
      "[[jobs]]\nname = \"features\"\ncommand = [\"sh\", \"-c\", \"sleep 0.5; echo f >> "
      "$TRACE\"]\n[jobs.matrix]\ns = [1, 2]\n"
      "[[jobs]]\nname = \"fit\"\nafter = \"features\"\ncommand = [\"sh\", \"-c\", \"echo t >> "
      "$TRACE\"]\n[jobs.matrix]\nk = {from = 1, to = 3}\n");
  const ToolResult handed = on_node({"batch", "slurm", "b.toml", "--jobs-per-task", "2"});
  ASSERT_EQ(handed.code, 0) << handed.err;
  EXPECT_TRUE(ends_as("5 done of 5")) << status() << logs();
  EXPECT_EQ(text("trace"), "f\nf\nt\nt\nt\n");
}

}  // namespace
}  // namespace lockstep
