// A real Slurm of one node: srun starts the ranks, and a job that is stopped and put back into the
// queue, by itself or by Slurm, goes on where it was.
#include "runtime/run/checkpoint/checkpoint_index.h"
#include "runtime/run/events/events.h"
#include "runtime/run/events/samples.h"
#include "runtime/run/folder/run_dir.h"
#include "slurm_node.h"

#include <gtest/gtest.h>
#include <chrono>
#include <filesystem>
#include <thread>

#include <nlohmann/json.hpp>

#include <optional>

namespace lockstep {
namespace {

using testing::SlurmNode;
using testing::ToolResult;
using testing::wait_for;
using Words = std::vector<std::string>;

class Slurm : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = SlurmNode::why_not(); !why.empty()) GTEST_SKIP() << why;
    node.emplace();
    testing::write_corpus(folder.path() / "corpus.txt", 9000);
  }
  Words options(const std::string& name, const Words& more) const {
    Words words = testing::tiny(folder.path() / "corpus.txt");
    words.insert(words.end(),
                 {"run.root=" + (folder.path() / "runs").string(), "run.record_samples=true",
                  "schedule.kind=constant", "checkpoint.every_steps=50", "--name", name});
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  std::filesystem::path run(const std::string& name) const { return folder.path() / "runs" / name; }
  std::int64_t newest_step(const std::string& name) const {
    if (!std::filesystem::exists(run(name) / "checkpoints")) return -1;
    const auto all = list_checkpoints(run(name) / "checkpoints", false);
    return all.empty() ? -1 : all.back().step;
  }
  std::string output() const { return read_file(folder.path() / "job.out"); }
  // Whether a batch script runs, of any job.
  static bool script_runs() {
    std::error_code ended;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", ended)) {
      std::ifstream file(entry.path() / "cmdline");
      std::string words;
      if (std::getline(file, words) && words.find("/slurm_script") != words.npos) return true;
    }
    return false;
  }
  // Slurm lets a job that was put back wait for two minutes. Here it need only not overlap with its
  // script of before, whose end would count as that of the new one.
  bool starts_again(const std::string& job) const {
    if (!wait_for(40, [] { return !script_runs(); })) return false;
    std::this_thread::sleep_for(std::chrono::seconds(2));  // until Slurm has taken note of it
    return wait_for(40, [&] {
      node->says({"scontrol", "update", "JobId=" + job, "StartTime=now"});
      return state(job) == "RUNNING";
    });
  }
  // The steps at which the run was resumed.
  std::vector<std::int64_t> resumes(const std::string& name) const {
    std::vector<std::int64_t> steps;
    for (const nlohmann::json& event : read_events(run(name) / "events.jsonl"))
      if (event.at("kind") == "resume") steps.push_back(event.at("step"));
    return steps;
  }
  // "PENDING", "RUNNING", …
  std::string state(const std::string& job) const {
    return node->says({"squeue", "-h", "-j", job, "-o", "%T"});
  }

  TemporaryDirectory folder;
  std::optional<SlurmNode> node;
};

TEST_F(Slurm, SrunStartsTheRanks) {
  Words words{"srun",  "--ntasks", "2",         testing::program("lockstep-worker"),
              "train", "textgen",  "--devices", "cpu"};
  for (const std::string& option : options("a", {"stop.steps=30"})) words.push_back(option);
  const ToolResult result = testing::ToolProcess(node->on(words), folder.path()).wait();
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(RunDir::open(run("a").string(), "").state(), RunState::finished);
  EXPECT_EQ(RunDir::open(run("a").string(), "").record().at("devices").size(), 2U);
  EXPECT_EQ(newest_step("a"), 30);
  EXPECT_EQ(effective_samples(run("a")).size(), 30U);
}

// The batch script of the guide, with what a test needs besides: the number of steps from a file,
// so that the job ends when it was put back twice.
TEST_F(Slurm, AJobThatIsPutBackIntoTheQueueGoesOn) {
  const std::string root = folder.path().string();
  std::string line = "srun --kill-on-bad-exit=0 " + testing::program_in_shell("lockstep-worker") +
                     " train textgen --devices cpu";
  for (const std::string& option : options("a", {"--resume", "auto"})) line += " " + option;
  std::ofstream(folder.path() / "job.sh")
      << "#!/bin/bash\n"
      << "#SBATCH --ntasks=2 --requeue --open-mode=append --signal=TERM@120\n"
      << "#SBATCH --output=" << root << "/job.out\n"
      << line << " stop.steps=$(cat " << root << "/steps)\n"
      << "code=$?\nif [ $code = 75 ]; then scontrol requeue \"$SLURM_JOB_ID\"; fi\nexit $code\n";
  std::ofstream(folder.path() / "steps") << 1000000;
  const std::string job = node->says({"sbatch", "--parsable", root + "/job.sh"});
  ASSERT_TRUE(wait_for(40, [&] { return newest_step("a") >= 50; })) << job << "\n" << output();

  // What --signal=TERM@120 does two minutes before the end of the job's time: its steps get
  // SIGTERM, the script does not.
  node->says({"scancel", "--signal=TERM", job});
  ASSERT_TRUE(wait_for(40, [&] { return state(job) == "PENDING"; })) << state(job) << output();
  const std::int64_t first = newest_step("a");
  EXPECT_EQ(effective_samples(run("a")).size(), static_cast<std::size_t>(first));
  EXPECT_EQ(RunDir::open(run("a").string(), "").state(), RunState::stopped);

  ASSERT_TRUE(starts_again(job)) << state(job);
  ASSERT_TRUE(wait_for(40, [&] { return newest_step("a") > first + 50; })) << output();
  // What Slurm itself does, for a job of more weight or an operator.
  node->says({"scontrol", "requeue", job});
  ASSERT_TRUE(wait_for(40, [&] { return state(job) == "PENDING"; })) << state(job) << output();
  const std::int64_t second = newest_step("a");
  EXPECT_GT(second, first + 50);
  EXPECT_EQ(effective_samples(run("a")).size(), static_cast<std::size_t>(second));

  const std::int64_t last = second + 60;
  std::ofstream(folder.path() / "steps") << last;
  ASSERT_TRUE(starts_again(job)) << state(job);
  ASSERT_TRUE(wait_for(40, [&] {
    return newest_step("a") == last &&
           RunDir::open(run("a").string(), "").state() == RunState::finished;
  })) << output();
  EXPECT_EQ(resumes("a"), (std::vector<std::int64_t>{first, second}));

  Words whole{"train", "textgen", "--devices", "cpu:2"};
  for (const std::string& option : options("whole", {cat("stop.steps=", last)}))
    whole.push_back(option);
  const ToolResult uninterrupted = testing::run_tool(whole, folder.path());
  ASSERT_EQ(uninterrupted.code, 0) << uninterrupted.err;
  EXPECT_EQ(effective_samples(run("a")), effective_samples(run("whole")));
}

}  // namespace
}  // namespace lockstep
