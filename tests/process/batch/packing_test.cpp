// How jobs share devices by what is seen of them; on a fake NVML on which jobs register themselves.
#include <signal.h>

#include "batch_rig.h"
#include "fakes/nvml_machine.h"

namespace lockstep {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::ToolResult;

class BatchPacking : public BatchRig, protected testing::NvmlMachine {
 protected:
  BatchPacking() {
    environment = environment_;
    environment["XDG_STATE_HOME"] = folder.path() / "state";
    environment["FAKE_NVML_TENANTS"] = folder.path() / "tenants";
    std::filesystem::create_directory(folder.path() / "tenants");
    set_gpus(2);
  }
  // Of 10 GiB each, 30 % active.
  void set_gpus(int gpus) {
    nlohmann::json all = nlohmann::json::array();
    for (int i = 0; i < gpus; ++i)
      all.push_back(gpu(i, {{"processes", nlohmann::json::array()}, {"memory", 10LL << 30}}));
    set(all);
  }
  static std::string on(const std::string& device, const std::string& gibibytes,
                        const std::string& then) {
    return "echo " + device + " $((" + gibibytes +
           " << 30)) > $FAKE_NVML_TENANTS/$$; mkdir -p now; touch now/$$; ls now | wc -l >> "
           "most; " +
           then + "; rm now/$$";
  }
  // A job that is on its own device with so much memory for so long.
  static std::string job(const std::string& gibibytes, const std::string& seconds) {
    return on("$CUDA_VISIBLE_DEVICES", gibibytes, "sleep " + seconds);
  }
  Words jobs(const std::string& script, int count) const {
    Words command{"sh", "-c", script, "{1}", ":::"};
    for (int i = 0; i < count; ++i) command.push_back(std::to_string(i));
    return command;
  }
  int most() const {
    int most = 0, here = 0;
    std::istringstream lines(text("most"));
    while (lines >> here) most = std::max(most, here);
    return most;
  }
  const Words flags{"--gpus", "1", "--cpus", "0", "--slots", "32"};
};

TEST_F(BatchPacking, MeasuresTheFirstAndPacksAsManyAsFit) {
  const ToolResult result = run_jobs(flags, jobs(job("2", "1.3"), 8));
  EXPECT_EQ(result.code, 0) << result.err;
  // 0.95 of 10 GiB hold four of 2 GiB and a tenth; 30 % of activity lets three begin.
  EXPECT_THAT(result.err, HasSubstr("3 jobs per device from here on: one job needs 2.00 GiB of "
                                    "memory and keeps the GPU active for 30 % of the time; 4 "
                                    "would fit into the memory"));
  EXPECT_EQ(most(), 6);
  EXPECT_THAT(result.out, HasSubstr("8 verified, 0 wrong"));
  EXPECT_EQ(count("SELECT count(*) FROM attempt WHERE gpu_memory_bytes = 2147483648"), 8);
  EXPECT_EQ(count("SELECT count(DISTINCT devices) FROM attempt"), 2);
}

TEST_F(BatchPacking, OneThatNeedsTheWholeDeviceStaysAlone) {
  EXPECT_EQ(run_jobs(flags, jobs(job("6", "1.2"), 4)).code, 0);
  EXPECT_EQ(most(), 2);
}

TEST_F(BatchPacking, WhoAsksForAllOfTheMemoryIsAlone) {
  write_file_atomic(folder.path() / "b.toml",
                    "command = [\"sh\", \"-c\", '''" + job("1", "0.9") +
                        "''', \"{n}\"]\ngpus = 1\ncpus = 0\ngpu_memory = \"all\"\n"
                        "matrix = {n = {from = 1, to = 6}}\n");
  const ToolResult result = run({"batch", "run", "b.toml", "--slots", "32"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(most(), 2);
}

TEST_F(BatchPacking, MemoryThatIsGivenPacksAtOnce) {
  write_file_atomic(folder.path() / "b.toml",
                    "command = [\"sh\", \"-c\", '''" + job("3", "0.6") +
                        "''', \"{n}\"]\ngpus = 1\ncpus = 0\ngpu_memory = \"3GiB\"\n"
                        "matrix = {n = {from = 1, to = 4}}\n");
  const ToolResult result = run({"batch", "run", "b.toml", "--slots", "32"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(most(), 4);
}

TEST_F(BatchPacking, ShortJobsAreTooShortToTellAndNotPacked) {
  const ToolResult result = run_jobs(flags, jobs("touch x", 4));
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.out, HasSubstr("4 too short to tell"));
}

TEST_F(BatchPacking, AJobOnAnotherDeviceIsStoppedAndSaysWhere) {
  const ToolResult result = run_jobs(
      flags,
      {"sh", "-c",
       on("$([ $CUDA_VISIBLE_DEVICES = GPU-00 ] && echo GPU-01 || echo GPU-00)", "1", "sleep 20")});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("ran on GPU 1, which is not the device it was given"));
  EXPECT_THAT(result.out, HasSubstr("0 verified, 1 wrong"));
}

TEST_F(BatchPacking, OneThatRunsOutOfMemoryWhereItSharesRunsAlone) {
  // The fourth waits for another beside it, and fails then.
  const std::string script =
      on("$CUDA_VISIBLE_DEVICES", "2",
         "[ $1 = 3 ] || sleep 1.5; if [ $1 = 3 ] && [ ! -e alone ]; then touch alone; for i in "
         "$(seq 100); do [ $(ls now | wc -l) -gt 1 ] && break; sleep 0.1; done; sleep 0.1; "
         "rm now/$$; echo 'RuntimeError: CUDA out of memory. Tried to allocate'; exit 1; fi");
  set_gpus(1);
  Words command{"sh", "-c", script, "x", "{1}", ":::", "0", "1", "2", "3", "4"};
  const ToolResult result = run_jobs(flags, command);
  EXPECT_EQ(result.code, 0) << result.err << result.out;
  EXPECT_THAT(result.err, HasSubstr("out of memory on a device that it shared: RuntimeError: CUDA "
                                    "out of memory"));
  EXPECT_EQ(jobs_in("done"), 5);
  EXPECT_EQ(count("SELECT tries FROM job WHERE id = 4"), 1);
}

TEST_F(BatchPacking, OneThatRunsOutOfMemoryAloneFailsAndSaysSo) {
  const ToolResult result = run_jobs(flags, {"sh", "-c", "echo CUDA out of memory; exit 1"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("out of memory on its device: CUDA out of memory"));
}

TEST_F(BatchPacking, AutoTakesTheCpuWhereItIsFaster) {
  const ToolResult result =
      run_jobs({"--gpus", "auto", "--slots", "4"},
               jobs("echo $LOCKSTEP_DEVICE >> where; [ $LOCKSTEP_DEVICE = cpu ] || sleep 1", 6));
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("gpus = auto takes the CPU from here on"));
}

TEST_F(BatchPacking, AutoTakesTheGpuWhereTheCpuFails) {
  const ToolResult result =
      run_jobs({"--gpus", "auto", "--slots", "4"},
               jobs("[ $LOCKSTEP_DEVICE = gpu ] || exit 3; echo $1 >> done", 6));
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("it fails on the CPU"));
  EXPECT_EQ(jobs_in("done"), 6);
}

TEST_F(BatchPacking, MemoryThatDoesNotComeBackKeepsADeviceFromUse) {
  set_gpus(1);
  testing::ToolProcess tool = begin(run_words(
      {"--gpus", "1"}, {"sh", "-c", "touch begun$1; sleep 0.3", "x", "{1}", ":::", "1", "2"}));
  ASSERT_TRUE(comes([&] { return std::filesystem::exists(folder.path() / "begun1"); }));
  write_file_atomic(folder.path() / "tenants/nobody", "GPU-00 4294967296");
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "begun2"));
  std::this_thread::sleep_for(std::chrono::milliseconds(1200));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "begun2"));
  std::filesystem::remove(folder.path() / "tenants/nobody");
  const ToolResult result = tool.wait();
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.err, HasSubstr("4.0 GiB of its memory have not come back"));
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "begun2"));
}

}  // namespace
}  // namespace lockstep
