// When a rank takes one more thread for its data.
#include "training/trainer/loop/loader_threads.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

// A window of 20 steps of one second each; what its last step said.
std::optional<double> window(LoaderThreads& threads, double& now_s, double waited_s) {
  std::optional<double> share;
  for (int step = 0; step < 20; ++step) {
    threads.waited(waited_s);
    EXPECT_FALSE(share);
    share = threads.step_done(now_s += 1);
  }
  return share;
}

TEST(LoaderThreads, AreMoreAfterEachWindowThatWaited) {
  LoaderThreads threads(-1, 3);
  double now_s = 1000;
  EXPECT_EQ(threads.count(), 1);
  EXPECT_FALSE(window(threads, now_s, 0.5)) << "the first window warms up";
  EXPECT_EQ(window(threads, now_s, 0.5), 0.5);
  EXPECT_EQ(threads.count(), 2);
  EXPECT_FALSE(window(threads, now_s, 0.01)) << "1 % is little";
  EXPECT_EQ(threads.count(), 2);
  EXPECT_TRUE(window(threads, now_s, 0.03));
  EXPECT_EQ(threads.count(), 3);
  EXPECT_FALSE(window(threads, now_s, 0.5)) << "there are no more cores";
  EXPECT_EQ(threads.count(), 3);
}

TEST(LoaderThreads, AreSoonAsManyAsTheWaitingTells) {
  LoaderThreads threads(-1, 32);
  double now_s = 0;
  window(threads, now_s, 0.9);
  EXPECT_EQ(window(threads, now_s, 0.9), 0.9);
  EXPECT_EQ(threads.count(), 4) << "not ten at once: the first steps say little";
  window(threads, now_s, 0.5);
  EXPECT_EQ(threads.count(), 8);
  window(threads, now_s, 0.125);
  EXPECT_EQ(threads.count(), 9);
  window(threads, now_s, 0.9);
  EXPECT_EQ(threads.count(), 32);
}

TEST(LoaderThreads, StayWhatWasAskedFor) {
  for (const std::int64_t asked : {0, 2}) {
    LoaderThreads threads(asked, 8);
    double now_s = 0;
    for (int i = 0; i < 3; ++i) EXPECT_FALSE(window(threads, now_s, 0.9));
    EXPECT_EQ(threads.count(), asked);
  }
}

}  // namespace
}  // namespace lockstep
