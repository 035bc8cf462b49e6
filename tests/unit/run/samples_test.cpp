// The record of samples, over resumes.
#include "run/samples.h"

#include <gtest/gtest.h>

#include "run_fixtures.h"

namespace lockstep {
namespace {

using Lists = std::vector<std::vector<std::int64_t>>;

class Samples : public ::testing::Test {
 protected:
  TemporaryDirectory run;
  std::filesystem::path file = run.path() / "samples.jsonl";
};

TEST_F(Samples, AreReadBackInOrder) {
  SampleWriter writer(file);
  writer.write(1, std::vector<std::int64_t>{5, 3});
  writer.write(2, std::vector<std::int64_t>{});
  writer.write(3, std::vector<std::int64_t>{1LL << 60, -1});
  EXPECT_EQ(effective_samples(run.path()), (Lists{{5, 3}, {}, {1LL << 60, -1}}));
}

TEST_F(Samples, OfARunWithoutARecordAreNone) { EXPECT_TRUE(effective_samples(run.path()).empty()); }

TEST_F(Samples, ThatAResumeTookBackDoNotCount) {
  const std::vector<std::int64_t> first = {1}, second = {2}, lost = {9};
  {
    SampleWriter writer(file);
    writer.write(1, first);
    writer.write(2, lost);
    writer.write(3, lost);
  }
  SampleWriter writer(file);
  writer.resume(1);
  writer.write(2, second);
  EXPECT_EQ(effective_samples(run.path()), (Lists{{1}, {2}}));
}

TEST_F(Samples, OfAStepRecordedTwiceShowBothSoThatTheFaultIsSeen) {
  SampleWriter writer(file);
  writer.write(1, std::vector<std::int64_t>{1});
  writer.write(1, std::vector<std::int64_t>{2});
  EXPECT_EQ(effective_samples(run.path()).size(), 2u);
}

TEST_F(Samples, DamagedLinesArePassedOver) {
  put(file,
      "{\"step\":1,\"samples\":[1]}\nx\n{\"step\":2,\"samples\":[1.5]}\n{\"step\":\"2\","
      "\"samples\":[1]}\n{\"resume\":\"x\"}\n{\"step\":2,\"samples\":[2]}\n{\"step\":3,\"sam");
  EXPECT_EQ(effective_samples(run.path()), (Lists{{1}, {2}}));
}

// Kills at any moment: whatever was recorded too much, the list is the uninterrupted one.
TEST_F(Samples, AreTheUninterruptedListAfterAnySeriesOfKills) {
  std::mt19937 random(5);
  for (int round = 0; round < 50; ++round) {
    std::filesystem::remove(file);
    std::int64_t step = 0, end = 12;
    while (step < end) {
      SampleWriter writer(file);
      writer.resume(step);
      const std::int64_t until = std::min<std::int64_t>(end, step + random() % 6);
      for (std::int64_t s = step + 1; s <= until; ++s)
        writer.write(s, std::vector<std::int64_t>{s * 10, s * 10 + 1});
      // Checkpoints are every third step; a torn line may be left.
      step = until == end ? end : until / 3 * 3;
      if (step < end) std::ofstream(file, std::ios::app) << "{\"step\":" << until + 1 << ",\"sa";
    }
    Lists expected;
    for (std::int64_t s = 1; s <= end; ++s) expected.push_back({s * 10, s * 10 + 1});
    EXPECT_EQ(effective_samples(run.path()), expected);
  }
}

}  // namespace
}  // namespace lockstep
