// Runs of a plugin's recipes on so many GPUs as the test's parameter says.
#pragma once

#include "core/devices/gpus/gpu_probe.h"
#include "fakes/task_runs.h"

#include <gtest/gtest.h>

#include <string>

namespace lockstep::testing {

class GpuRuns : public TaskRuns, public ::testing::WithParamInterface<std::size_t> {
 protected:
  using TaskRuns::TaskRuns;
  void SetUp() override {
    const auto probe = make_nvml_probe();
    const std::size_t gpus = probe->gpus().size();
    if (gpus < GetParam())
      GTEST_SKIP() << "needs " << GetParam() << " GPUs, but this machine has " << gpus;
    if (!std::filesystem::exists(LOCKSTEP_BUILD_DIR "/liblockstep-cuda.so"))
      GTEST_SKIP() << "built without the CUDA library";
  }
  std::string devices() const { return GetParam() == 1 ? "0" : "0,1"; }
  ToolResult train_well(const std::string& recipe, const std::string& name, const Words& more) {
    const ToolResult result = train(recipe, name, devices(), more);
    EXPECT_EQ(result.code, 0) << result.err;
    return result;
  }
  nlohmann::json graphs(const std::string& name) const {
    const auto ends = events(name, "end");
    return ends.empty() ? nlohmann::json() : ends.back().value("graphs", nlohmann::json());
  }
};

}  // namespace lockstep::testing
