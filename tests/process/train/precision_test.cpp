// A run keeps the precision that it began with, and says so where the devices would do another.
#include "core/base/files/files.h"
#include "fakes/tool.h"
#include "runtime/run/checkpoint/checkpoint_index.h"
#include "runtime/run/folder/run_dir.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace lockstep {
namespace {

using testing::run_tool;
using testing::ToolResult;
using Words = std::vector<std::string>;

class RunPrecision : public ::testing::Test {
 protected:
  void SetUp() override { testing::write_corpus(corpus, 6000); }

  ToolResult tool(Words words) const { return run_tool(std::move(words), folder.path()); }
  ToolResult train(const std::string& precision) const {
    Words words{"train", "textgen", "--devices", "cpu:1", "--name", "run"};
    for (const std::string& word : testing::tiny(corpus)) words.push_back(word);
    words.insert(words.end(), {"precision=" + precision, "stop.steps=2"});
    return tool(words);
  }
  nlohmann::json recorded(const std::string& key) const {
    return RunDir::open((folder.path() / "runs/run").string(), "").record().at("config").at(key);
  }
  nlohmann::json saved_precision() const {
    const auto all = list_checkpoints(folder.path() / "runs/run/checkpoints", false);
    return nlohmann::json::parse(read_file(all.back().path / "state.json")).at("precision");
  }

  TemporaryDirectory folder;
  std::filesystem::path corpus = folder.path() / "corpus.txt";
};

TEST_F(RunPrecision, IsResolvedInTheRecord) {
  const ToolResult trained = train("auto");
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_EQ(recorded("precision"), "fp32");
  EXPECT_NE(trained.err.find("shorter types are slower on most CPUs"), std::string::npos)
      << trained.err;
}

TEST_F(RunPrecision, StaysWhenTheRunGoesOnUnlessAnotherIsAskedFor) {
  ASSERT_EQ(train("bf16").code, 0);
  const ToolResult same = tool({"resume", "run", "--devices", "cpu:1", "stop.steps=3"});
  ASSERT_EQ(same.code, 0) << same.err;
  EXPECT_EQ(recorded("precision"), "bf16");
  EXPECT_NE(same.err.find("warning: bf16 is slower than fp32"), std::string::npos) << same.err;
  EXPECT_EQ(saved_precision(), "bf16");
  const ToolResult other =
      tool({"resume", "run", "--devices", "cpu:1", "stop.steps=4", "precision=auto"});
  ASSERT_EQ(other.code, 0) << other.err;
  EXPECT_EQ(recorded("precision"), "fp32");
  EXPECT_EQ(saved_precision(), "fp32");
}

TEST_F(RunPrecision, OfARunThatIsOnlyReadMayBeFp32) {
  ASSERT_EQ(train("bf16").code, 0);
  for (const char* command : {"evaluate", "predict"}) {
    const ToolResult read = tool({command, "run", "--devices", "cpu:1"});
    ASSERT_EQ(read.code, 0) << read.err;
    EXPECT_NE(read.err.find("computing in fp32: the run trained in bf16"), std::string::npos)
        << read.err;
  }
  EXPECT_EQ(recorded("precision"), "bf16");
}

}  // namespace
}  // namespace lockstep
