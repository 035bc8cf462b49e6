// The example trains on real GPUs: in bf16 as one graph, and with its kernels as with ATen's
// operators and as on the CPU.
#include "gpu/gpu_runs.h"

#include <algorithm>

namespace lockstep {
namespace {

using testing::ToolResult;

class OwnKernelOnGpus : public testing::GpuRuns {
 protected:
  OwnKernelOnGpus() : GpuRuns("own-kernel") {}
  void SetUp() override {
    GpuRuns::SetUp();
    if (!IsSkipped() && !std::filesystem::exists(LOCKSTEP_BUILD_DIR "/tests/libown-kernel-cuda.so"))
      GTEST_SKIP() << "built without a compiler of CUDA kernels";
  }
  void train_on(const std::string& devices, const std::string& name, const Words& more,
                const std::map<std::string, std::string>& environment = {}) const {
    const ToolResult result = testing::run_tool(train_words("own_kernel", name, devices, more),
                                                folder.path(), environment);
    ASSERT_EQ(result.code, 0) << result.err;
  }
  double explained(const std::string& name) const {
    return events(name, "eval").back().at("metrics").at("explained");
  }
};

TEST_P(OwnKernelOnGpus, LearnsTheLandInBf16AsOneGraph) {
  train_on(devices(), "bf16", {"precision=bf16", "stop.epochs=20"});
  EXPECT_EQ(graphs("bf16").value("shapes", 0), 1);
  EXPECT_EQ(graphs("bf16").value("steps", 0), 400 - 3);
  EXPECT_GT(explained("bf16"), 0.97);
  train_on(devices(), "fp16", {"precision=fp16", "stop.epochs=20"});
  EXPECT_GT(explained("fp16"), 0.97);
}

TEST_P(OwnKernelOnGpus, HasTheCurveOfAtensOperatorsAndOfTheCpu) {
  const Words fp32{"precision=fp32", "stop.steps=40", "matmul.tf32=false"};
  train_on(devices(), "kernel", fp32);
  train_on(devices(), "aten", fp32, {{"LOCKSTEP_KERNELS", "aten"}});
  train_on("cpu:1", "cpu", fp32);
  expect_same_curve("kernel", "aten", 1e-3);
  expect_same_curve("kernel", "cpu", 1e-3);
}

// So each rank does load them.
TEST_P(OwnKernelOnGpus, MissesItsKernelsByName) {
  const std::filesystem::path alone = folder.path() / "libalone.so";
  std::filesystem::copy(plugin, alone);
  Words words = train_words("own_kernel", "alone", devices(), {"stop.steps=3"});
  std::replace(words.begin(), words.end(), plugin, alone.string());
  const ToolResult result = testing::run_tool(words, folder.path());
  EXPECT_NE(result.code, 0);
  EXPECT_NE(result.err.find("libown-kernel-cuda.so is not there"), std::string::npos) << result.err;
}

TEST_P(OwnKernelOnGpus, RepeatsToTheBitInExactMode) {
  for (const char* name : {"first", "again"})
    train_on(devices(), name, {"exact=true", "stop.steps=40"});
  const auto first = steps("first"), again = steps("again");
  for (const auto& [step, event] : first)
    EXPECT_EQ(event.at("grad_norm"), again.at(step).at("grad_norm")) << step;
}

INSTANTIATE_TEST_SUITE_P(Gpus, OwnKernelOnGpus, ::testing::Values(1, 2),
                         [](const auto& info) { return "On" + std::to_string(info.param); });

}  // namespace
}  // namespace lockstep
