// Which GPUs jobs see, and how batches share them; on a fake NVML.
#include <signal.h>

#include "batch_rig.h"
#include "fakes/nvml_machine.h"

namespace lockstep {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::ToolResult;

class BatchOnGpus : public BatchRig, protected testing::NvmlMachine {
 protected:
  BatchOnGpus() {
    set_free(2);
    environment = environment_;
    environment["XDG_STATE_HOME"] = folder.path() / "state";
    environment["TRACE"] = folder.path() / "trace";
  }
  void set_free(int gpus) {
    nlohmann::json all = nlohmann::json::array();
    for (int i = 0; i < gpus; ++i) all.push_back(gpu(i, {{"processes", nlohmann::json::array()}}));
    set(all);
  }
};

constexpr const char* trace =
    "echo + $CUDA_VISIBLE_DEVICES $CUDA_DEVICE_ORDER >> $TRACE; sleep 0.15; "
    "echo - $CUDA_VISIBLE_DEVICES >> $TRACE";

// At once at most, by device, as the trace has it.
std::map<std::string, int> most_at_once(const std::string& trace) {
  std::map<std::string, int> now, most;
  std::istringstream lines(trace);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string sign, device;
    words >> sign >> device;
    now[device] += sign == "+" ? 1 : -1;
    most[device] = std::max(most[device], now[device]);
  }
  return most;
}

