// Who may make control groups, and what a batch does where nobody may.
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "batch_rig.h"
#include "core/base/text/text.h"
#include "tools/jobs/process/cgroup.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using testing::ToolResult;

class BatchCgroups : public BatchRig {
 protected:
  void SetUp() override {
    const CgroupPlace place = find_cgroup_place("lockstep-test-" + std::to_string(getpid()));
    if (place.folder.empty() || geteuid() != 0)
      GTEST_SKIP() << "not root, or no control groups here: " << place.why_not;
    own = place.folder.parent_path();
    group = place.folder;
  }
  void TearDown() override {
    EXPECT_TRUE(group.empty() || comes([&] { return remove_cgroup(group); }));
  }
  // One job, by a shell that does `before` and becomes the tool.
  ToolResult run_after(const std::string& before, Words around = {}) {
    around.insert(around.end(), {"sh", "-c", before + " && exec \"$@\"", "sh", tool});
    const Words words = run_words({}, {"sh", "-c", "grep ^0: /proc/self/cgroup > $LOCKSTEP_OUT/g"});
    around.insert(around.end(), words.begin(), words.end());
    return testing::ToolProcess(around, folder.path(), environment).wait();
  }
  std::string job_group() const { return read_file(batch() / "jobs" / ledger().job(1).name / "g"); }
  // The next tool runs as a user who may write to the batch's folder, or the test is skipped.
  void become_nobody() {
    fs::permissions(folder.path(), fs::perms::all);
    if (const std::string why = testing::why_nobody_enters(folder.path()); !why.empty())
      GTEST_SKIP() << why;
    tool = testing::copied_for_all("lockstep", folder.path());
  }
  const std::string nobody = "set -- " + join(testing::as_nobody(), " ") + " \"$@\"";
  std::string tool = testing::program("lockstep");
  fs::path own, group;
};

TEST_F(BatchCgroups, AUserToWhomAGroupWasGivenMakesThemBelowIt) {
  ASSERT_EQ(mkdir(group.c_str(), 0755), 0);
  for (const fs::path& given : {group, group / "cgroup.procs"})
    ASSERT_EQ(chown(given.c_str(), 65534, static_cast<gid_t>(-1)), 0);
  become_nobody();
  if (IsSkipped()) return;
  const ToolResult result =
      run_after("echo $$ > " + (group / "cgroup.procs").string() + " && " + nobody);
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(ledger().fact("clean-up"), StartsWith("control group: " + group.string() + "/"));
  EXPECT_THAT(job_group(), HasSubstr(group.filename().string() + "/lockstep-"));
}

TEST_F(BatchCgroups, WithoutTheRightOneUsesMarks) {
  become_nobody();
  if (IsSkipped()) return;
  ASSERT_EQ(run_after(nobody).code, 0);
  EXPECT_THAT(ledger().fact("clean-up"),
              StartsWith("mark: no group can be made in " + own.string()));
}

TEST_F(BatchCgroups, OnAMountThatIsReadOnlyMarksAreUsed) {
  const ToolResult result = run_after("mount --bind " + own.string() + " " + own.string() +
                                          " && mount -o remount,ro,bind " + own.string(),
                                      {"unshare", "-m"});
  if (!fs::exists(batch())) GTEST_SKIP() << "no mount namespace: " << result.err;
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(ledger().fact("clean-up"), HasSubstr("Read-only file system"));
  EXPECT_THAT(run({"batch", "status", "b", "--json"}).out, HasSubstr("Read-only file system"));
}

// As in a container that has a part of the tree, which is mounted anew.
TEST_F(BatchCgroups, InANamespaceOfItsOwnTheyAreBelowItsRoot) {
  ASSERT_EQ(mkdir(group.c_str(), 0755), 0);
  fs::create_directory(folder.path() / "mount");
  const ToolResult result = run_after(
      "echo $$ > " + (group / "cgroup.procs").string() +
      " && set -- unshare -Cm sh -c 'mount -t cgroup2 none mount && exec \"$@\"' sh \"$@\"");
  if (!fs::exists(batch())) GTEST_SKIP() << "no namespace: " << result.err;
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(ledger().fact("clean-up"),
              StartsWith("control group: " + (fs::canonical(folder.path()) / "mount").string()));
  EXPECT_THAT(job_group(), StartsWith("0::/lockstep-"));
}

}  // namespace
}  // namespace lockstep
