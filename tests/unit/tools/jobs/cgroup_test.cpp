// Control groups: what is read of them on made-up folders, and what becomes of processes in real
// ones where this machine lets its user make some.
#include "tools/jobs/process/cgroup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <fstream>

#include "cgroup_fixtures.h"
#include "core/base/files/files.h"
#include "tools/jobs/process/process_tree.h"

namespace lockstep {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr const char* unified =
    "24 30 0:22 / /sys rw,nosuid - sysfs sysfs rw\n"
    "35 24 0:30 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";

TEST(OwnCgroups, AreWhereVersionTwoIsMounted) {
  EXPECT_THAT(own_cgroups(unified, "0::/user.slice/run-1.scope\n"),
              ElementsAre("/sys/fs/cgroup/user.slice/run-1.scope"));
  EXPECT_THAT(own_cgroups(unified, "0::/\n"), ElementsAre("/sys/fs/cgroup"));
}

TEST(OwnCgroups, OfAHostWithBothVersionsAreThoseOfVersionTwo) {
  const std::string both =
      "36 35 0:31 / /sys/fs/cgroup/memory rw shared:10 - cgroup cgroup rw,memory\n"
      "37 35 0:32 / /sys/fs/cgroup/unified rw shared:11 - cgroup2 cgroup2 rw\n";
  EXPECT_THAT(own_cgroups(both, "4:memory:/a\n1:name=systemd:/b\n0::/c\n"),
              ElementsAre("/sys/fs/cgroup/unified/c"));
  EXPECT_THAT(own_cgroups(both, "4:memory:/a\n"), IsEmpty());
  EXPECT_THAT(own_cgroups("36 35 0:31 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n",
                          "4:memory:/a\n0::/\n"),
              IsEmpty());
}

// In a container what is mounted is a part of the tree, and the path may be the host's.
TEST(OwnCgroups, AreLookedForBelowTheRootOfTheMount) {
  const std::string part = "35 24 0:30 /pods/x /sys/fs/cgroup ro - cgroup2 cgroup rw\n";
  EXPECT_THAT(own_cgroups(part, "0::/pods/x/job\n"), ElementsAre("/sys/fs/cgroup/job"));
  EXPECT_THAT(own_cgroups(part, "0::/pods/x\n"), ElementsAre("/sys/fs/cgroup"));
  EXPECT_THAT(own_cgroups(part, "0::/pods/xy\n"), IsEmpty());
  EXPECT_THAT(own_cgroups(part, "0::/\n"), IsEmpty());
  EXPECT_THAT(own_cgroups(unified, "0::/../other\n"), IsEmpty()) << "outside of the namespace";
  EXPECT_THAT(own_cgroups(unified + part, "0::/pods/x/job\n"),
              ElementsAre("/sys/fs/cgroup/pods/x/job", "/sys/fs/cgroup/job"));
}

TEST(OwnCgroups, PathsMayHoldSpaces) {
  EXPECT_THAT(own_cgroups("35 24 0:30 / /a\\040b\\134 rw - cgroup2 x rw\n", "0::/c d\n"),
              ElementsAre("/a b\\/c d"));
}

TEST(OwnCgroups, LinesOfNoSenseAreNone) {
  EXPECT_THAT(own_cgroups("", ""), IsEmpty());
  EXPECT_THAT(own_cgroups("35 24 0:30 / /x rw -\n35 - cgroup2\n- cgroup2 a b c d\n\n", "0::/\n"),
              IsEmpty());
  EXPECT_THAT(own_cgroups(unified, "0::\n0:\n:::/\n"), IsEmpty());
}

class CgroupFolder : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((group() / name).parent_path());
    std::ofstream(group() / name) << text;
  }
  std::filesystem::path group() const { return folder.path() / "lockstep-b/7"; }
  TemporaryDirectory folder;
};

TEST_F(CgroupFolder, SaysWhetherSomethingLivesThere) {
  EXPECT_FALSE(is_populated(group())) << "there is none";
  write("cgroup.events", "populated 0\nfrozen 0\n");
  EXPECT_FALSE(is_populated(group()));
  write("cgroup.events", "frozen 0\npopulated 1\n");
  EXPECT_TRUE(is_populated(group()));
  write("cgroup.events", "frozen 0\n");
  EXPECT_TRUE(is_populated(group())) << "nothing is guessed";
}

