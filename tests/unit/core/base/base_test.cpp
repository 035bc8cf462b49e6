// Errors, assertions, descriptors, clocks and the version.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "core/base/check.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/files/fd.h"
#include "core/base/version.h"
#include "fakes/fake_clock.h"

namespace lockstep {
namespace {

bool is_open(int fd) { return ::fcntl(fd, F_GETFD) != -1; }
int open_null() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }

TEST(Error, CarriesAHint) {
  const Error error("what", "hint");
  EXPECT_STREQ(error.what(), "what");
  EXPECT_EQ(error.hint(), "hint");
  EXPECT_EQ(Error("what").hint(), "");
}

TEST(CheckDeathTest, NamesConditionAndPlace) {
  EXPECT_DEATH(LOCKSTEP_CHECK(1 + 1 == 3), "1 \\+ 1 == 3 does not hold at .*base_test.cpp:");
}

TEST(Check, PassesWhatHoldsAndEvaluatesItOnce) {
  int count = 0;
  LOCKSTEP_CHECK(++count == 1);
  EXPECT_EQ(count, 1);
}

TEST(UniqueFd, ClosesWhenItGoes) {
  const int raw = open_null();
  ASSERT_TRUE(is_open(raw));
  { UniqueFd fd(raw); }
  EXPECT_FALSE(is_open(raw));
}

TEST(UniqueFd, HandsItsDescriptorOverWhenMoved) {
  UniqueFd first(open_null());
  const int raw = first.get();
  UniqueFd second = std::move(first);
  EXPECT_FALSE(first);
  EXPECT_TRUE(second);
  EXPECT_TRUE(is_open(raw));
  UniqueFd third(open_null());
  const int replaced = third.get();
  third = std::move(second);
  EXPECT_FALSE(is_open(replaced));
  EXPECT_EQ(third.get(), raw);
}

TEST(UniqueFd, KeepsTheDescriptorThatItIsResetTo) {
  UniqueFd fd(open_null());
  fd.reset(fd.get());
  EXPECT_TRUE(is_open(fd.get()));
}

TEST(UniqueFd, LetsGoOfWhatIsReleased) {
  UniqueFd fd(open_null());
  const int raw = fd.release();
  EXPECT_FALSE(fd);
  EXPECT_TRUE(is_open(raw));
  ::close(raw);
}

TEST(SystemClock, MovesForwardBySleeping) {
  Clock& clock = system_clock();
  const double before = clock.now_s();
  clock.sleep_s(0.01);
  clock.sleep_s(-1);
  EXPECT_GE(clock.now_s() - before, 0.01);
  EXPECT_LT(clock.now_s() - before, 30);
  EXPECT_GT(clock.wall_s(), 1.6e9);
}

TEST(FakeClock, MovesOnlyWhenToldTo) {
  FakeClock clock;
  clock.now = 5;
  clock.wall = 100;
  EXPECT_EQ(clock.now_s(), 5);
  clock.sleep_s(2.5);
  EXPECT_EQ(clock.now_s(), 7.5);
  EXPECT_EQ(clock.wall_s(), 102.5);
  EXPECT_THAT(clock.sleeps, ::testing::ElementsAre(2.5));
}

TEST(Version, IsThatOfTheProject) {
  EXPECT_THAT(version(), ::testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
}

}  // namespace
}  // namespace lockstep
