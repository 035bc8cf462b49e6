// The lock of a run: passed on without a gap, and respected on file systems that keep locks to
// themselves.
#include "runtime/run/folder/run_lock.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "core/base/process/pass_fd.h"
#include "core/base/text/text.h"
#include "fakes/fake_clock.h"
#include "run_fixtures.h"
#include "runtime/run/events/json_lines.h"
#include "runtime/run/folder/run_dir.h"

namespace lockstep {
namespace {

using ::testing::HasSubstr;

class RunLocks : public ::testing::Test {
 protected:
  // As another machine leaves it, on a mount whose locks we do not see.
  void held_by_another_machine(bool released = false) const {
    nlohmann::json holder = {{"pid", 4321}, {"host", "far"}, {"machine", "other"}};
    if (released) holder["released"] = true;
    put(file, to_line(holder) + "\n");
  }
  void touch(double unix_s) const {
    timespec times[2] = {};
    times[0].tv_sec = times[1].tv_sec = static_cast<time_t>(unix_s);
    utimensat(AT_FDCWD, file.c_str(), times, 0);
  }
  std::string refusal(Clock& clock) const {
    return error_if_any([&] { RunLock::take(file, shared, clock); });
  }

  TemporaryDirectory folder;
  std::filesystem::path file = folder.path() / "lock";
  const LockRules own{.machine = "mine", .own_disk = true};
  const LockRules shared{.machine = "mine", .own_disk = false};
};

TEST_F(RunLocks, ArePassedOnToAnotherProcessWithoutAGap) {
  auto [ours, theirs] = socket_pair();
  const int status = in_child([&, &theirs = theirs] {
    const auto lock = RunLock::take(file, own);
    lock->pass_on(theirs.get());
  });
  EXPECT_EQ(status, 0);
  // The process that took it has gone, and nobody else could get it.
  EXPECT_THAT(error_if_any([&] { RunLock::take(file, own); }), HasSubstr("in use"));
  auto lock = RunLock::adopt(receive_fd(ours.get()), own);
  EXPECT_THAT(error_if_any([&] { RunLock::take(file, own); }),
              HasSubstr(cat("in use by process ", getpid(), " on ")));
  lock.reset();
  EXPECT_EQ(error_if_any([&] { RunLock::take(file, own); }), "");
}

TEST_F(RunLocks, NothingIsReceivedWhereNothingWasSent) {
  auto [ours, theirs] = socket_pair();
  EXPECT_FALSE(receive_fd(ours.get()));
  theirs.reset();
  EXPECT_FALSE(receive_fd(ours.get()));
}

// Ticks, and lets somebody do something at each sleep.
class BusyClock : public Clock {
 public:
  explicit BusyClock(std::function<void(double)> at_sleep) : at_sleep_(std::move(at_sleep)) {}
  double now_s() override { return time_.now; }
  double wall_s() override { return time_.wall; }
  void sleep_s(double seconds) override {
    time_.sleep_s(seconds);
    at_sleep_(time_.now);
  }

 private:
  FakeClock time_;
  std::function<void(double)> at_sleep_;
};

TEST_F(RunLocks, OfAnotherMachineThatTouchesThemAreRefused) {
  held_by_another_machine();
  BusyClock clock([&](double now_s) { touch(1e9 + now_s); });
  EXPECT_THAT(refusal(clock), HasSubstr("in use by process 4321 on far"));
  EXPECT_THAT(read_file(file), HasSubstr("far"));  // which goes on holding it
}

TEST_F(RunLocks, OfAMachineThatIsGoneAreTakenOnceNothingTouchesThem) {
  held_by_another_machine();
  FakeClock clock;
  const double begin_s = clock.now_s();
  EXPECT_EQ(refusal(clock), "");
  EXPECT_GE(clock.now_s() - begin_s, shared.watch_s);
}

TEST_F(RunLocks, ThatWereGivenUpInOrderAreTakenAtOnce) {
  held_by_another_machine(/*released=*/true);
  FakeClock clock;
  const double begin_s = clock.now_s();
  EXPECT_EQ(refusal(clock), "");
  EXPECT_LT(clock.now_s() - begin_s, 1);
  { const auto lock = RunLock::take(file, shared); }
  EXPECT_THAT(read_file(file), HasSubstr("\"released\":true"));
}

// There flock sees every holder; another machine's name is that of this disk's earlier host.
TEST_F(RunLocks, OnADiskOfThisMachineNeedNoWatching) {
  held_by_another_machine();
  FakeClock clock;
  const double begin_s = clock.now_s();
  RunLock::take(file, own, clock);
  EXPECT_LT(clock.now_s() - begin_s, 1);
}

TEST_F(RunLocks, AreTouchedWhileTheyAreHeld) {
  LockRules quick = shared;
  quick.touch_s = 0.01;
  const auto lock = RunLock::take(file, quick);
  touch(1000);
  struct stat info {};
  for (int i = 0; i < 1000 && (stat(file.c_str(), &info) != 0 || info.st_mtime <= 1000); ++i)
    system_clock().sleep_s(0.01);
  EXPECT_GT(info.st_mtime, 1000);
}

TEST_F(RunLocks, AReaderSeesTheHolderOnAnotherMachineByItsTouches) {
  held_by_another_machine();
  FakeClock clock;
  touch(clock.wall_s());
  ASSERT_TRUE(lock_holder(file, shared, clock));
  EXPECT_EQ(lock_holder(file, shared, clock)->host, "far");
  EXPECT_FALSE(lock_holder(file, own, clock));
  touch(clock.wall_s() - 600);
  EXPECT_FALSE(lock_holder(file, shared, clock));
  held_by_another_machine(/*released=*/true);
  touch(clock.wall_s());
  EXPECT_FALSE(lock_holder(file, shared, clock));
}

TEST_F(RunLocks, AreNoPipesAndNoLinks) {
  ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
  EXPECT_THAT(error_if_any([&] { RunLock::take(file, own); }), HasSubstr("must be a regular file"));
  EXPECT_FALSE(lock_holder(file, own));
}

TEST_F(RunLocks, TheDisksOfThisMachineAreKnown) {
  EXPECT_FALSE(lock_rules("/proc").own_disk);  // stands for any that we do not know
  EXPECT_FALSE(lock_rules(folder.path()).machine.empty());
  EXPECT_EQ(lock_rules(folder.path()).machine, lock_rules("/").machine);
}

}  // namespace
}  // namespace lockstep
