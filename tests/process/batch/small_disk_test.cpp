// A batch on a disk that is full, really: a small one in a mount namespace of its own.
#include <algorithm>

#include "batch_rig.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::ToolResult;

class SmallDisk : public BatchRig {
 protected:
  // `script` with a disk of 3 MiB on runs/, whose files are in runs/ afterwards; $lockstep is the
  // tool. False: this user may not mount one.
  bool on_small_disk(const std::string& script) {
    fs::create_directories(folder.path() / "runs");
    const std::string line =
        "mount -t tmpfs -o size=3m small runs || exit 99; lockstep=$0; " + script +
        "; rm -f runs/filler; cp -a runs saved; umount runs; cp -a saved/. runs";
    return testing::ToolProcess({"unshare", "-m", "sh", "-c", line, testing::program("lockstep")},
                                folder.path(), environment)
               .wait()
               .code == 0;
  }
};

// One of its own jobs fills it, which it also fails of.
TEST_F(SmallDisk, FullWhileJobsRunSaysSoAndNothingIsLost) {
  const std::string jobs =
      "-- sh -c 'echo $0 >> ran; [ $0 != 7 ] || [ -e freed ] || cat /dev/zero > runs/filler; "
      "echo $0 > $LOCKSTEP_OUT/r' {1} ::: $(seq 1 40)";
  if (!on_small_disk("\"$lockstep\" batch run --name b --slots 2 --cpus 0 " + jobs +
                     " > first.out 2> first.err; echo $? > first; rm runs/filler; touch freed; "
                     "\"$lockstep\" batch resume b > on.out 2> on.err; echo $? > on; "
                     "\"$lockstep\" batch retry b > /dev/null 2>&1; "
                     "\"$lockstep\" batch resume b > last.out 2> last.err; echo $? > last"))
    GTEST_SKIP() << "no file system can be mounted here";
  EXPECT_THAT(text("first"), ::testing::AnyOf("1\n", "2\n")) << text("first.err");
  EXPECT_THAT(text("first.err"),
              AllOf(HasSubstr("error: "), HasSubstr("ledger.sqlite"), HasSubstr("make room")));
  EXPECT_THAT(text("on"), ::testing::AnyOf("0\n", "1\n")) << text("on.err");
  EXPECT_EQ(text("last"), "0\n") << text("last.err");
  EXPECT_EQ(jobs_in("done"), 40);
  Ledger opened = ledger();
  for (std::int64_t job = 1; job <= 40; ++job)
    EXPECT_EQ(read_file(batch() / "jobs" / opened.job(job).name / "r"), std::to_string(job) + "\n");
}

TEST_F(SmallDisk, FullBeforeItBeginsIsAnErrorAndNothingRuns) {
  if (!on_small_disk(
          "cat /dev/zero > runs/filler 2> /dev/null; \"$lockstep\" batch run --name b -- sh -c "
          "'echo x >> ran' > first.out 2> first.err; echo $? > first"))
    GTEST_SKIP() << "no file system can be mounted here";
  EXPECT_EQ(text("first"), "2\n");
  EXPECT_THAT(text("first.err"), AllOf(HasSubstr("error: "), HasSubstr("hint: ")));
  EXPECT_EQ(text("ran"), "");
}

}  // namespace
}  // namespace lockstep
