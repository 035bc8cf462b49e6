// What programs find of their GPUs under lockstep launch; on a fake NVML.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/text/text.h"
#include "fakes/nvml_machine.h"
#include "fakes/tool.h"

namespace lockstep {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::ToolResult;

class LaunchOnGpus : public ::testing::Test, protected testing::NvmlMachine {
 protected:
  void set_gpus(const nlohmann::json& second) {
    set({gpu(0, {{"processes", nlohmann::json::array()}}), gpu(1, second)});
  }
  ToolResult launch(const std::string& script, const std::vector<std::string>& flags = {}) {
    std::vector<std::string> words{"launch"};
    words.insert(words.end(), flags.begin(), flags.end());
    words.insert(words.end(), {"sh", "-c", script});
    return testing::run_tool(words, folder.path(), environment_);
  }
  TemporaryDirectory folder;
};

TEST_F(LaunchOnGpus, AreNumbersInTheOrderOfTheRanks) {
  set_gpus({{"processes", nlohmann::json::array()}});
  const ToolResult all = launch("echo $CUDA_VISIBLE_DEVICES $CUDA_DEVICE_ORDER $LOCAL_RANK");
  EXPECT_EQ(all.code, 0) << all.err;
  EXPECT_THAT(all.out,
              AllOf(HasSubstr("[0] 0,1 PCI_BUS_ID 0\n"), HasSubstr("[1] 0,1 PCI_BUS_ID 1\n")));
  EXPECT_THAT(launch("echo $CUDA_VISIBLE_DEVICES", {"--devices", "1"}).out, HasSubstr("[0] 1\n"));
  environment_["CUDA_VISIBLE_DEVICES"] = "1";
  EXPECT_THAT(launch("echo $CUDA_VISIBLE_DEVICES").out, HasSubstr("[0] 1\n"));
}

TEST_F(LaunchOnGpus, EachRankHasItsShareOfTheCores) {
  set_gpus({{"processes", nlohmann::json::array()}});
  const ToolResult result = launch("echo $OMP_NUM_THREADS of $(env -u OMP_NUM_THREADS nproc)");
  std::istringstream line(result.out.substr(result.out.find("[0] ") + 4));
  int threads = 0, cores = 0;
  std::string of;
  line >> threads >> of >> cores;
  EXPECT_EQ(threads, std::max(1, cores / 2)) << result.out;
  environment_["OMP_NUM_THREADS"] = "7";
  EXPECT_THAT(launch("echo $OMP_NUM_THREADS").out, HasSubstr("[1] 7\n"));
}

TEST_F(LaunchOnGpus, AreNamedByUuidWhereCudaMayCountOtherwise) {
  set_gpus({{"uuid", "MIG-22222222-0000-0000-0000-000000000002"}});
  const ToolResult result = launch("echo $CUDA_VISIBLE_DEVICES", {"--devices", "0"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("[0] GPU-"));
}

}  // namespace
}  // namespace lockstep
