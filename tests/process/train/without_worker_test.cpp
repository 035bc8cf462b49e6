// The tool in other places than its build: without a worker, and as a wheel installs it.
#include "fakes/tool.h"
#include "runtime/run/folder/run_dir.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class WithoutWorker : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(prefix() / "bin");
    fs::copy_file(testing::program("lockstep"), prefix() / "bin/lockstep");
    testing::write_corpus(folder.path() / "corpus.txt", 9000);
  }
  void add_program(const std::string& name, const std::string& script) const {
    write_file_atomic(prefix() / "bin" / name, "#!/bin/sh\n" + script + "\n");
    fs::permissions(prefix() / "bin" / name, fs::perms::owner_all);
  }
  // Training is refused with this message, and leaves no run.
  void refuses(const std::string& what) const {
    std::vector<std::string> words{(prefix() / "bin/lockstep").string(), "train", "textgen",
                                   "--devices", "cpu:2"};
    for (const std::string& option : testing::tiny(folder.path() / "corpus.txt"))
      words.push_back(option);
    const testing::ToolResult result = testing::ToolProcess(words, folder.path()).wait();
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_THAT(result.err, HasSubstr(what));
    EXPECT_TRUE(list_runs(folder.path() / "runs").empty());
  }
  fs::path prefix() const { return folder.path() / "prefix"; }

  TemporaryDirectory folder;
};

TEST_F(WithoutWorker, TrainingIsRefusedBeforeThereIsARun) { refuses("needs LibTorch"); }

TEST_F(WithoutWorker, AWheelWithoutTorchSaysSoBeforeThereIsARun) {
  add_program("lockstep-worker", "exit 1");
  fs::create_directories(prefix() / "lib/lockstep/torch-2.11");
  add_program("python3", "echo torch-is-in:");
  refuses("needs torch, which " + (prefix() / "bin/python3").string() + " does not find");
}

TEST_F(WithoutWorker, AWheelBesideAnotherTorchNamesBothVersions) {
  add_program("lockstep-worker", "exit 1");
  fs::create_directories(prefix() / "lib/lockstep/torch-2.11");
  fs::create_directories(prefix() / "torch");
  write_file_atomic(prefix() / "torch/version.py", "__version__ = '2.10.0'\n");
  add_program("python3", "echo torch-is-in:" + (prefix() / "torch").string());
  refuses("torch 2.10.0 in " + (prefix() / "torch").string() +
          " is not a version that this Lockstep was built for: 2.11");
}

}  // namespace
}  // namespace lockstep
