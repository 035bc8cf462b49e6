// The sampling thread.
#include "tools/monitor/sampler.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "fakes/fake_probe.h"
#include "fakes/fake_reader.h"

namespace lockstep {
namespace {

std::shared_ptr<FakeReader> two_readable() {
  auto reader = std::make_shared<FakeReader>();
  reader->present = fake_probe(2).present;
  reader->samples.resize(2);
  reader->samples[0][GpuMetric::power] = measured(100);
  reader->samples[1][GpuMetric::power] = measured(200);
  return reader;
}

TEST(Sampler, NumbersItsSamplesAndKeepsTheInterval) {
  Sampler sampler(two_readable(), {0, 1}, 0.05);
  long long seen = 0;
  double first = 0, last = 0;
  for (int i = 0; i < 5; ++i) {
    const auto sample = sampler.next(seen, 5);
    ASSERT_TRUE(sample);
    EXPECT_EQ(sample->number, seen + 1);
    EXPECT_EQ(sample->gpus.at(1)[GpuMetric::power].value, 200);
    EXPECT_GT(sample->wall_s, 1.7e9);
    seen = sample->number;
    (i == 0 ? first : last) = sample->at_s;
  }
  EXPECT_GE(last - first, 4 * 0.05 - 0.01);
}

TEST(Sampler, ReadsOnlyTheGpusThatAreWanted) {
  Sampler sampler(two_readable(), {1}, 1);
  const auto sample = sampler.next(0, 5);
  ASSERT_TRUE(sample);
  ASSERT_EQ(sample->gpus.size(), 1u);
  EXPECT_EQ(sample->gpus[0][GpuMetric::power].value, 200);
}

TEST(Sampler, DoesNotWaitForACallThatHangs) {
  auto reader = two_readable();
  std::atomic<bool> let_go = false;
  reader->on_read = [&] {
    while (!let_go) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  Sampler sampler(reader, {0}, 1);
  const double begin = system_clock().now_s();
  EXPECT_FALSE(sampler.next(0, 0.2));
  EXPECT_LT(system_clock().now_s() - begin, 2);
  EXPECT_GT(sampler.hanging_s(), 0.05);
  let_go = true;
  ASSERT_TRUE(sampler.next(0, 5));
  EXPECT_EQ(sampler.hanging_s(), 0);
}

TEST(Sampler, EndsAtOnceWhereTheIntervalIsLong) {
  const double begin = system_clock().now_s();
  {
    Sampler sampler(two_readable(), {0}, 3600);
    ASSERT_TRUE(sampler.next(0, 5));
  }
  EXPECT_LT(system_clock().now_s() - begin, 2);
}

TEST(Sampler, LeavesAThreadBehindThatNeverComesBack) {
  auto reader = two_readable();
  auto let_go = std::make_shared<std::atomic<bool>>(false);
  reader->on_read = [let_go] {
    while (!*let_go) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  const std::weak_ptr<FakeReader> watched = reader;
  {
    Sampler sampler(std::move(reader), {0}, 1);
    EXPECT_FALSE(sampler.next(0, 0.05));
    sampler.abandon();
  }
  EXPECT_FALSE(watched.expired());  // what the thread uses is still there
  *let_go = true;
  for (int i = 0; i < 500 && !watched.expired(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_TRUE(watched.expired());
}

}  // namespace
}  // namespace lockstep
