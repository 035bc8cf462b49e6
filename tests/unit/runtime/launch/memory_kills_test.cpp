// The kernel's counters as files in a folder.
#include "runtime/launch/watch/memory_kills.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "core/base/files/files.h"

namespace lockstep {
namespace {

using ::testing::HasSubstr;

struct MemoryKillsTest : ::testing::Test {
  void put(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = folder.path() / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  void version_2(const std::string& group, int kills) const {
    put("proc/self/cgroup", "0::" + group + "\n");
    put("sys/fs/cgroup" + group + "/memory.events",
        "low 0\nhigh 0\nmax 31\noom 2\noom_kill " + std::to_string(kills) + "\noom_group_kill 0\n");
    put("sys/fs/cgroup" + group + "/memory.max", "8589934592\n");
  }
  void machine(int kills) const {
    put("proc/vmstat", "nr_free_pages 1\noom_kill " + std::to_string(kills) + "\nswap_ra 0\n");
  }
  MemoryKills read() const { return read_memory_kills(folder.path()); }
  TemporaryDirectory folder;
};

TEST_F(MemoryKillsTest, OfTheOwnControlGroupAreSure) {
  version_2("/user.slice/job_3.scope", 1);
  machine(7);
  const MemoryKills before = read();
  EXPECT_EQ(before.group, 1U);
  EXPECT_EQ(before.machine, 7U);
  version_2("/user.slice/job_3.scope", 2);
  machine(8);
  const std::string sure =
      "the kernel killed a process here because memory ran out: the limit of this control group is "
      "8 GiB";
  EXPECT_EQ(explain_kill(before, read()), sure);
  EXPECT_EQ(memory_ran_out(before, read()), sure) << "whatever ended the rank itself";
}

TEST_F(MemoryKillsTest, ElsewhereOnTheMachineAreLikely) {
  version_2("/a", 1);
  put("sys/fs/cgroup/a/memory.max", "max\n");
  machine(7);
  const MemoryKills before = read();
  EXPECT_EQ(before.group_limit_bytes, std::nullopt);
  machine(8);
  EXPECT_THAT(explain_kill(before, read()), HasSubstr("most likely this one"));
  EXPECT_EQ(memory_ran_out(before, read()), "");
}

TEST_F(MemoryKillsTest, ThatDidNotHappenAreNotBlamed) {
  version_2("/a", 1);
  machine(7);
  EXPECT_THAT(explain_kill(read(), read()), HasSubstr("counted no kill for lack of memory"));
}

TEST_F(MemoryKillsTest, AreGuessedWhereNothingCanBeRead) {
  EXPECT_THAT(explain_kill(read(), read()), HasSubstr("most likely memory ran out"));
  put("proc/self/cgroup", "nonsense\n1:memory\n::\n");
  put("proc/vmstat", "oom_kill many\n");
  EXPECT_THAT(explain_kill(read(), read()), HasSubstr("most likely memory ran out"));
}

TEST_F(MemoryKillsTest, AreReadFromVersion1AndInContainers) {
  put("proc/self/cgroup", "9:name=systemd:/\n4:cpu,memory:/docker/f00\n0::/\n");
  // Only the container's own group is mounted.
  put("sys/fs/cgroup/memory/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n");
  put("sys/fs/cgroup/memory/memory.limit_in_bytes", "1073741824\n");
  EXPECT_EQ(read().group, 3U);
  EXPECT_EQ(read().group_limit_bytes, 1073741824U);
  put("sys/fs/cgroup/memory/docker/f00/memory.oom_control", "oom_kill 5\n");
  put("sys/fs/cgroup/memory/docker/f00/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(read().group, 5U);
  EXPECT_EQ(read().group_limit_bytes, std::nullopt) << "what version 1 says where there is none";
}

}  // namespace
}  // namespace lockstep
