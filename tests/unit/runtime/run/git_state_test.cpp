// What the configuration of a work tree names as a program does not run when git is asked about it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>

#include "core/base/text/text.h"
#include "run_fixtures.h"
#include "runtime/run/folder/run_dir.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

class GitPrograms : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::system("git --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "git is not installed";
    setenv("GIT_CEILING_DIRECTORIES", folder.path().c_str(), 1);
    fs::create_directory(ran);
    make(tree);
  }

  void git(const fs::path& in, const std::string& arguments) {
    ASSERT_EQ(std::system(cat("git -C '", in.string(),
                              "' -c user.name=a -c user.email=a@b.c "
                              "-c protocol.file.allow=always ",
                              arguments, " >/dev/null 2>&1")
                              .c_str()),
              0)
        << arguments;
  }
  void git(const std::string& arguments) { git(tree, arguments); }

  // A work tree with a commit: a.txt, which has the filter and the diff driver `x`, and b.
  void make(const fs::path& in) {
    fs::create_directories(in);
    git(in, "init -b trunk");
    put(in / ".gitattributes", "*.txt filter=x diff=x\n");
    put(in / "a.txt", "one\n");
    put(in / "b", "one\n");
    git(in, "add .");
    git(in, "commit -m one");
  }

  // Not as the index has it, so that git looks at the content, which has not changed.
  static void touch(const fs::path& file) {
    fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(24));
  }

  // The path of a program that leaves its name in `ran`.
  std::string program(const std::string& name, const std::string& file = {}) {
    const fs::path path = folder.path() / (file.empty() ? cat("program-", name) : file);
    fs::create_directories(path.parent_path());
    put(path, cat("#!/bin/sh\n: >'", (ran / name).string(), "'\nexec cat </dev/null\n"));
    chmod(path.c_str(), 0755);
    return path.string();
  }

  void config(const std::string& key, const std::string& value) {
    git(cat("config '", key, "' '", value, "'"));
  }

  // The state, which has commit and branch in any case; no program has run for it.
  nlohmann::json quiet_state() {
    const nlohmann::json state = git_state(tree);
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(ran)) names.insert(entry.path().filename());
    EXPECT_THAT(names, ::testing::IsEmpty());
    EXPECT_TRUE(state.is_object());
    if (!state.is_object()) return {{"dirty", "no state"}};
    EXPECT_EQ(state["commit"].get<std::string>().size(), 40u);
    EXPECT_EQ(state["branch"], "trunk");
    return state;
  }

  TemporaryDirectory folder;
  fs::path tree = folder.path() / "tree", ran = folder.path() / "ran";
};

TEST_F(GitPrograms, MonitorsOfFilesDoNotRun) {
  config("core.fsmonitor", program("monitor"));
  EXPECT_EQ(quiet_state()["dirty"], false);
  put(tree / "b", "two\n");
  EXPECT_EQ(quiet_state()["dirty"], true);
}

TEST_F(GitPrograms, FiltersOfContentDoNotRun) {
  for (const char* kind : {"clean", "process", "smudge"})
    config(cat("filter.x.", kind), program(kind));
  config("filter.x.required", "true");
  touch(tree / "a.txt");
  EXPECT_EQ(quiet_state()["dirty"], false);
}

TEST_F(GitPrograms, ACleanFilterByItselfDoesNotRun) {
  config("filter.x.clean", program("clean"));
  touch(tree / "a.txt");
  EXPECT_EQ(quiet_state()["dirty"], false);
}

TEST_F(GitPrograms, WhetherAFileWithAFilterHasChangedIsNotKnown) {
  config("filter.x.clean", program("clean"));
  put(tree / "a.txt", "another\n");
  EXPECT_TRUE(quiet_state()["dirty"].is_null());
  put(tree / "b", "another\n");
  EXPECT_EQ(quiet_state()["dirty"], true);
  git("checkout b");
  fs::remove(tree / "a.txt");
  EXPECT_EQ(quiet_state()["dirty"], true);
}

