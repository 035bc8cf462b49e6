// A disk that is really full: a small file system in memory.
#include "fakes/tool.h"
#include "runtime/run/checkpoint/checkpoint_index.h"
#include "runtime/run/events/samples.h"
#include "runtime/run/folder/run_dir.h"

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstring>
#include <fstream>

namespace lockstep {
namespace {

using testing::run_tool;
using testing::operator+;
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

// The same where files may not be longer than a checkpoint's (ulimit -f).
class FileSizeLimit : public ::testing::Test {
 protected:
  FileSizeLimit() {
    getrlimit(RLIMIT_FSIZE, &limit_);
    testing::write_corpus(folder_.path() / "corpus.txt", 9000);
  }
  // Under a limit of so many bytes.
  ToolResult run(const std::vector<std::string>& words, rlim_t bytes) const {
    const rlimit less{.rlim_cur = bytes, .rlim_max = limit_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &less);
    testing::ToolProcess tool(words, folder_.path());  // inherits it
    setrlimit(RLIMIT_FSIZE, &limit_);
    return tool.wait();
  }

  TemporaryDirectory folder_;
  rlimit limit_{};
};

TEST_F(FileSizeLimit, TheRunGoesOnWithoutACheckpointAndSaysSo) {
  std::vector<std::string> words{
      testing::program("lockstep"), "train", "textgen", "--devices", "cpu:2", "--name", "a"};
  words = words + testing::tiny(folder_.path() / "corpus.txt") +
          std::vector<std::string>{"run.root=" + folder_.path().string(), "model.width=64",
                                   "checkpoint.every_steps=20", "stop.steps=60"};
  const ToolResult result = run(words, rlim_t{200} << 10);
  EXPECT_EQ(result.code, 75) << result.err;
  EXPECT_NE(result.err.find("no checkpoint at step 20"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("File too large; the run goes on"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("step 60/60"), std::string::npos) << result.err;
  EXPECT_FALSE(newest_good(folder_.path() / "a/checkpoints"));
}

TEST_F(FileSizeLimit, SamplesAreNoLongerRecordedThenAndTrainingGoesOn) {
  std::vector<std::string> words{
      testing::program("lockstep"), "train", "textgen", "--devices", "cpu:1", "--name", "a"};
  words = words + testing::tiny(folder_.path() / "corpus.txt") +
          std::vector<std::string>{"run.root=" + folder_.path().string(),
                                   "run.record_samples=true",
                                   "log.every_steps=1000",
                                   "eval.every_steps=0",
                                   "checkpoint.every_steps=0",
                                   "stop.steps=1000"};
  const ToolResult result = run(words, rlim_t{32} << 10);
  EXPECT_NE(result.err.find("samples are no longer recorded: cannot write "), std::string::npos)
      << result.err;
  EXPECT_NE(result.err.find("step 1000/1000"), std::string::npos) << result.err;
  const auto samples = effective_samples(folder_.path() / "a");
  EXPECT_GT(samples.size(), 100u);
  EXPECT_LT(samples.size(), 1000u);
  EXPECT_TRUE(read_file(folder_.path() / "a/samples.jsonl").ends_with("]}\n"));
}

TEST_F(FileSizeLimit, ProgramsThatWeStartEndAsTheyWouldByThemselves) {
  const ToolResult result = run({testing::program("lockstep"), "launch", "--devices", "cpu:1", "--",
                                 "sh", "-c", "kill -XFSZ $$; sleep 60"},
                                rlim_t{1} << 20);
  EXPECT_NE(result.err.find("killed by signal 25"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace lockstep
