// A disk that is really full: a small file system in memory.
#include "fakes/tool.h"
#include "run/checkpoint_index.h"
#include "run/run_dir.h"

#include <gtest/gtest.h>
#include <sys/mount.h>

#include <cerrno>
#include <cstring>
#include <fstream>

namespace lockstep {
namespace {

using testing::run_tool;
using testing::ToolResult;

class DiskFull : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(disk_);
    if (mount("none", disk_.c_str(), "tmpfs", 0, "size=2m") != 0)
      GTEST_SKIP() << "cannot mount a file system: " << std::strerror(errno);
    mounted_ = true;
    testing::write_corpus(folder_.path() / "corpus.txt", 9000);
  }
  void TearDown() override {
    if (mounted_) umount2(disk_.c_str(), MNT_DETACH);
  }
  // One checkpoint of this model takes about 0.4 MB.
  std::vector<std::string> train(const std::vector<std::string>& more) const {
    std::vector<std::string> words{
        "train", "textgen", "--devices", "cpu:2", "--name", "a", "run.root=" + disk_.string()};
    for (const std::string& option : testing::tiny(folder_.path() / "corpus.txt"))
      words.push_back(option);
    words.insert(words.end(), {"model.width=64", "checkpoint.every_steps=20"});
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  void fill() const {
    std::ofstream out(disk_ / "filler", std::ios::binary);
    const std::string block(4096, 'x');
    while (out.write(block.data(), 4096).flush()) continue;
  }

  TemporaryDirectory folder_;
  std::filesystem::path disk_ = folder_.path() / "disk";
  bool mounted_ = false;
};

TEST_F(DiskFull, TheRunGoesOnSaysSoAndKeepsTheLastGoodCheckpoint) {
  // Four checkpoints fit, a fifth beside them does not.
  const ToolResult result = run_tool(
      train({"stop.steps=200", "checkpoint.keep=100", "eval.every_steps=0"}), folder_.path());
  EXPECT_EQ(result.code, 75) << result.err;
  EXPECT_NE(result.err.find("No space left on device"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("step 200/200"), std::string::npos) << result.err;
  const auto good = newest_good(disk_ / "a/checkpoints");
  ASSERT_TRUE(good) << result.err;
  EXPECT_LT(good->step, 200);
  for (const CheckpointInfo& info : list_checkpoints(disk_ / "a/checkpoints", true))
    EXPECT_EQ(info.damage, "");
  // With room again the run goes on from there to its end.
  for (const CheckpointInfo& info : list_checkpoints(disk_ / "a/checkpoints", false))
    if (info.step != good->step) remove_checkpoint(info);
  const ToolResult resumed =
      run_tool({"resume", (disk_ / "a").string(), "--devices", "cpu:1", "checkpoint.keep=1"},
               folder_.path());
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(newest_good(disk_ / "a/checkpoints")->step, 200);
}

TEST_F(DiskFull, ARunThatCannotBeWrittenWholeLeavesNothing) {
  ASSERT_EQ(run_tool(train({"stop.steps=2"}), folder_.path()).code, 0);  // the text is prepared
  fill();
  std::filesystem::resize_file(disk_ / "filler",
                               std::filesystem::file_size(disk_ / "filler") - 8192);
  const ToolResult result = run_tool(train({"stop.steps=2", "--name", "half"}), folder_.path());
  EXPECT_EQ(result.code, 2) << result.err;
  EXPECT_NE(result.err.find("No space left on device"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("hint: "), std::string::npos) << result.err;
  EXPECT_FALSE(std::filesystem::exists(disk_ / "half"));
}

TEST_F(DiskFull, NoSpaceForARunIsAnErrorBeforeItStarts) {
  fill();
  const ToolResult result = run_tool(train({"stop.steps=10"}), folder_.path());
  EXPECT_EQ(result.code, 2) << result.err;
  EXPECT_NE(result.err.find("No space left on device"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("hint: "), std::string::npos) << result.err;
  EXPECT_FALSE(std::filesystem::exists(disk_ / "a"));
}

}  // namespace
}  // namespace lockstep