TEST_F(GitPrograms, FromAFolderBelowTheTopItIsTheSame) {
  config("filter.x.clean", program("clean"));
  fs::create_directory(tree / "below");
  put(tree / "b", "another\n");
  EXPECT_EQ(git_state(tree / "below")["dirty"], true);
}

TEST_F(GitPrograms, FiltersOfIncludedFilesAndOfWorkTreesDoNotRun) {
  put(tree / ".git" / "other", cat("[filter \"x\"]\nclean = ", program("included"), "\n"));
  config("include.path", "other");
  touch(tree / "a.txt");
  EXPECT_EQ(quiet_state()["dirty"], false);
  config("extensions.worktreeConfig", "true");
  put(tree / ".git" / "config.worktree",
      cat("[filter \"x\"]\nprocess = ", program("of-the-work-tree"), "\n"));
  EXPECT_EQ(quiet_state()["dirty"], false);
}

TEST_F(GitPrograms, AFilterThatNoOptionCanNameDoesNotRun) {
  config("filter.x=y.clean", program("clean"));
  put(tree / ".git" / "info" / "attributes", "*.txt filter=x=y\n");
  touch(tree / "a.txt");
  EXPECT_TRUE(quiet_state()["dirty"].is_null());
}

TEST_F(GitPrograms, HooksDoNotRun) {
  for (const char* hook : {"post-index-change", "reference-transaction", "pre-auto-gc"}) {
    program(hook, cat("hooks/", hook));
    fs::create_directories(tree / ".git" / "hooks");
    program(hook, cat("tree/.git/hooks/", hook));
  }
  touch(tree / "b");
  EXPECT_EQ(quiet_state()["dirty"], false);
  config("core.hooksPath", (folder.path() / "hooks").string());
  EXPECT_EQ(quiet_state()["dirty"], false);
}

TEST_F(GitPrograms, NothingElseThatAConfigurationNamesRuns) {
  for (const char* key : {"alias.config",
                          "alias.rev-parse",
                          "alias.status",
                          "alias.symbolic-ref",
                          "core.alternateRefsCommand",
                          "core.askPass",
                          "core.editor",
                          "core.gitProxy",
                          "core.pager",
                          "core.sshCommand",
                          "credential.helper",
                          "diff.external",
                          "diff.x.command",
                          "diff.x.textconv",
                          "gpg.program",
                          "interactive.diffFilter",
                          "merge.x.driver",
                          "pager.config",
                          "pager.status",
                          "sequence.editor"}) {
    const bool of_a_shell =
        std::string_view(key).starts_with("alias.") || std::string_view(key) == "credential.helper";
    config(key, cat(of_a_shell ? "!" : "", program(key)));
  }
  config("log.showSignature", "true");
  config("status.submoduleSummary", "true");
  config("gc.auto", "1");
  put(tree / "a.txt", "another\n");
  EXPECT_EQ(quiet_state()["dirty"], true);
}

TEST_F(GitPrograms, TheEnvironmentNamesNone) {
  for (const char* name : {"GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_SSH", "GIT_SSH_COMMAND",
                           "GIT_ASKPASS", "SSH_ASKPASS", "GIT_EDITOR"})
    setenv(name, program(name).c_str(), 1);
  setenv("GIT_CONFIG_COUNT", "1", 1);
  setenv("GIT_CONFIG_KEY_0", "filter.x.clean", 1);
  setenv("GIT_CONFIG_VALUE_0", program("of-the-environment").c_str(), 1);
  touch(tree / "a.txt");
  EXPECT_EQ(quiet_state()["dirty"], false);
  for (const char* name :
       {"GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_ASKPASS",
        "SSH_ASKPASS", "GIT_EDITOR", "GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_0", "GIT_CONFIG_VALUE_0"})
    unsetenv(name);
}

