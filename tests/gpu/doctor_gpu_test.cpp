// lockstep doctor beside Python programs that really make the mistakes it knows, and one that makes
// none. DOCTOR_RECORDINGS names a folder that keeps what it saw.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "checkout_paths.h"
#include "core/base/clock.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "core/devices/gpus/gpu_probe.h"
#include "fakes/tool.h"
#include "tools/monitor/process_info.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::ToolProcess;
using testing::ToolResult;
using Rules = std::vector<std::string>;

const fs::path programs = fs::path(LOCKSTEP_SOURCE_DIR) / "tests/gpu/doctor";

class DoctorOnGpus : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto probe = make_nvml_probe();
    gpus_ = probe->gpus().size();
    if (gpus_ == 0) GTEST_SKIP() << "no GPU: " << probe->why_absent();
    if (gpus_ < 2) GTEST_SKIP() << "needs 2 GPUs, but this machine has " << gpus_;
    const char* see = "import torch; exit(torch.cuda.device_count() < 2)";
    if (ToolProcess({"python3", "-c", see}, folder_.path()).wait().code != 0)
      GTEST_SKIP() << "python3 has no PyTorch that sees two GPUs";
  }

  // Names of the rules that found something in the program after it has run for a while, each once.
  Rules rules(const std::string& name, std::vector<std::string> words, double seconds) {
    words.push_back("60");
    const ToolProcess process(words, folder_.path(), environment_);
    Clock& clock = system_clock();
    for (int i = 0; i < 600 && !is_ready(); ++i) clock.sleep_s(0.1);
    EXPECT_TRUE(is_ready()) << process.err();
    clock.sleep_s(seconds);
    TemporaryDirectory own;
    words = around_;
    // Elsewhere its number means nothing.
    const std::string about = around_.empty() ? std::to_string(process.pid()) : "--all";
    words.insert(words.end(), {testing::program("lockstep"), "doctor", about, "--json", "--record",
                               "seen.jsonl"});
    const ToolResult look = ToolProcess(words, own.path()).wait();
    end(process.pid());
    if (const char* keep = std::getenv("DOCTOR_RECORDINGS"))
      fs::copy_file(own.path() / "seen.jsonl", fs::path(keep) / (name + ".jsonl"),
                    fs::copy_options::overwrite_existing);
    const nlohmann::json report = nlohmann::json::parse(look.out, nullptr, false);
    Rules found;
    if (report.is_discarded()) {
      ADD_FAILURE() << look.err;
      return found;
    }
    for (const nlohmann::json& finding : report["findings"]) {
      const auto rule = finding["rule"].get<std::string>();
      if (std::find(found.begin(), found.end(), rule) == found.end()) found.push_back(rule);
    }
    EXPECT_EQ(look.code, found.empty() ? 0 : 1);
    if (!found.empty()) std::cout << report["findings"].dump(1) << '\n';
    return found;
  }
  // count: 0 for one per GPU.
  std::vector<std::string> ranks(const std::string& script, std::size_t count = 0) {
    return {"python3", "-m", "torch.distributed.run",
            cat("--nproc-per-node=", count > 0 ? count : gpus_), programs / script};
  }
  std::vector<std::string> alone(const std::string& script) {
    return {"python3", programs / script};
  }

  TemporaryDirectory folder_;
  std::map<std::string, std::string> environment_;
  std::vector<std::string> around_;  // starts the doctor somewhere else
  std::size_t gpus_ = 0;             // of this machine

 private:
  bool is_ready() const {
    return read_file(folder_.path() / "stdout.txt").find("ready") != std::string::npos;
  }
  // Launchers start their ranks in sessions of their own.
  static void end(int pid) {
    for (const int one : process_tree(pid)) kill(one, SIGKILL);
    waitpid(pid, nullptr, 0);
    system_clock().sleep_s(1);  // until the driver has let go
  }
};

TEST_F(DoctorOnGpus, FindsNothingInAHealthyProgram) {
  EXPECT_THAT(rules("healthy", ranks("healthy.py"), 4), IsEmpty());
}

TEST_F(DoctorOnGpus, AModelOnTheFirstGpuOnly) {
  EXPECT_THAT(rules("one_gpu", alone("one_gpu.py"), 3), ElementsAre("one-of-several"));
}

TEST_F(DoctorOnGpus, OneRankOnSeveralGpus) {
  EXPECT_THAT(rules("one_rank", ranks("one_gpu.py", 1), 4), ElementsAre("one-of-several"));
}

TEST_F(DoctorOnGpus, TwoRanksOnMoreGpus) {
  if (gpus_ < 3) GTEST_SKIP() << "needs 3 GPUs, and there are " << gpus_;
  EXPECT_THAT(rules("some_of_several", ranks("healthy.py", 2), 4), ElementsAre("one-of-several"));
}

TEST_F(DoctorOnGpus, AMaskOfOne) {
  environment_["CUDA_VISIBLE_DEVICES"] = "0";
  EXPECT_THAT(rules("mask_of_one", alone("one_gpu.py"), 3), ElementsAre("narrowed"));
}

TEST_F(DoctorOnGpus, APoolThatSetsItsVariableTooLate) {
  EXPECT_THAT(rules("late_variable", alone("late_variable.py"), 9), ElementsAre("same-gpu"));
}

TEST_F(DoctorOnGpus, RanksWithoutSetDevice) {
  EXPECT_THAT(rules("same_device", ranks("same_device.py"), 4), ElementsAre("ranks-on-one"));
}

TEST_F(DoctorOnGpus, LoadersThatCannotKeepUp) {
  EXPECT_THAT(rules("starving", ranks("starving.py"), 6), ElementsAre("starving"));
}

TEST_F(DoctorOnGpus, AMainThreadThatDecodes) {
  environment_["CUDA_VISIBLE_DEVICES"] = "0";
  EXPECT_THAT(rules("main_thread", alone("main_thread.py"), 4),
              ::testing::UnorderedElementsAre("starving", "narrowed"));
}

TEST_F(DoctorOnGpus, TinyKernels) {
  EXPECT_THAT(rules("tiny", ranks("tiny.py"), 3), ElementsAre("too-small"));
}

TEST_F(DoctorOnGpus, DataParallel) {
  EXPECT_THAT(rules("data_parallel", alone("data_parallel.py"), 4),
              ElementsAre("one-process-many"));
}

TEST_F(DoctorOnGpus, AStraggler) {
  EXPECT_THAT(rules("straggler", ranks("straggler.py"), 3), Contains("waiting-for-others"));
}

TEST_F(DoctorOnGpus, RanksThatLoadToTheFirstGpu) {
  EXPECT_THAT(rules("stray_context", ranks("stray_context.py"), 4), ElementsAre("stray-context"));
}

TEST_F(DoctorOnGpus, AProgramOutsideOfThePidNamespace) {
  around_ = {"unshare", "--pid", "--fork", "--mount-proc"};
  if (std::system((join(around_, " ") + " true").c_str()) != 0)
    GTEST_SKIP() << "needs root, for a PID namespace";
  EXPECT_THAT(rules("unseen_tenant", alone("one_gpu.py"), 3), ElementsAre("other-tenant"));
}

TEST_F(DoctorOnGpus, AStoppedProgram) {
  EXPECT_THAT(rules("stopped", alone("stopped.py"), 1), ElementsAre("kept-memory"));
}

}  // namespace
}  // namespace lockstep
