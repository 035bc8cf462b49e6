// Which control groups belong to a batch, and what is written down of them.
#include "tools/jobs/graph/attempt_groups.h"

#include <cstdlib>

#include "cgroup_fixtures.h"
#include "ledger_fixtures.h"

namespace lockstep {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

class AttemptGroupsTest : public LedgerFolder {
 protected:
  void TearDown() override { unsetenv("LOCKSTEP_CGROUPS"); }
  std::filesystem::path make(const std::string& place, const std::string& attempt) const {
    const std::filesystem::path group = folder.path() / place / attempt;
    std::filesystem::create_directories(group);
    return group;
  }
};

TEST_F(AttemptGroupsTest, KnowsThoseOfEarlierStartsAndNoOthers) {
  make("one/lockstep-b", "3");
  make("two/lockstep-b", "5");
  make("other/lockstep-c", "7");
  Ledger ledger = open();
  ledger.set_fact("cgroups", (folder.path() / "one/lockstep-b").string() + "\n" +
                                 (folder.path() / "two/lockstep-b").string() + "\n" +
                                 (folder.path() / "other/lockstep-c").string() + "\n" +
                                 (folder.path() / "gone/lockstep-b").string());
  const AttemptGroups groups(ledger, "b");
  EXPECT_THAT(groups.marks(), UnorderedElementsAre("b:3", "b:5"));
  groups.remove("b:3");
  EXPECT_THAT(groups.marks(), UnorderedElementsAre("b:5"));
  EXPECT_EQ(groups.of("b:9"), "") << "where none can be made";
  EXPECT_FALSE(groups.is_alive("b:9"));
}

TEST_F(AttemptGroupsTest, ForgetsPlacesInWhichNothingIsLeft) {
  setenv("LOCKSTEP_CGROUPS", "off", 1);
  make("one/lockstep-b", "3");
  make("two/lockstep-b", "5/file");  // cannot be removed
  const std::string one = (folder.path() / "one/lockstep-b").string(),
                    two = (folder.path() / "two/lockstep-b").string();
  std::filesystem::create_symlink("/", folder.path() / "two/lockstep-b/5/file/link");
  Ledger ledger = open();
  ledger.set_fact("cgroups", one + "\n" + two);
  AttemptGroups groups(ledger, "b");
  groups.begin(ledger);
  EXPECT_EQ(ledger.fact("cgroups"), two);
  EXPECT_FALSE(std::filesystem::exists(one));
  EXPECT_THAT(ledger.fact("clean-up"), StartsWith("mark: LOCKSTEP_CGROUPS is off"));
}

class RealAttemptGroups : public RealCgroup {};

TEST_F(RealAttemptGroups, AreWrittenDownBeforeAnythingStarts) {
  TemporaryDirectory folder;
  Ledger ledger = Ledger::open(folder.path() / "ledger.sqlite");
  const std::string batch = "test-b" + std::to_string(getpid());
  AttemptGroups groups(ledger, batch);
  groups.begin(ledger);
  EXPECT_THAT(ledger.fact("clean-up"), StartsWith("control group: /"));
  EXPECT_THAT(ledger.fact("clean-up"), HasSubstr("lockstep-" + batch));
  const std::filesystem::path one = groups.of(batch + ":1");
  EXPECT_EQ(one.parent_path().string(), ledger.fact("cgroups"));
  EXPECT_FALSE(std::filesystem::exists(one.parent_path())) << "it comes with the first attempt";
  ASSERT_TRUE(make_cgroup(one));
  const AttemptGroups later(ledger, batch);
  EXPECT_THAT(later.marks(), UnorderedElementsAre(batch + ":1"));
  later.remove(batch + ":1");
  EXPECT_THAT(later.marks(), IsEmpty());
  EXPECT_TRUE(remove_cgroup(one.parent_path()));
}

}  // namespace
}  // namespace lockstep
