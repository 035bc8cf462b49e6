// What killed processes leave of files is removed by the next one, and nobody else's.
#include "core/base/files/new_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <vector>

#include "core/base/files/files.h"
#include "core/base/files/unfinished.h"
#include "core/base/text/text.h"
#include "fakes/error_of.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> names_of(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  return names;
}

pid_t start_child(const std::function<void()>& action) {
  const pid_t child = fork();
  if (child == 0) {
    action();
    _exit(0);
  }
  return child;
}

void end_child(pid_t child) {
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

TEST(NewFile, IsThereWholeOrNotAtAll) {
  const TemporaryDirectory folder;
  {
    NewFile file(folder.path() / "a.txt");
    file.append("one");
    EXPECT_FALSE(fs::exists(folder.path() / "a.txt"));
    file.append(" two");
    file.commit();
  }
  EXPECT_EQ(read_file(folder.path() / "a.txt"), "one two");
  NewFile(folder.path() / "a.txt").append("half");
  EXPECT_EQ(read_file(folder.path() / "a.txt"), "one two");
  EXPECT_THAT(names_of(folder.path()), ElementsAre("a.txt"));
}

TEST(NewFile, ThatCannotBeMadeNamesTheFileAsItWasGiven) {
  EXPECT_THAT(error_of([] { NewFile("no/such/folder/a.txt"); }),
              HasSubstr("cannot write no/such/folder/a.txt: No such file"));
  const TemporaryDirectory folder;
  fs::create_directories(folder.path() / "a/b");
  EXPECT_THAT(error_of([&] { write_file_atomic(folder.path() / "a", "x"); }),
              HasSubstr("/a: Is a dir"));
  EXPECT_THAT(names_of(folder.path()), ElementsAre("a"));
}

TEST(NewFile, AVeryLongNameGoes) {
  const TemporaryDirectory folder;
  const std::string name(255, 'x');
  write_file_atomic(folder.path() / name, "text");
  EXPECT_EQ(read_file(folder.path() / name), "text");
}

// The same process looks into a folder once, so that a child is the next command.
TEST(Unfinished, WhatAKilledProcessLeftGoesWithTheNext) {
  const TemporaryDirectory folder;
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t killed = start_child([&] {
    NewFile file(folder.path() / "report.html");
    file.append("half");
    const Beneath in(folder.path());
    in.make_folder(unfinished_name("step-000000012"));
    [[maybe_unused]] const ssize_t told = write(ready[1], "x", 1);
    pause();
  });
  char told = 0;
  ASSERT_EQ(read(ready[0], &told, 1), 1);
  ASSERT_EQ(names_of(folder.path()).size(), 2U);
  end_child(start_child([&] {
    write_file_atomic(folder.path() / "other", "x");
    pause();
  }));
  const auto write_next = [&] {
    const pid_t next = start_child([&] { write_file_atomic(folder.path() / "next", "x"); });
    waitpid(next, nullptr, 0);
  };
  write_next();
  std::vector<std::string> names = names_of(folder.path());
  EXPECT_GE(names.size(), 3U) << "its process lives";
  end_child(killed);
  fs::remove(folder.path() / "other");
  write_next();
  EXPECT_THAT(names_of(folder.path()), ElementsAre("next"));
  close(ready[0]);
  close(ready[1]);
}

TEST(Unfinished, FilesOfOthersStay) {
  const TemporaryDirectory folder;
  const std::string owner = owner_name();
  const std::vector<std::string> parts = split(owner, '-');
  ASSERT_EQ(parts.size(), 3U);
  for (const std::string& name :
       {std::string(".a.tmp"), std::string(".a.1.2.tmp"), std::string("a.1-x-2.0.tmp"),
        cat(".a.", owner, ".0.tmp"),                    // lives
        cat(".a.999999999-00000000-5.0.tmp"),           // of another machine, just now
        cat(".a.", parts[0], "-", parts[1], ".0.tmp"),  // no such name
        std::string(".a.999999999-.0.tmp"), std::string(".tmp")})
    std::ofstream(folder.path() / name) << "mine";
  const std::string dead = cat(".a.999999999-", parts[1], "-5.0.tmp");
  fs::create_directories(folder.path() / dead / "with a folder");
  const std::size_t before = names_of(folder.path()).size();
  const pid_t next = start_child([&] { remove_abandoned(Beneath(folder.path())); });
  waitpid(next, nullptr, 0);
  EXPECT_EQ(names_of(folder.path()).size(), before);
  fs::remove(folder.path() / dead / "with a folder");
  const pid_t last = start_child([&] { remove_abandoned(Beneath(folder.path())); });
  waitpid(last, nullptr, 0);
  EXPECT_EQ(names_of(folder.path()).size(), before - 1) << dead << " is a killed process's";
}

TEST(Unfinished, AProcessWithTheSameNumberIsAnother) {
  const TemporaryDirectory folder;
  const std::vector<std::string> parts = split(owner_name(), '-');
  const std::string of_an_earlier = cat(".a.", parts[0], "-", parts[1], "-1.0.tmp");
  std::ofstream(folder.path() / of_an_earlier) << "half";
  const pid_t next = start_child([&] { remove_abandoned(Beneath(folder.path())); });
  waitpid(next, nullptr, 0);
  EXPECT_THAT(names_of(folder.path()), IsEmpty());
}

TEST(TemporaryDirectories, OfKilledProcessesGoWithTheNext) {
  const TemporaryDirectory root;
  const char* const before = getenv("TMPDIR");
  const std::string kept = before == nullptr ? "" : before;
  setenv("TMPDIR", root.path().c_str(), 1);
  const pid_t killed = start_child([] {
    const TemporaryDirectory folder;
    fs::create_directories(folder.path() / "a/b");
    kill(getpid(), SIGKILL);
  });
  waitpid(killed, nullptr, 0);
  fs::create_directories(root.path() / "lockstep-mine");
  fs::create_directories(root.path() / "lockstep-1000/cache");
  EXPECT_EQ(names_of(root.path()).size(), 3U);
  {
    const TemporaryDirectory living;
    const pid_t next = start_child([] { const TemporaryDirectory folder; });
    waitpid(next, nullptr, 0);
    EXPECT_TRUE(fs::exists(living.path()));
  }
  EXPECT_THAT(names_of(root.path()),
              ::testing::UnorderedElementsAre("lockstep-mine", "lockstep-1000"));
  kept.empty() ? unsetenv("TMPDIR") : setenv("TMPDIR", kept.c_str(), 1);
}

}  // namespace
}  // namespace lockstep
