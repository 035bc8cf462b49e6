// Checkpoints are there whole or not at all, wherever their writer ends.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <atomic>
#include <thread>

#include "checkpoint_fixtures.h"
#include "core/base/text/text.h"
#include "runtime/run/checkpoint/checkpoint_names.h"

namespace lockstep {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using WritingCheckpoints = CheckpointsTest;

TEST_F(WritingCheckpoints, GivesAFolderWithAllFilesAndNothingElse) {
  const CheckpointInfo info = write(1234, 0, {{"loss", 1.5}});
  EXPECT_THAT(names(), ElementsAre("step-000001234"));
  EXPECT_EQ(info.path, folder / "step-000001234");
  EXPECT_EQ(read_file(info.path / "model.safetensors"), content(1234, 0));
  EXPECT_EQ(read_file(info.path / "optimizer.safetensors"), "state");
  const auto listed = list_checkpoints(folder, true);
  ASSERT_EQ(listed.size(), 1u);
  EXPECT_EQ(listed[0].damage, "");
  EXPECT_EQ(listed[0].size_bytes, info.size_bytes);
  EXPECT_EQ(listed[0].time, info.time);
  EXPECT_EQ(listed[0].metrics, nlohmann::json({{"loss", 1.5}}));
}

TEST_F(WritingCheckpoints, WithoutCommitLeavesNothing) {
  {
    CheckpointWriter writer(folder, 1);
    writer.append("model.safetensors", "x", 1);
    EXPECT_EQ(names().size(), 1u);
    EXPECT_TRUE(list_checkpoints(folder, false).empty());
  }
  EXPECT_TRUE(names().empty());
}

TEST_F(WritingCheckpoints, MetricsThatAreNotFiniteDoNotDamageIt) {
  write(1, 0, {{"loss", NAN}, {"name", "\xff"}});
  EXPECT_EQ(newest(), 1);
}

TEST_F(WritingCheckpoints, AnEmptyFileIsAFile) {
  CheckpointWriter writer(folder, 1);
  writer.append("empty.safetensors", nullptr, 0);
  writer.commit(nullptr);
  EXPECT_EQ(newest(), 1);
  EXPECT_TRUE(std::filesystem::exists(folder / "step-000000001" / "empty.safetensors"));
}

TEST_F(WritingCheckpoints, ManyWritesMakeTheSameFileAsOne) {
  std::mt19937 random(8);
  const std::string data = random_bytes(random, 40 << 20);  // more than one write takes
  CheckpointWriter writer(folder, 1);
  writer.append("one.safetensors", data.data(), data.size());
  for (std::size_t at = 0; at < data.size();) {
    const std::size_t part = std::min<std::size_t>(data.size() - at, random() % 3'000'000);
    writer.append("many.safetensors", data.data() + at, part);
    at += part;
  }
  writer.commit(nullptr);
  const nlohmann::json manifest =
      nlohmann::json::parse(read_file(folder / "step-000000001" / "manifest.json"));
  EXPECT_EQ(manifest["files"]["one.safetensors"], manifest["files"]["many.safetensors"]);
  EXPECT_EQ(newest(), 1);
}

TEST_F(WritingCheckpoints, ReplacesOneOfTheSameStep) {
  write(5, 0);
  write(5, 1);
  EXPECT_THAT(names(), ElementsAre("step-000000005"));
  EXPECT_EQ(read_file(folder / "step-000000005" / "model.safetensors"), content(5, 1));
  EXPECT_EQ(newest(), 5);
}

// At no moment is there neither: a reader that never stops looking always finds a good one.
TEST_F(WritingCheckpoints, AReaderAlwaysFindsOneWhileItIsReplaced) {
  write(5);
  std::atomic<bool> done = false;
  int missed = 0, looked = 0;
  std::thread reader([&] {
    while (!done) {
      ++looked;
      struct stat info;
      missed += stat((folder / "step-000000005" / "manifest.json").c_str(), &info) != 0;
    }
  });
  for (int generation = 1; generation <= 30; ++generation) write(5, generation);
  done = true;
  reader.join();
  EXPECT_GT(looked, 30);
  EXPECT_EQ(missed, 0);
}

int writes_of_a_checkpoint(const std::function<void()>& write) {
  int count = 0;
  CheckpointWriter::fault = [&](const auto&, std::size_t) { ++count; };
  write();
  CheckpointWriter::fault = {};
  return count;
}

TEST_F(WritingCheckpoints, AFullDiskAtAnyWriteLeavesTheOlderOneGood) {
  write(1);
  const int writes = writes_of_a_checkpoint([&] { write(2); });
  ASSERT_GE(writes, 5);
  remove_checkpoint(list_checkpoints(folder, false).back());
  for (int failing = 0; failing < writes; ++failing) {
    for (std::int64_t step : {1, 2}) {
      int count = 0;
      CheckpointWriter::fault = [&](const std::filesystem::path& path, std::size_t) {
        if (count++ == failing) throw Error(cat("cannot write ", path.string(), ": full"));
      };
      EXPECT_THAT(error_if_any([&] { write(step, 7); }), HasSubstr("full"));
      EXPECT_THAT(names(), ElementsAre("step-000000001")) << failing;
      EXPECT_EQ(newest(), 1);
      EXPECT_EQ(read_file(folder / "step-000000001" / "model.safetensors"), content(1, 0));
    }
  }
}

TEST_F(WritingCheckpoints, ARealLackOfSpaceIsSaidWithWhatToDo) {
  const int status = in_child([&] {
    const int sink = open("/dev/full", O_WRONLY);
    // The next file that the writer opens is this full device.
    CheckpointWriter::fault = [&](const auto& path, std::size_t) {
      for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code error;
        if (std::filesystem::read_symlink(entry.path(), error) == path)
          dup2(sink, std::stoi(entry.path().filename()));
      }
    };
    const std::string error = error_if_any([&] { write(1); });
    _exit(error.find("No space left on device") != std::string::npos &&
                  error.find("checkpoint.keep") != std::string::npos
              ? 0
              : 1);
  });
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(WritingCheckpoints, AKillAtAnyWriteLeavesTheOlderOneGood) {
  write(1);
  const int writes = writes_of_a_checkpoint([&] { write(2); });
  remove_checkpoint(list_checkpoints(folder, false).back());
  for (int killed = 0; killed < writes; ++killed) {
    const int status = in_child([&] {
      int count = 0;
      CheckpointWriter::fault = [&](const auto&, std::size_t) {
        if (count++ == killed) raise(SIGKILL);
      };
      write(2);
    });
    ASSERT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(names().size(), 2u);
    EXPECT_EQ(newest(), 1);
    EXPECT_EQ(list_checkpoints(folder, false).size(), 1u);
    remove_leftovers(folder);
    EXPECT_THAT(names(), ElementsAre("step-000000001"));
  }
}

// Killed at moments that no hook knows, while it replaces one step over and over.
TEST_F(WritingCheckpoints, AKillAtAnyMomentLeavesOneGood) {
  write(1);
  std::mt19937 random(9);
  for (int round = 0; round < 20; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      for (int generation = 1;; ++generation) write(1, generation);
    }
    usleep(static_cast<useconds_t>(random() % 20'000));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    EXPECT_EQ(newest(), 1);
    remove_leftovers(folder);
    EXPECT_EQ(newest(), 1);
    EXPECT_THAT(names(), ElementsAre("step-000000001"));
  }
}

TEST_F(WritingCheckpoints, LeftoversOfLivingWritersStay) {
  CheckpointWriter writer(folder, 3);
  writer.append("model.safetensors", "x", 1);
  remove_leftovers(folder);
  in_child([&] { remove_leftovers(folder); });
  writer.commit(nullptr);
  EXPECT_EQ(newest(), 3);
}

TEST_F(WritingCheckpoints, ALeftoverOfAnEarlierProcessWithTheSameIdIsNoHindrance) {
  const std::filesystem::path left = folder / cat(".tmp-step-000000003-", getpid());
  std::filesystem::create_directories(left);
  put(left / "model.safetensors", "old");
  write(3);
  EXPECT_THAT(names(), ElementsAre("step-000000003"));
  EXPECT_EQ(newest(), 3);
}

TEST_F(WritingCheckpoints, AFolderThatCannotBeMadeIsAnError) {
  put(folder, "a file");
  EXPECT_THROW(CheckpointWriter(folder, 1), Error);
}

// On file systems that cannot exchange two names.
TEST_F(WritingCheckpoints, WithoutExchangeAKillBetweenTheRenamesLosesNothing) {
  write(1);
  write(2);
  // What is on disk between the two renames of replacing step 2.
  std::filesystem::rename(folder / "step-000000002", folder / ".old-step-000000002");
  EXPECT_EQ(newest(), 2);
  remove_leftovers(folder);
  EXPECT_THAT(names(), ElementsAre("step-000000001", "step-000000002"));
  // And before the last removal.
  std::filesystem::copy(folder / "step-000000002", folder / ".old-step-000000002");
  EXPECT_EQ(list_checkpoints(folder, true).size(), 2u);
  remove_leftovers(folder);
  EXPECT_THAT(names(), ElementsAre("step-000000001", "step-000000002"));
}

TEST_F(WritingCheckpoints, AFolderReplacesAnotherWithAndWithoutExchange) {
  for (bool exchange : {true, false}) {
    std::filesystem::create_directories(folder / "new");
    std::filesystem::create_directories(folder / "final");
    std::filesystem::create_directories(folder / "aside");  // of an earlier try
    put(folder / "new" / "text", "new");
    put(folder / "final" / "text", "old");
    replace_directory(Beneath(folder), "new", "final", "aside", exchange);
    EXPECT_EQ(read_file(folder / "final" / "text"), "new");
    EXPECT_EQ(std::filesystem::exists(folder / "new"), exchange);
    std::filesystem::remove_all(folder);
  }
}

TEST_F(WritingCheckpoints, AFailedReplacementPutsTheOldOneBack) {
  std::filesystem::create_directories(folder / "final");
  EXPECT_THROW(replace_directory(Beneath(folder), "none", "final", "aside", false), Error);
  EXPECT_THAT(names(), ElementsAre("final"));
}

TEST(CheckpointNames, RoundTripAndRefuseOthers) {
  for (std::int64_t step : {0L, 1L, 999'999'999L, 1'000'000'000L, (1L << 62)})
    EXPECT_EQ(step_of(checkpoint_name(step)), step);
  for (const char* name : {"step-1", "step-", "step--00000001", "step-00000000x", "tmp",
                           "step-000000001x", "step-99999999999999999999", ".tmp-step-000000001"})
    EXPECT_EQ(step_of(name), std::nullopt) << name;
}

}  // namespace
}  // namespace lockstep
