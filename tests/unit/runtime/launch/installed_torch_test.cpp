#include "runtime/launch/engine/installed_torch.h"

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

// An environment with a Python that answers as the test says, and a package of torch.
class InstalledTorchTest : public ::testing::Test {
 protected:
  void python_answers(const std::string& answer, int code = 0) {
    fs::create_directories(prefix() / "bin");
    const fs::path python = prefix() / "bin/python3";
    write_file_atomic(python, cat("#!/bin/sh\n", answer, "\nexit ", code, "\n"));
    fs::permissions(python, fs::perms::owner_all);
  }
  void python_finds(const fs::path& folder) {
    python_answers(cat("echo a site module prints; echo \"torch-is-in:", folder.string(), "\""));
  }
  fs::path torch(const std::string& version_py) {
    const fs::path folder = prefix() / "torch";
    fs::create_directories(folder);
    write_file_atomic(folder / "version.py", version_py);
    return folder;
  }
  std::string error() {
    try {
      find_torch(prefix());
    } catch (const Error& found) {
      return cat(found.what(), "\n", found.hint());
    }
    return "no error";
  }
  fs::path prefix() const { return folder_.path(); }

 private:
  TemporaryDirectory folder_;
};

TEST_F(InstalledTorchTest, IsWherePythonOfTheSamePrefixFindsIt) {
  const fs::path folder = torch("from typing import Optional\n__version__ = '2.12.1+cu130'\n");
  python_finds(folder);
  const InstalledTorch found = find_torch(prefix());
  EXPECT_EQ(found.folder, folder);
  EXPECT_EQ(found.version, "2.12.1+cu130");
}

TEST_F(InstalledTorchTest, ThatIsMissingIsAnErrorWithTheCommandThatInstallsIt) {
  python_finds("");
  EXPECT_THAT(error(), AllOf(HasSubstr("needs torch, which " + (prefix() / "bin/python3").string() +
                                       " does not find"),
                             HasSubstr("pip install 'torch>=2.11,<2.16'")));
}

TEST_F(InstalledTorchTest, WithoutAVersionIsAnError) {
  python_finds(torch("git_version = 'abc'\n"));
  EXPECT_THAT(error(), HasSubstr("version.py says no version"));
  fs::remove(prefix() / "torch/version.py");
  EXPECT_THAT(error(), HasSubstr("version.py says no version"));
}

TEST_F(InstalledTorchTest, APythonThatFailsIsAnError) {
  python_answers("", 3);
  EXPECT_THAT(error(), HasSubstr("ended with code 3"));
}

// The question itself, put to a real Python.
TEST_F(InstalledTorchTest, IsNotAFolderOfThatNameInTheCurrentDirectory) {
  if (std::system("python3 --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "there is no python3";
  const fs::path sites = prefix() / "site", here = prefix() / "here";
  for (const fs::path& folder : {sites / "torch", here / "torch"}) {
    fs::create_directories(folder);
    write_file_atomic(folder / "__init__.py", "raise RuntimeError('imported')\n");
    write_file_atomic(folder / "version.py", "__version__ = \"2.11.0\"\n");
  }
  const fs::path before = fs::current_path();
  fs::current_path(here);
  setenv("PYTHONPATH", sites.c_str(), 1);
  const InstalledTorch found = find_torch(prefix());
  unsetenv("PYTHONPATH");
  fs::current_path(before);
  EXPECT_EQ(found.folder, sites / "torch");
  EXPECT_EQ(found.version, "2.11.0");
}

TEST(MinorVersion, IsTheFirstTwoNumbers) {
  EXPECT_EQ(minor_version("2.11.0+cu130"), "2.11");
  EXPECT_EQ(minor_version("2.15.0a0+git1234"), "2.15");
  EXPECT_EQ(minor_version("2.13"), "2.13");
  for (const char* text : {"", "2", "two.1", "2.x", ".11"}) EXPECT_EQ(minor_version(text), "");
}

TEST_F(InstalledTorchTest, DecidesWhichEngineRuns) {
  EXPECT_FALSE(find_engine(prefix()));  // no wheel: Python is not asked
  for (const char* name : {"torch-2.11", "torch-2.9", "torch-2.12", "lightgbm"})
    fs::create_directories(prefix() / "lib/lockstep" / name);
  python_finds(torch("__version__ = '2.12.1+cpu'\n"));
  const std::optional<WheelEngine> engine = find_engine(prefix());
  ASSERT_TRUE(engine);
  EXPECT_EQ(engine->folder, prefix() / "lib/lockstep/torch-2.12");
  EXPECT_EQ(engine->torch.version, "2.12.1+cpu");
  torch("__version__ = '2.10.0'\n");
  try {
    find_engine(prefix());
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("torch 2.10.0 in " + (prefix() / "torch").string() + " is not"),
                      HasSubstr("2.9, 2.11, 2.12")));
    EXPECT_THAT(error.hint(), HasSubstr("pip install 'torch==2.12.*'"));
  }
}

}  // namespace
}  // namespace lockstep