TEST_F(BatchOnGpus, FixesDevicesByUuidAndSpreadsJobsEvenly) {
  const ToolResult result = run_jobs({"--gpus", "1", "--cpus", "0"},
                                     {"sh", "-c", trace, "{1}", ":::", "1", "2", "3", "4"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(text("trace"), HasSubstr("+ GPU-00 PCI_BUS_ID\n"));
  const std::map<std::string, int> expected{{"GPU-00", 1}, {"GPU-01", 1}};
  EXPECT_EQ(most_at_once(text("trace")), expected);
  EXPECT_THAT(result.out, HasSubstr("[\"GPU-00\"]: 2 attempts"));
  EXPECT_THAT(result.out, HasSubstr("[\"GPU-01\"]: 2 attempts"));
}

TEST_F(BatchOnGpus, PutsAtMostFourOnADevice) {
  Words command{"sh", "-c", trace, "{1}", ":::"};
  for (int i = 0; i < 12; ++i) command.push_back(std::to_string(i));
  EXPECT_EQ(run_jobs({"--gpus", "0.25", "--cpus", "0", "--slots", "12"}, command).code, 0);
  const std::map<std::string, int> expected{{"GPU-00", 4}, {"GPU-01", 4}};
  EXPECT_EQ(most_at_once(text("trace")), expected);
}

TEST_F(BatchOnGpus, GivesSeveralDevicesToOneJob) {
  EXPECT_EQ(run_jobs({"--gpus", "2"}, {"sh", "-c", "echo $CUDA_VISIBLE_DEVICES > seen"}).code, 0);
  EXPECT_EQ(text("seen"), "GPU-00,GPU-01\n");
  const ToolResult three = run_jobs({"--gpus", "3"}, {"true"});
  EXPECT_EQ(three.code, 1);
  EXPECT_THAT(three.out, HasSubstr("needs 3 GPUs, and there are 2"));
}

TEST_F(BatchOnGpus, HidesThemFromJobsThatAskForNone) {
  environment["CUDA_VISIBLE_DEVICES"] = "0,1";
  run_jobs({}, {"sh", "-c", "echo [$CUDA_VISIBLE_DEVICES] > seen"});
  EXPECT_EQ(text("seen"), "[]\n");
}

TEST_F(BatchOnGpus, TwoBatchesNeverUseADeviceAtOnce) {
  set_free(1);
  const Words command{"sh", "-c", trace, "{1}", ":::", "1", "2", "3"};
  std::filesystem::create_directory(folder.path() / "elsewhere");
  const Words until_seen{
      "sh",  "-c",  std::string("until [ -e ../seen ]; do sleep 0.01; done; ") + trace,
      "{1}", ":::", "1",
      "2",   "3"};
  testing::ToolProcess one = begin(run_words({"--gpus", "1"}, until_seen, "one"), "elsewhere");
  ASSERT_TRUE(comes(
      [&] { return std::filesystem::exists(folder.path() / "elsewhere/runs/one/attempts/1"); }));
  testing::ToolProcess other = begin(run_words({"--gpus", "1"}, command, "other"));
  const std::string says = "is used by batch " + (folder.path() / "elsewhere/runs/one").string();
  EXPECT_TRUE(comes([&] { return other.err().find(says) != std::string::npos; })) << other.err();
  EXPECT_EQ(text("trace"), "");
  std::ofstream(folder.path() / "seen") << "x";
  EXPECT_EQ(one.wait().code, 0);
  EXPECT_EQ(other.wait().code, 0);
  const std::map<std::string, int> expected{{"GPU-00", 1}};
  EXPECT_EQ(most_at_once(text("trace")), expected);
  const std::string all = text("trace");
  EXPECT_EQ(std::count(all.begin(), all.end(), '+'), 6);
}

TEST_F(BatchOnGpus, ADeviceStaysTakenWhileTheJobOfAKilledSchedulerRuns) {
  set_free(1);
  testing::ToolProcess one = begin(
      run_words({"--gpus", "1"}, {"sh", "-c", "echo x > begun; sleep 0.8; echo x > ended"}, "one"));
  ASSERT_TRUE(comes([&] { return !text("begun").empty(); }));
  kill(one.pid(), SIGKILL);
  one.wait();
  EXPECT_EQ(run_jobs({"--gpus", "1"}, {"sh", "-c", "[ -e ended ]"}).code, 0);
}

TEST_F(BatchOnGpus, WaitsForProgramsOfOthersUnlessTold) {
  set({gpu(0), gpu(1, {{"processes", nlohmann::json::array()}})});  // this test is on the first
  EXPECT_EQ(
      run_jobs({"--gpus", "1", "--cpus", "0"}, {"sh", "-c", trace, "{1}", ":::", "1", "2"}).code,
      0);
  EXPECT_THAT(text("trace"), Not(HasSubstr("GPU-00")));
  EXPECT_EQ(run(run_words({"--gpus", "2", "--share"},
                          {"sh", "-c", "echo $CUDA_VISIBLE_DEVICES > seen"}, "shared"))
                .code,
            0);
  EXPECT_EQ(text("seen"), "GPU-00,GPU-01\n");
}

TEST_F(BatchOnGpus, AnalyzeSaysWhichDeviceRanWhatAndWhyOneWasIdle) {
  ASSERT_EQ(run_jobs({"--gpus", "1", "--cpus", "0"},
                     {"sh", "-c",
                      "sleep $0; echo '{\"phase\": \"features\", \"seconds\": 0.25}' >> "
                      "$LOCKSTEP_EVENTS",
                      "{1}", ":::", "2.5", "0.3"})
                .code,
            0);
  const ToolResult result = run({"batch", "analyze", "b"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("2 attempts in 2."));
  EXPECT_THAT(result.out, HasSubstr("GPU 0: 1 attempt; jobs on it for 2."));
  EXPECT_THAT(result.out, HasSubstr("meanwhile busy 50 %"));
  EXPECT_THAT(result.out, HasSubstr("GPU 1: 1 attempt; jobs on it for 0.3 s"));
  EXPECT_THAT(result.out, HasSubstr("idle for 2.2 s when no more came"));
  EXPECT_THAT(result.out, ::testing::ContainsRegex(
                              "phase features: 0.50 s \\([0-9]+ %\\) in 2 jobs\nin no phase: "));
  EXPECT_THAT(read_file(batch() / "timeline.svg"), HasSubstr("GPU 1, slot 1"));
}

TEST_F(BatchOnGpus, AnalyzeShowsADeviceThatAllJobsWentPast) {
  // All jobs want what only one device has left.
  set({gpu(0), gpu(1, {{"processes", nlohmann::json::array()}})});  // this test is on the first
  ASSERT_EQ(
      run_jobs({"--gpus", "1", "--cpus", "0"}, {"sh", "-c", "sleep 0.7", "{1}", ":::", "1", "2"})
          .code,
      0);
  const ToolResult result = run({"batch", "analyze", "b"});
  EXPECT_THAT(result.out, HasSubstr("GPU 0: 0 % of the attempts: no job was put there\n"));
  EXPECT_THAT(result.out, HasSubstr("s: used by "));
  EXPECT_THAT(result.out, HasSubstr("balance of the time of jobs: GPU 0 0 %, GPU 1 100 %"));
  EXPECT_THAT(result.out, ::testing::ContainsRegex("GPU 0 \\|\\.+\\|\nGPU 1 \\|1[1.]+\\|"));
}

TEST_F(BatchOnGpus, AnalyzeComparesBatches) {
  ASSERT_EQ(run(run_words({"--gpus", "1"}, {"sleep", "0.2"}, "one")).code, 0);
  ASSERT_EQ(run(run_words({}, {"sleep", "0.2"}, "two")).code, 0);
  const ToolResult result = run({"batch", "analyze", "one", "two"});
  EXPECT_THAT(result.out, HasSubstr("one:\n1 attempt in "));
  EXPECT_THAT(result.out, HasSubstr("\ntwo:\n1 attempt in "));
  EXPECT_THAT(result.out, HasSubstr("\nbatch  attempts  seconds"));
  const auto json = nlohmann::json::parse(run({"batch", "analyze", "one", "two", "--json"}).out);
  EXPECT_EQ(json.at(1).at("batch"), "two");
  EXPECT_EQ(run({"batch", "analyze", "one", "two", "--chart", "x.svg"}).code, 2);
}

TEST_F(BatchOnGpus, ADryRunSaysWhereJobsWouldGoAndRunsNone) {
  const ToolResult result =
      run_jobs({"--gpus", "0.5", "--devices-like", "8xT4"}, {"touch", "{1}", ":::", "a", "b"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("GPU 0"));
  EXPECT_THAT(result.out, HasSubstr("GPU 1"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "a"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "runs"));
}

}  // namespace
}  // namespace lockstep
