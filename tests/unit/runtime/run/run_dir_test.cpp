// Run directories: made once, found again, locked.
#include "runtime/run/folder/run_dir.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <thread>

#include "core/base/process/host_name.h"
#include "core/base/text/text.h"
#include "planning/direct_recipe.h"
#include "run_fixtures.h"

namespace lockstep {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

class RunDirs : public ::testing::Test {
 protected:
  RunDir make(const std::string& name, double started = 0) {
    RunDir run = RunDir::create(root, name, "toy");
    run.write_record({{"recipe", "toy"}, {"started", started}});
    return run;
  }
  std::string refusal(const std::string& name) {
    return error_if_any([&] { RunDir::create(root, name, "toy"); });
  }

  TemporaryDirectory folder;
  std::filesystem::path root = folder.path() / "deep" / "runs";
};

TEST_F(RunDirs, AreMadeWithTheirFolders) {
  const RunDir run = RunDir::create(root, "first", "toy");
  EXPECT_EQ(run.path(), root / "first");
  EXPECT_EQ(run.name(), "first");
  EXPECT_TRUE(std::filesystem::is_directory(run.checkpoints()));
  EXPECT_EQ(run.log_path(3), root / "first" / "logs" / "rank3.log");
  EXPECT_TRUE(std::filesystem::is_directory(run.log_path(3).parent_path()));
  EXPECT_EQ(run.events_path(), root / "first" / "events.jsonl");
}

TEST_F(RunDirs, ANameIsTakenOnlyOnce) {
  make("first");
  EXPECT_THAT(refusal("first"), HasSubstr("is there already"));
  EXPECT_THAT(refusal("first"), HasSubstr("lockstep resume first"));
}

// A shell would take them apart otherwise.
TEST_F(RunDirs, HintsQuoteNamesInCommands) {
  make("task2&3");
  EXPECT_THAT(refusal("task2&3"), HasSubstr("`lockstep resume 'task2&3'`"));
  std::filesystem::create_directories(root / "a b");
  put(root / "a b" / "batch.json", "{}");
  try {
    RunDir::open("a b", root);
    FAIL() << "it was opened";
  } catch (const Error& error) {
    EXPECT_THAT(error.hint(), ::testing::AllOf(HasSubstr("`lockstep batch status 'a b'`"),
                                               HasSubstr("`lockstep report 'a b'`")));
  }
}

TEST_F(RunDirs, OfARecipeThatTrainsInTheToolAreNotResumed) {
  register_direct_recipe({.name = "direct-toy", .summary = "", .make_options = {}});
  RunDir::create(root, "first", "direct-toy").write_record({{"recipe", "direct-toy"}});
  EXPECT_THAT(refusal("first"), HasSubstr("choose another name with --name"));
  EXPECT_THAT(refusal("first"), ::testing::Not(HasSubstr("lockstep resume")));
}

TEST_F(RunDirs, ANameIsCheckedWithoutMakingAnything) {
  EXPECT_EQ(error_if_any([&] { RunDir::check_new(root, "first"); }), "");
  EXPECT_EQ(error_if_any([&] { RunDir::check_new(root, ""); }), "");
  EXPECT_FALSE(std::filesystem::exists(root));
  EXPECT_THAT(error_if_any([&] { RunDir::check_new(root, "a/b"); }), HasSubstr("contains /"));
  make("first");
  EXPECT_EQ(error_if_any([&] { RunDir::check_new(root, "first"); }), refusal("first"));
}

TEST_F(RunDirs, OnlyOneOfManyGetsTheNameAtTheSameTime) {
  std::atomic<int> made = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) threads.emplace_back([&] { made += refusal("same").empty(); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made, 1);
}

TEST_F(RunDirs, ManyWithoutANameAtTheSameTimeGetOneEach) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) threads.emplace_back([&] { RunDir::create(root, "", "toy"); });
  for (std::thread& thread : threads) thread.join();
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(root)) {
    ++count;
    EXPECT_THAT(entry.path().filename().string(), MatchesRegex("toy-[0-9]{8}-[0-9]{6}(-[0-9]+)?"));
  }
  EXPECT_EQ(count, 16);
}

