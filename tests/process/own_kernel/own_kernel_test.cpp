// The example trains without a GPU: the same curve on any number of ranks, in every type.
#include "fakes/task_runs.h"
#include "fakes/tenths.h"

#include <algorithm>
#include <fstream>
#include <iterator>

namespace lockstep {
namespace {

struct OwnKernel : testing::TaskRuns {
  OwnKernel() : TaskRuns("own-kernel") {}
  void train_well(const std::string& name, const std::string& devices, const Words& more) const {
    const testing::ToolResult result = train("own_kernel", name, devices, more);
    ASSERT_EQ(result.code, 0) << result.err;
  }
  double explained(const std::string& name) const {
    return events(name, "eval").back().at("metrics").at("explained");
  }
};

TEST_F(OwnKernel, LearnsTheLandAlikeOn1And3Ranks) {
  if (!testing::has_turn_twice(3)) GTEST_SKIP() << testing::in_another_tenth;
  for (const char* ranks : {"1", "3"})
    train_well(ranks, std::string("cpu:") + ranks, {"precision=fp32", "stop.epochs=20"});
  expect_same_curve("3", "1", 1e-4);
  EXPECT_GT(explained("1"), 0.98);
  EXPECT_GT(explained("3"), 0.98);
}

TEST_F(OwnKernel, LearnsInShortTypes) {
  if (!testing::has_turn_twice(0)) GTEST_SKIP() << testing::in_another_tenth;
  for (const char* type : {"bf16", "fp16"}) {
    train_well(type, "cpu:1", {std::string("precision=") + type, "stop.epochs=20"});
    EXPECT_GT(explained(type), 0.97) << type;
  }
}

// What a machine without CUDA would have.
TEST_F(OwnKernel, NeedsNothingOfCudaOnTheCpu) {
  const std::filesystem::path alone = folder.path() / "libalone.so";
  std::filesystem::copy(plugin, alone);
  Words words = train_words("own_kernel", "alone", "cpu:1", {"stop.steps=3"});
  std::replace(words.begin(), words.end(), plugin, alone.string());
  const testing::ToolResult result = testing::run_tool(words, folder.path());
  EXPECT_EQ(result.code, 0) << result.err;
  std::ifstream in(alone, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), {});
  for (const char* library : {"libcudart.so", "libc10_cuda.so", "libtorch_cuda.so"})
    EXPECT_EQ(bytes.find(library), std::string::npos) << library;
}

// Each gradient is a sum in one fixed order.
TEST_F(OwnKernel, HasTheSameBitsOn1And2RanksInExactMode) {
  for (const char* ranks : {"1", "2"})
    train_well(ranks, std::string("cpu:") + ranks, {"exact=true", "stop.steps=30"});
  const auto one = steps("1"), two = steps("2");
  ASSERT_EQ(one.size(), 30U);
  for (const auto& [step, event] : one)
    EXPECT_EQ(event.at("grad_norm"), two.at(step).at("grad_norm")) << step;
}

}  // namespace
}  // namespace lockstep