TEST_F(CgroupFolder, ListsItsProcessesAndThoseOfGroupsBelow) {
  write("cgroup.procs", "12\n0\n7\n");  // 0: of another namespace
  write("below/further/cgroup.procs", "13\n");
  EXPECT_THAT(processes_in(group()), UnorderedElementsAre(7, 12, 13));
  EXPECT_THAT(processes_in(folder.path() / "none"), IsEmpty());
}

TEST_F(CgroupFolder, SaysWhatWasUsedAsFarAsItsControllersKnow) {
  EXPECT_EQ(read_use(group()).cpu_s, std::nullopt);
  write("cpu.stat", "user_usec 1\nusage_usec 2500000\nsystem_usec 3\n");
  EXPECT_EQ(read_use(group()).cpu_s, 2.5);
  EXPECT_EQ(read_use(group()).memory_peak_bytes, std::nullopt);
  write("memory.peak", "1048576\n");
  EXPECT_EQ(read_use(group()).memory_peak_bytes, 1048576);
}

TEST_F(CgroupFolder, IsMadeOnceWithTheOneThatItIsIn) {
  EXPECT_TRUE(make_cgroup(group()));
  EXPECT_FALSE(make_cgroup(group())) << "it may be another's";
  EXPECT_FALSE(make_cgroup(folder.path() / "no/such/group"));
  std::filesystem::create_directories(group() / "below/further");
  EXPECT_TRUE(remove_cgroup(group()));
  EXPECT_FALSE(std::filesystem::exists(group()));
  EXPECT_TRUE(remove_cgroup(group()));
}

TEST(CgroupPlaces, AreNotLookedForWhereTheUserWantsNone) {
  setenv("LOCKSTEP_CGROUPS", "off", 1);
  const CgroupPlace place = find_cgroup_place("lockstep-test");
  unsetenv("LOCKSTEP_CGROUPS");
  EXPECT_EQ(place.folder, "");
  EXPECT_THAT(place.why_not, HasSubstr("LOCKSTEP_CGROUPS"));
}

TEST_F(RealCgroup, HoldsWhatHidesFromAllElse) {
  start("env -i setsid setsid sleep 1000 & env -i sleep 1000 & sleep 1000");
  ASSERT_TRUE(comes([&] { return processes_in(group).size() == 4; }));
  EXPECT_TRUE(is_populated(group));
  EXPECT_FALSE(remove_cgroup(group)) << "something lives there";
  kill_cgroup(group);
  EXPECT_TRUE(comes([&] { return !is_populated(group); }));
  EXPECT_TRUE(remove_cgroup(group));
  EXPECT_FALSE(std::filesystem::exists(group));
}

TEST_F(RealCgroup, SignalsItsOwnAndNobodyElse) {
  const pid_t inside = start("exec sleep 1000"), other = start("exec sleep 1000", -1);
  EXPECT_THAT(signal_cgroup(group, SIGTERM), ElementsAre(inside));
  EXPECT_EQ(WTERMSIG(wait(inside)), SIGTERM);
  EXPECT_NE(start_ticks(other), 0U);
  EXPECT_THAT(signal_cgroup(group, SIGTERM), IsEmpty());
}

TEST_F(RealCgroup, ReachesWhatMovedToAGroupOfItsOwnBelow) {
  start("mkdir " + (group / "own").string() + " && echo $$ > " +
        (group / "own/cgroup.procs").string() + " && exec sleep 1000");
  ASSERT_TRUE(comes([&] { return !processes_in(group / "own").empty(); }));
  EXPECT_TRUE(is_populated(group));
  EXPECT_EQ(signal_cgroup(group, SIGCONT).size(), 1U);
  kill_cgroup(group);
  EXPECT_TRUE(comes([&] { return !is_populated(group); }));
  EXPECT_TRUE(remove_cgroup(group)) << "with the group that it made";
}

TEST_F(RealCgroup, CountsTheTimeOfProcessesThatNobodyWaitedFor) {
  start("sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done' & exec sleep 1000");
  // One is there before the other has begun, too.
  EXPECT_TRUE(comes(
      [&] { return processes_in(group).size() == 1 && read_use(group).cpu_s.value_or(0) > 0.02; }));
}

// A group that was removed meanwhile, or that the kernel refuses.
TEST_F(RealCgroup, AProcessIsStartedAlsoWhereItsGroupIsGone) {
  ASSERT_TRUE(remove_cgroup(group));
  EXPECT_EQ(WEXITSTATUS(wait(start("exit 3"))), 3);
}

}  // namespace
}  // namespace lockstep