TEST_F(RunDirs, NamesThatAreNoPlainFileNamesAreRefusedBeforeAnythingIsMade) {
  for (const char* name : {" ", "\t", ".", "..", "a/b", "/", "-x", "--name", "a\nb", "a\x1b[2J"})
    EXPECT_THAT(refusal(name), HasSubstr("must be a plain file name")) << name;
  EXPECT_FALSE(std::filesystem::exists(root));
  for (const char* name : {"a b", "a.b", ".a", "x-y_z", "\xc3\xbc", "..."})
    EXPECT_EQ(refusal(name), "") << name;
}

TEST_F(RunDirs, ABatchIsNoRunAndIsNamedAsWhatItIs) {
  std::filesystem::create_directories(root / "batch");
  put(root / "batch" / "batch.json", "{}");
  EXPECT_THAT(refusal("batch"), HasSubstr("batch is there already"));
  EXPECT_THAT(refusal("batch"), ::testing::Not(HasSubstr("resume")));
  try {
    RunDir::open("batch", root);
    FAIL() << "it was opened";
  } catch (const Error& error) {
    EXPECT_THAT(error.hint(), HasSubstr("it is a batch: `lockstep batch status "));
  }
}

TEST_F(RunDirs, ANameTooLongForTheFileSystemIsRefusedWithTheReason) {
  EXPECT_THAT(refusal(std::string(300, 'x')), HasSubstr("too long"));
}

TEST_F(RunDirs, ARootThatIsAFileIsRefusedWithTheReason) {
  put(folder.path() / "file", "");
  root = folder.path() / "file" / "runs";
  EXPECT_THAT(refusal("x"), HasSubstr("Not a directory"));
  EXPECT_THAT(refusal("x"), HasSubstr("set run.root"));
  root = folder.path() / "file";
  EXPECT_THAT(refusal("x"), HasSubstr("set run.root"));
}

TEST_F(RunDirs, ARootThatCannotBeWrittenIsRefusedWithTheReason) {
  chmod(folder.path().c_str(), 0755);
  std::filesystem::create_directories(root);
  chmod(root.c_str(), 0555);
  OrdinaryUser user;
  EXPECT_THAT(refusal("x"), HasSubstr("Permission denied"));
  EXPECT_THAT(refusal("x"), HasSubstr("set run.root"));
}

TEST_F(RunDirs, AreOpenedByNameAndByPath) {
  make("first");
  EXPECT_EQ(RunDir::open("first", root).path(), root / "first");
  EXPECT_EQ(RunDir::open((root / "first").string(), "elsewhere").name(), "first");
  EXPECT_EQ(RunDir::open((root / "first").string() + "/", "elsewhere").name(), "first");
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(root / "first");
  EXPECT_EQ(RunDir::open(".", "elsewhere").name(), "first");
  std::filesystem::current_path(root / "first" / "logs");
  EXPECT_EQ(RunDir::open("..", "elsewhere").name(), "first");
  std::filesystem::current_path(before);
}

TEST_F(RunDirs, AMissingRunNamesTheNearest) {
  make("baseline");
  const std::string error = error_if_any([&] { RunDir::open("baselin", root); });
  EXPECT_THAT(error, HasSubstr("there is no run \"baselin\""));
  EXPECT_THAT(error, HasSubstr("did you mean baseline?"));
  EXPECT_THAT(error_if_any([&] { RunDir::open("zzz", root); }), HasSubstr("lockstep runs"));
  EXPECT_THAT(error_if_any([&] { RunDir::open("", root); }), HasSubstr("there is no run"));
}

TEST_F(RunDirs, AFolderWithoutARecordIsNoRun) {
  std::filesystem::create_directories(root / "other");
  EXPECT_THAT(error_if_any([&] { RunDir::open("other", root); }), HasSubstr("has no run.json"));
}

