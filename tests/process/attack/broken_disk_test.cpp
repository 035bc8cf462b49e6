// Disks that fail, folders that vanish, clocks that jump: the run goes on or stops with a clear
// word, and what was saved stays.
#include "attacked_run.h"
#include "core/base/clock.h"
#include "fakes/tenths.h"

#include <thread>

namespace lockstep {
namespace {

using ::testing::HasSubstr;
using testing::ToolProcess;
using testing::ToolResult;

struct Failure {
  std::size_t turn;  // 0: at each commit, else at two of ten
  const char* name;
  const char* order;  // for fakes/watched_files.cpp
  const char* word;   // what is said
};

class DiskFails : public AttackedRun, public ::testing::WithParamInterface<Failure> {};

// From some call on, for good: what was saved before stays, and the run can go on from it.
TEST_P(DiskFails, TheRunSaysSoAndKeepsWhatWasSaved) {
  const auto [turn, name, order, word] = GetParam();
  if (turn > 0 && !testing::has_turn_twice(turn)) GTEST_SKIP() << testing::in_another_tenth;
  train_whole();
  const ToolResult failing = run(train("a"), order, "", runs / "a/checkpoints");
  EXPECT_EQ(failing.code, 75) << failing.err;  // its last weights are on no disk
  EXPECT_THAT(failing.err, HasSubstr(word));
  EXPECT_THAT(failing.err, HasSubstr("warning: no checkpoint at step "));
  EXPECT_THAT(failing.err, HasSubstr("step 16/16"));  // training itself went on
  const auto newest = newest_good(runs / "a/checkpoints");
  ASSERT_TRUE(newest);
  EXPECT_GE(newest->step, reported(runs / "a"));
  for (const CheckpointInfo& info : list_checkpoints(runs / "a/checkpoints", true))
    EXPECT_EQ(info.damage, "");
  const ToolResult on = run(resume("a"));
  ASSERT_EQ(on.code, 0) << on.err;
  expect_whole("a");
}

INSTANTIATE_TEST_SUITE_P(
    Ways, DiskFails,
    ::testing::Values(Failure{1, "write_error", "write EIO 40 100000", "Input/output error"},
                      Failure{0, "full", "write ENOSPC 40 100000", "No space left on device"},
                      Failure{2, "quota", "write EDQUOT 40 100000", "Disk quota exceeded"},
                      Failure{3, "sync_error", "fsync EIO 12 100000", "Input/output error"},
                      Failure{4, "rename_error", "rename EIO 4 100000", "Input/output error"},
                      Failure{5, "no_folder", "mkdir EROFS 4 100000", "Read-only file system"},
                      Failure{1, "no_file", "open EACCES 10 100000", "Permission denied"}),
    [](const auto& failure) { return std::string(failure.param.name); });

class BrokenDisk : public AttackedRun {};

TEST_F(BrokenDisk, ACheckpointThatCannotBeDeletedIsNoReasonToStop) {
  if (!testing::has_turn_twice(1)) GTEST_SKIP() << testing::in_another_tenth;
  train_whole();
  const ToolResult result = run(train("a"), "unlink EIO 1 100000", "", runs / "a/checkpoints");
  EXPECT_EQ(result.code, 0) << result.err;
  expect_whole("a");
}

TEST_F(BrokenDisk, NeitherAreEventsThatCannotBeWritten) {
  if (!testing::has_turn_twice(2)) GTEST_SKIP() << testing::in_another_tenth;
  train_whole();
  const ToolResult result = run(train("a", {"run.record_samples=false"}), "write EIO 5 100000", "",
                                runs / "a/events.jsonl");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("events.jsonl"));
  EXPECT_EQ(weights(runs / "a"), whole_weights);
}

TEST_F(BrokenDisk, ReadOnlyFromOneMomentOn) {
  if (!testing::has_turn_twice(3)) GTEST_SKIP() << testing::in_another_tenth;
  train_whole();
  const ToolResult result = run(train("a", {"run.record_samples=false"}),
                                "mkdir EROFS 6 100000;open EROFS 20 100000;write EROFS 90 100000;"
                                "rename EROFS 5 100000;unlink EROFS 20 100000",
                                "", runs / "a");
  EXPECT_NE(result.code, 0);
  EXPECT_THAT(result.err, HasSubstr("Read-only file system"));
  ASSERT_TRUE(newest_good(runs / "a/checkpoints")) << result.err;
  const ToolResult on = run(resume("a"));
  ASSERT_EQ(on.code, 0) << on.err;
  EXPECT_EQ(weights(runs / "a"), whole_weights);
}

TEST_F(BrokenDisk, ARunFolderThatVanishesIsSaidAndNotPutBack) {
  ToolProcess tool(train("a", {"stop.steps=300", "log.every_steps=10"}), folder.path());
  while (reported(runs / "a") < 20) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  std::filesystem::rename(runs / "a", runs / "elsewhere");
  const ToolResult result = tool.wait();
  EXPECT_NE(result.code, 0);
  EXPECT_THAT(result.err, HasSubstr("warning: no checkpoint at step "));
  EXPECT_THAT(result.err, HasSubstr("No such file or directory"));
  EXPECT_FALSE(std::filesystem::exists(runs / "a"));  // nothing was put in its place
  EXPECT_GE(newest_good(runs / "elsewhere/checkpoints")->step, 20);
  const ToolResult on = run(resume("elsewhere", {"stop.steps=300", "checkpoint.every_steps=150"}));
  EXPECT_EQ(on.code, 0) << on.err;
}

TEST_F(BrokenDisk, AClockThatJumpsChangesNothing) {
  if (!testing::has_turn_twice(4)) GTEST_SKIP() << testing::in_another_tenth;
  train_whole();
  for (const char* jump : {"100000000", "-100000000"}) {
    const std::string name = std::string("jump") + jump;
    const double begin_s = system_clock().now_s();
    const ToolResult result =
        run(train(name, {"checkpoint.every=1h", "stop.after=1h", "stop.budget=2h"}),
            std::string("jump ") + jump + " 60", "", runs / name);
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_LT(system_clock().now_s() - begin_s, 30);
    expect_whole(name);
    EXPECT_EQ(list_checkpoints(runs / name / "checkpoints", false).size(),
              list_checkpoints(runs / "whole/checkpoints", false).size());
  }
}

}  // namespace
}  // namespace lockstep