class GitSubmodules : public GitPrograms {
 protected:
  void SetUp() override {
    GitPrograms::SetUp();
    if (IsSkipped()) return;
    make(inside);
    git("-c protocol.file.allow=always submodule add ./inside inside");
    git("commit -m two");
  }
  fs::path inside = tree / "inside";
};

TEST_F(GitSubmodules, WhatTheirConfigurationNamesDoesNotRun) {
  git(inside, cat("config filter.x.clean '", program("clean"), "'"));
  git(inside, cat("config core.fsmonitor '", program("monitor"), "'"));
  config("submodule.inside.ignore", "none");
  config("diff.ignoreSubmodules", "none");
  config("submodule.recurse", "true");
  touch(inside / "a.txt");
  EXPECT_EQ(quiet_state()["dirty"], false);
  put(inside / "a.txt", "another\n");
  EXPECT_TRUE(quiet_state()["dirty"].is_null());
  put(inside / "b", "another\n");
  EXPECT_EQ(quiet_state()["dirty"], true);
}

TEST_F(GitSubmodules, AnotherCommitOfOneIsAChange) {
  EXPECT_EQ(quiet_state()["dirty"], false);
  git(inside, "commit --allow-empty -m three");
  EXPECT_EQ(quiet_state()["dirty"], true);
}

TEST_F(GitSubmodules, OneThatIsNotCheckedOutIsNoChange) {
  fs::remove_all(inside);
  fs::create_directory(inside);
  EXPECT_EQ(quiet_state()["dirty"], false);
}

TEST_F(GitSubmodules, OneWhoseWorkTreeIsElsewhereIsNotKnown) {
  git(inside, cat("config core.worktree '", tree.string(), "'"));
  EXPECT_TRUE(quiet_state()["dirty"].is_null());
}

// A partial clone that lacks the files of its commit: git would fetch them.
class PartialClones : public GitPrograms {
 protected:
  void lacks_its_files() {
    config("core.repositoryFormatVersion", "1");
    config("extensions.partialClone", "origin");
    config("remote.origin.promisor", "true");
    config("protocol.allow", "always");
    config("protocol.ext.allow", "always");
    for (const auto& entry : fs::recursive_directory_iterator(tree / ".git" / "objects"))
      if (entry.is_regular_file()) fs::remove(entry.path());
  }
};

TEST_F(PartialClones, FetchNothingByAProgramForTheAddress) {
  config("remote.origin.url", cat("ext::", program("ext"), " %S"));
  lacks_its_files();
  EXPECT_TRUE(quiet_state()["dirty"].is_null());
}

TEST_F(PartialClones, FetchNothingBySsh) {
  config("remote.origin.url", "ssh://host/repository");
  config("core.sshCommand", program("ssh"));
  lacks_its_files();
  EXPECT_TRUE(quiet_state()["dirty"].is_null());
}

TEST_F(PartialClones, FetchNothingByAProgramOfTheOtherSide) {
  git(folder.path(), "clone --bare tree other.git");
  config("remote.origin.url", cat("file://", (folder.path() / "other.git").string()));
  config("remote.origin.uploadpack", program("upload"));
  lacks_its_files();
  EXPECT_TRUE(quiet_state()["dirty"].is_null());
}

TEST_F(GitPrograms, AWorkTreeOfAnotherUserIsNull) {
  setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1", 1);
  const bool refuses =
      std::system(cat("git -C '", tree.string(), "' status >/dev/null 2>&1").c_str()) != 0;
  testing::internal::CaptureStderr();
  const nlohmann::json state = git_state(tree);
  const std::string said = testing::internal::GetCapturedStderr();
  unsetenv("GIT_TEST_ASSUME_DIFFERENT_OWNER");
  if (!refuses) GTEST_SKIP() << "this git does not ask whose a work tree is";
  EXPECT_TRUE(state.is_null());
  EXPECT_EQ(said, "");
}

}  // namespace
}  // namespace lockstep