TEST_F(RunDirs, AreListedNewestFirstWithoutOtherFolders) {
  make("old", 100);
  make("new", 300);
  make("middle", 200);
  std::filesystem::create_directory(root / "no-run");
  put(root / "file", "");
  put(make("damaged").path() / "run.json", "{");
  std::vector<std::string> names;
  for (const RunDir& run : list_runs(root)) names.push_back(run.name());
  EXPECT_EQ(names, (std::vector<std::string>{"new", "middle", "old", "damaged"}));
  EXPECT_TRUE(list_runs(root / "nowhere").empty());
}

// Folders may have been named by others; one must not hide the rest.
TEST_F(RunDirs, AreListedWhateverTheirNames) {
  make("good", 100);
  for (const char* name : {"-x", "--root", "a\nb", "\x1b[2J"}) {
    std::filesystem::create_directories(root / name);
    put(root / name / "run.json", R"({"recipe":"toy"})");
  }
  std::vector<std::string> names;
  for (const RunDir& run : list_runs(root)) names.push_back(run.name());
  EXPECT_THAT(names, ::testing::UnorderedElementsAre("good", "-x", "--root", "a\nb", "\x1b[2J"));
  const RunDir run = RunDir::open((root / "-x").string(), "");
  EXPECT_EQ(run.name(), "-x");
}

TEST_F(RunDirs, AppearWithAllThatFillsThem) {
  const RunDir run = RunDir::create(root, "first", "toy", [&](RunDir& fresh) {
    fresh.lock();
    EXPECT_FALSE(std::filesystem::exists(root / "first"));
    EXPECT_TRUE(list_runs(root).empty());
    fresh.write_record({{"recipe", "toy"}});
    EXPECT_TRUE(list_runs(root).empty());
  });
  EXPECT_EQ(run.path(), root / "first");
  EXPECT_TRUE(run.holds_lock());
  EXPECT_EQ(list_runs(root).size(), 1u);
  EXPECT_TRUE(RunDir::open("first", root).locked_by_other());
}

TEST_F(RunDirs, ThatCannotBeFilledLeaveNothing) {
  EXPECT_THAT(error_if_any([&] {
                RunDir::create(root, "first", "toy", [](RunDir& fresh) {
                  fresh.lock();
                  throw Error("no space");
                });
              }),
              HasSubstr("no space"));
  EXPECT_TRUE(std::filesystem::is_empty(root));
  const std::string error = error_if_any([&] {
    RunDir::create(root, "first", "toy", [](RunDir& fresh) {
      std::filesystem::copy_file("/nowhere", fresh.path() / "a");
    });
  });
  EXPECT_THAT(error, HasSubstr("cannot write the run"));
  EXPECT_TRUE(std::filesystem::is_empty(root));
}

TEST_F(RunDirs, ANameThatIsTakenMeanwhileIsLeftAlone) {
  EXPECT_THAT(error_if_any([&] {
                RunDir::create(root, "first", "toy", [&](RunDir&) { make("first", 7); });
              }),
              HasSubstr("is there already"));
  EXPECT_EQ(RunDir::open("first", root).record()["started"], 7);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(root), {}), 1);
}

// Killed while it was made: no run, and gone in time.
TEST_F(RunDirs, ThatWereKilledInTheMakingAreNotListedAndClearedAwayLater) {
  in_child([&] {
    RunDir::create(root, "first", "toy", [](RunDir& fresh) {
      fresh.lock();
      fresh.write_record({{"recipe", "toy"}});
      raise(SIGKILL);
    });
  });
  ASSERT_EQ(std::distance(std::filesystem::directory_iterator(root), {}), 1);
  const std::filesystem::path left = std::filesystem::directory_iterator(root)->path();
  EXPECT_TRUE(list_runs(root).empty());
  make("first");                               // the name is free
  EXPECT_TRUE(std::filesystem::exists(left));  // perhaps somebody is just making it
  const auto long_ago = std::filesystem::file_time_type::clock::now() - std::chrono::hours(1);
  std::filesystem::last_write_time(left, long_ago);
  {
    const UniqueFd maker(open((left / "lock").c_str(), O_RDWR));
    ASSERT_EQ(flock(maker.get(), LOCK_EX | LOCK_NB), 0);
    make("second");
    EXPECT_TRUE(std::filesystem::exists(left));  // somebody is
  }
  std::filesystem::last_write_time(left, long_ago);
  make("third");
  EXPECT_FALSE(std::filesystem::exists(left));
}

