// gpu.csv of `lockstep train` on GPUs of a fake NVML: the real tool, beside a worker that only
// says that it made a step.
#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/base/text/text.h"
#include "fakes/nvml_machine.h"
#include "fakes/tool.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

class TrainGpuLog : public ::testing::Test, public testing::NvmlMachine {
 protected:
  TrainGpuLog() {
    const nlohmann::json able{{"memory", 16LL << 30}, {"major", 9}, {"minor", 0}};
    nlohmann::json idle = able;
    idle["utilization"] = 3;
    idle["gpm"] = nullptr;
    const nlohmann::json machine{
        {"driver", "580.65.06"}, {"cuda", 13000}, {"gpus", {gpu(0, able), gpu(1, idle)}}};
    write_file_atomic(folder_.path() / "gpus.json", machine.dump());
    fs::create_directory(bin());
    fs::copy_file(testing::program("lockstep"), bin() / "lockstep");
    write_file_atomic(bin() / "liblockstep-cuda.so", "");
    write_file_atomic(
        bin() / "lockstep-worker",
        "#!/bin/bash\n"
        "[ \"$RANK\" = 0 ] && echo '{\"kind\":\"step\",\"step\":1}' >&$LOCKSTEP_EVENTS_FD\n"
        "sleep 1.2\n");
    fs::permissions(bin() / "lockstep-worker", fs::perms::owner_all);
    testing::write_corpus(folder_.path() / "text.txt", 20000);
    environment_["CUDA_VISIBLE_DEVICES"] = "0,1";
  }
  fs::path bin() const { return folder_.path() / "bin"; }
  std::string log() const { return read_file(folder_.path() / "runs/r/gpu.csv"); }
  testing::ToolResult tool(std::vector<std::string> words) {
    words.insert(words.begin(), (bin() / "lockstep").string());
    return testing::ToolProcess(words, folder_.path(), environment_).wait();
  }
  testing::ToolResult train(const std::vector<std::string>& more) {
    std::vector<std::string> words{"train", "textgen", "--name", "r", "batch.micro=6"};
    const std::vector<std::string> options = testing::tiny(folder_.path() / "text.txt");
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), more.begin(), more.end());
    return tool(words);
  }
};

TEST_F(TrainGpuLog, RecordsTheGpusAndNamesTheOneThatIdles) {
  const testing::ToolResult result = train({"log.gpu_every=0.2s"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(log(), HasSubstr("time,gpu,uuid,busy_percent,"));
  EXPECT_THAT(log(), HasSubstr(",0,GPU-00,50,30.0,"));
  EXPECT_THAT(log(), HasSubstr(",1,GPU-01,3,,0,,"));
  EXPECT_THAT(log(), HasSubstr(",1,4096\n")) << "this test is another tenant";
  EXPECT_THAT(result.err, HasSubstr("mean activity: GPU 0 busy 50 % (SMs 30 %), GPU 1 busy 3 %; "
                                    "over time in runs/r/gpu.csv"));
  EXPECT_THAT(result.err,
              HasSubstr("warning: GPU 1 was idle for most of the run: lockstep doctor"));
}

TEST_F(TrainGpuLog, ZeroIsOff) {
  const testing::ToolResult result = train({"log.gpu_every=0"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_FALSE(fs::exists(folder_.path() / "runs/r/gpu.csv"));
  EXPECT_THAT(result.err, Not(HasSubstr("mean activity")));
}

TEST_F(TrainGpuLog, ARunOnCpusWritesNone) {
  const testing::ToolResult result = train({"--devices", "cpu:2", "log.gpu_every=0.2s"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_FALSE(fs::exists(folder_.path() / "runs/r/gpu.csv"));
}

}  // namespace
}  // namespace lockstep
