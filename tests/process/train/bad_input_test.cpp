// Bad input: error, hint, exit code 2, and nothing written.
#include "fakes/tool.h"
#include "run/run_dir.h"

#include <gtest/gtest.h>

#include <fstream>

namespace lockstep {
namespace {

using testing::run_tool;
using testing::ToolResult;

class BadInput : public ::testing::Test {
 protected:
  void SetUp() override { testing::write_corpus(folder.path() / "corpus.txt", 9000); }
  std::vector<std::string> train(std::vector<std::string> more) const {
    std::vector<std::string> words{"train", "textgen", "--devices", "cpu:2", "stop.steps=2"};
    for (const std::string& option : testing::tiny(folder.path() / "corpus.txt"))
      words.push_back(option);
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  // The tool refuses, names `what`, hints, and leaves no run.
  void refuses(const std::vector<std::string>& words, const std::string& what) const {
    const ToolResult result = run_tool(words, folder.path());
    EXPECT_EQ(result.code, 2) << what << "\n" << result.err;
    EXPECT_NE(result.err.find("error: "), std::string::npos) << result.err;
    EXPECT_NE(result.err.find("\n\nhint: "), std::string::npos) << result.err;
    EXPECT_NE(result.err.find(what), std::string::npos) << "expected: " << what << "\n"
                                                        << result.err;
    EXPECT_TRUE(runs().empty()) << what;
  }
  std::vector<RunDir> runs() const { return list_runs(folder.path() / "runs"); }
  std::filesystem::path write(const std::string& name, const std::string& text) const {
    std::ofstream(folder.path() / name, std::ios::binary) << text;
    return folder.path() / name;
  }

  TemporaryDirectory folder;
};

TEST_F(BadInput, UnknownOptionNamesTheNearest) {
  refuses(train({"optimizer.lrr=1"}), "optimizer.lr");
}
TEST_F(BadInput, UnknownRecipeNamesTheNearest) { refuses({"train", "textgn"}, "textgen"); }
TEST_F(BadInput, UnknownCommandNamesTheNearest) { refuses({"trian"}, "train"); }
TEST_F(BadInput, UnknownFlagNamesTheNearest) {
  refuses({"train", "textgen", "--device", "cpu"}, "--devices");
}
TEST_F(BadInput, ValueOutOfRange) { refuses(train({"optimizer.beta1=1.5"}), "optimizer.beta1"); }
TEST_F(BadInput, ValueOfTheWrongType) { refuses(train({"batch.micro=four"}), "batch.micro"); }
TEST_F(BadInput, BatchThatDoesNotDivideNamesNearestSizes) {
  refuses(train({"batch.global=13"}), "12 or 14");
}
TEST_F(BadInput, DeviceThatIsNotThere) {
  refuses({"train", "textgen", "--devices", "cuda:9"}, "cuda:9");
}
TEST_F(BadInput, MissingFile) { refuses(train({"data.path=nowhere.txt"}), "nowhere.txt"); }
TEST_F(BadInput, EmptyFile) {
  refuses(train({"data.path=" + write("e.txt", "").string()}), "empty");
}
TEST_F(BadInput, FileThatIsNotText) {
  refuses(train({"data.path=" + write("b.txt", std::string("ab\0cd\0\xff\xfe", 8)).string()}),
          "b.txt");
}
TEST_F(BadInput, CorpusShorterThanOneContext) {
  refuses(train({"data.path=" + write("s.txt", "short").string()}), "context");
}
TEST_F(BadInput, JsonlWithABadLineNamesFileAndLine) {
  refuses(train({"data.path=" + write("d.jsonl", "{\"text\": \"a\"}\n{\"text\": \n").string()}),
          "d.jsonl");
  const ToolResult result =
      run_tool(train({"data.path=" + (folder.path() / "d.jsonl").string()}), folder.path());
  EXPECT_NE(result.err.find("2"), std::string::npos) << result.err;
}
TEST_F(BadInput, ConfigWithASyntaxErrorNamesFileAndLine) {
  std::vector<std::string> words = train({});
  words.insert(words.end(), {"--config", write("c.toml", "seed = 1\n[batch\n").string()});
  refuses(words, "c.toml");
}
TEST_F(BadInput, RunThatDoesNotExist) { refuses({"resume", "nothing"}, "nothing"); }
TEST_F(BadInput, RunNameWithASlash) { refuses(train({"--name", "a/b"}), "a/b"); }
TEST_F(BadInput, ExactModeIsRefusedUntilItIsThere) { refuses(train({"exact=true"}), "exact"); }

TEST_F(BadInput, RunRootThatCannotBeMade) {
  write("file", "x");
  const ToolResult result = run_tool(train({"run.root=file/runs"}), folder.path());
  EXPECT_EQ(result.code, 2) << result.err;
  EXPECT_NE(result.err.find("error: "), std::string::npos);
}

TEST_F(BadInput, RunRootWithoutPermissionToWrite) {
  std::filesystem::create_directory(folder.path() / "closed");
  std::filesystem::permissions(folder.path() / "closed", std::filesystem::perms::owner_read |
                                                             std::filesystem::perms::owner_exec);
  std::vector<std::string> words = train({"run.root=closed/runs"});
  words.insert(words.begin(), testing::program("lockstep"));
  const ToolResult result = testing::without_root_powers(words, folder.path());
  EXPECT_EQ(result.code, 2) << result.err;
  EXPECT_NE(result.err.find("closed/runs"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("ermission denied"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("hint: "), std::string::npos) << result.err;
  EXPECT_TRUE(std::filesystem::is_empty(folder.path() / "closed"));
}

TEST_F(BadInput, RunThatCannotBeWrittenToIsReadWithInto) {
  ASSERT_EQ(run_tool(train({"--name", "a"}), folder.path()).code, 0);
  const auto closed = folder.path() / "runs/a";
  std::filesystem::permissions(
      closed, std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  std::vector<std::string> words{
      testing::program("lockstep"), "resume", "a", "--devices", "cpu:1", "stop.steps=4"};
  const ToolResult refused = testing::without_root_powers(words, folder.path());
  EXPECT_EQ(refused.code, 2) << refused.err;
  EXPECT_NE(refused.err.find("--into"), std::string::npos) << refused.err;
  words.insert(words.end(), {"--into", "b"});
  const ToolResult gone_on = testing::without_root_powers(words, folder.path());
  EXPECT_EQ(gone_on.code, 0) << gone_on.err;
  EXPECT_EQ(RunDir::open("b", folder.path() / "runs").state(), RunState::finished);
  std::filesystem::permissions(closed, std::filesystem::perms::owner_all);
}

TEST_F(BadInput, RunNameTakenLeavesTheOldRunAlone) {
  ASSERT_EQ(run_tool(train({"--name", "a"}), folder.path()).code, 0);
  const std::string before = read_file(folder.path() / "runs/a/run.json");
  const ToolResult result = run_tool(train({"--name", "a"}), folder.path());
  EXPECT_EQ(result.code, 2);
  EXPECT_NE(result.err.find("a"), std::string::npos);
  EXPECT_EQ(read_file(folder.path() / "runs/a/run.json"), before);
}

TEST_F(BadInput, LockedRunIsNotResumedAndNamesTheHolder) {
  ASSERT_EQ(run_tool(train({"--name", "a"}), folder.path()).code, 0);
  RunDir holder = RunDir::open("a", folder.path() / "runs");
  holder.lock();
  const ToolResult result =
      run_tool({"resume", "a", "stop.steps=4", "--devices", "cpu:1"}, folder.path());
  EXPECT_EQ(result.code, 2);
  EXPECT_NE(result.err.find(std::to_string(getpid())), std::string::npos) << result.err;
}

TEST_F(BadInput, CheckpointOfAnotherModelIsRefused) {
  ASSERT_EQ(run_tool(train({"--name", "a"}), folder.path()).code, 0);
  const ToolResult result = run_tool(
      {"resume", "a", "stop.steps=4", "model.width=32", "--devices", "cpu:1"}, folder.path());
  EXPECT_EQ(result.code, 2);
  EXPECT_NE(result.err.find("model.width"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace lockstep