TEST_F(RunDirs, TheRecordIsReadBack) {
  RunDir run = make("first");
  run.write_record({{"recipe", "toy"}, {"config", {{"seed", 7}}}, {"text", "\xff"}});
  EXPECT_EQ(RunDir::open("first", root).record()["config"]["seed"], 7);
}

TEST_F(RunDirs, ADamagedOrMissingRecordIsAnErrorThatNamesIt) {
  RunDir run = make("first");
  std::mt19937 random(6);
  for (int round = 0; round < 200; ++round) {
    put(run.path() / "run.json", random_bytes(random, random() % 100));
    EXPECT_THAT(error_if_any([&] { run.record(); }), HasSubstr("run.json"));
  }
  std::filesystem::remove(run.path() / "run.json");
  EXPECT_THAT(error_if_any([&] { run.record(); }), HasSubstr("run.json"));
}

TEST_F(RunDirs, ALockIsExclusiveAndNamesItsHolder) {
  RunDir run = make("first");
  RunDir other = RunDir::open("first", root);
  EXPECT_FALSE(other.locked_by_other());
  run.lock();
  run.lock();  // again: it has it
  EXPECT_FALSE(run.locked_by_other());
  EXPECT_TRUE(other.locked_by_other());
  EXPECT_THAT(error_if_any([&] { other.lock(); }),
              HasSubstr(cat("in use by process ", getpid(), " on ", host_name())));
}

TEST_F(RunDirs, ALockEndsWithItsHolder) {
  make("first");
  RunDir other = RunDir::open("first", root);
  {
    RunDir run = RunDir::open("first", root);
    run.lock();
    EXPECT_TRUE(other.locked_by_other());
  }
  EXPECT_FALSE(other.locked_by_other());
  const int status = in_child([&] {
    RunDir::open("first", root).lock();
    RunDir mine = RunDir::open("first", root);
    mine.lock();
    raise(SIGKILL);
  });
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(other.state(), RunState::interrupted);
  EXPECT_EQ(error_if_any([&] { other.lock(); }), "");
}

TEST_F(RunDirs, ALockIsNotPassedOnToPrograms) {
  RunDir run = make("first");
  run.lock();
  int found = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    if (std::filesystem::read_symlink(entry.path(), error).filename() != "lock") continue;
    ++found;
    EXPECT_TRUE(fcntl(std::stoi(entry.path().filename()), F_GETFD) & FD_CLOEXEC);
  }
  EXPECT_EQ(found, 1);
}

TEST_F(RunDirs, AReaderLookingAtTheStateDoesNotMakeALockFail) {
  RunDir run = make("first");
  { RunDir::open("first", root).lock(); }
  std::atomic<bool> done = false;
  std::thread reader([&] {
    while (!done) RunDir::open("first", root).locked_by_other();
  });
  for (int i = 0; i < 200; ++i)
    EXPECT_EQ(error_if_any([&] { RunDir::open("first", root).lock(); }), "");
  done = true;
  reader.join();
}

TEST_F(RunDirs, ADamagedLockFileStillLocks) {
  RunDir run = make("first");
  run.lock();
  put(run.path() / "lock", "junk");
  RunDir other = RunDir::open("first", root);
  EXPECT_THAT(error_if_any([&] { other.lock(); }), HasSubstr("a process that left no name"));
}

}  // namespace
}  // namespace lockstep
