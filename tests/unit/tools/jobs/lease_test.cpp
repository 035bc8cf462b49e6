// Devices shared out by locked files: parts add up, and a lock goes with its last holder.
#include "tools/jobs/schedule/lease.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "core/base/files/files.h"
#include "fakes/error_of.h"

namespace lockstep {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Leases : public ::testing::Test {
 protected:
  TemporaryDirectory folder;
  DeviceLeases leases{folder.path() / "devices"};
};

TEST_F(Leases, FourPartsAreAWholeDevice) {
  std::vector<std::vector<UniqueFd>> taken;
  for (int i = 0; i < 4; ++i) {
    auto part = leases.take("GPU-1", 0.25, "batch " + std::to_string(i));
    ASSERT_TRUE(part) << i;
    EXPECT_EQ(part->size(), 1U);
    taken.push_back(std::move(*part));
  }
  EXPECT_FALSE(leases.take("GPU-1", 0.25, "one more"));
  EXPECT_THAT(leases.holders("GPU-1"), ElementsAre("batch 0", "batch 1", "batch 2", "batch 3"));
  EXPECT_TRUE(leases.take("GPU-2", 1, "other")) << "another device";
  taken.pop_back();
  EXPECT_TRUE(leases.take("GPU-1", 0.25, "now"));
  EXPECT_FALSE(leases.take("GPU-1", 0.5, "too much"));
}

TEST_F(Leases, APartIsRoundedUp) {
  EXPECT_EQ(leases.take("G", 0.3, "x")->size(), 2U);
  EXPECT_EQ(leases.take("G", 0.5, "x")->size(), 2U);
  EXPECT_EQ(leases.take("G", 0.75, "x")->size(), 3U);
  EXPECT_EQ(leases.take("G", 1, "x")->size(), 4U);
}

TEST_F(Leases, WhoGetsTooLittleKeepsNothing) {
  const auto three = leases.take("G", 0.75, "a");
  EXPECT_FALSE(leases.take("G", 0.5, "b"));
  EXPECT_TRUE(leases.take("G", 0.25, "c")) << "b left its part";
}

TEST_F(Leases, TrainingsShareADeviceAndBatchesDoNotJoinThem) {
  auto first = leases.take_for_training("G", "training 1");
  const auto second = leases.take_for_training("G", "training 2");
  ASSERT_TRUE(first && second);
  EXPECT_FALSE(leases.take("G", 0.25, "batch"));
  EXPECT_THAT(leases.holders("G"), ElementsAre("training 2"));
  first.reset();
  EXPECT_FALSE(leases.take("G", 0.25, "batch"));
}

TEST_F(Leases, ATrainingWaitsForAnyPartOfABatch) {
  const auto part = leases.take("G", 0.25, "batch");
  EXPECT_FALSE(leases.take_for_training("G", "training"));
  EXPECT_THAT(leases.holders("G"), ElementsAre("batch"));
}

TEST_F(Leases, GoWithTheProcessThatIsKilled) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto held = leases.take("G", 1, "child");
    const char byte = held ? 'y' : 'n';
    if (write(ready[1], &byte, 1) != 1) _exit(1);
    for (;;) pause();
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  EXPECT_EQ(byte, 'y');
  EXPECT_FALSE(leases.take("G", 0.25, "us"));
  EXPECT_THAT(leases.holders("G"), ElementsAre("child"));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(leases.take("G", 1, "us"));
  EXPECT_THAT(leases.holders("G"), IsEmpty());
}

TEST_F(Leases, StayWithWhoInheritedThem) {
  auto held = leases.take("G", 1, "us");
  const pid_t child = fork();
  if (child == 0)
    for (;;) pause();
  held.reset();
  EXPECT_FALSE(leases.take("G", 0.25, "next")) << "the job's supervisor has them still";
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(leases.take("G", 0.25, "next"));
}

TEST_F(Leases, AShorterNameLeavesNothingOfALongerOne) {
  leases.take("G", 0.25, "a batch with a long name");
  const auto held = leases.take("G", 0.25, "b");
  EXPECT_THAT(leases.holders("G"), ElementsAre("b"));
}

TEST_F(Leases, PartsOfAGpuHaveFilesToo) {
  const auto held = leases.take("MIG-GPU-1/7/0", 1, "x");
  ASSERT_TRUE(held);
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "devices/MIG-GPU-1_7_0.3"));
}

TEST_F(Leases, ALinkInTheirPlaceIsNotFollowed) {
  std::ofstream(folder.path() / "precious") << "text";
  for (int part = 0; part < 4; ++part)
    std::filesystem::create_symlink(folder.path() / "precious",
                                    folder.path() / ("devices/G." + std::to_string(part)));
  EXPECT_FALSE(leases.take("G", 0.25, "x"));
  EXPECT_EQ(read_file(folder.path() / "precious"), "text");
}

TEST_F(Leases, AFolderThatCannotBeMadeIsSaid) {
  std::ofstream(folder.path() / "file");
  EXPECT_THAT(error_of([&] { DeviceLeases(folder.path() / "file/devices"); }),
              ::testing::AllOf(HasSubstr("file/devices"), HasSubstr("XDG_STATE_HOME")));
}

}  // namespace
}  // namespace lockstep
