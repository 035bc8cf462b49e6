// The record of samples, over resumes.
#include "runtime/run/events/samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

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

TEST_F(Samples, NumbersThatAreNoneDamageTheirLine) {
  put(file,
      "{\"step\":1,\"samples\":[1]}\n{\"step\":2,\"samples\":[18446744073709551615]}\n"
      "{\"step\":18446744073709551615,\"samples\":[3]}\n{\"resume\":18446744073709551615}\n"
      "{\"step\":2,\"samples\":[2]}\n");
  EXPECT_EQ(effective_samples(run.path()), (Lists{{1}, {2}}));
}

// A full disk, as a limit of the size of files makes it.
class FullSamples : public Samples {
 protected:
  FullSamples() : before_(std::signal(SIGXFSZ, SIG_IGN)) { getrlimit(RLIMIT_FSIZE, &limit_); }
  ~FullSamples() override {
    set_limit(limit_.rlim_cur);
    std::signal(SIGXFSZ, before_);
  }
  void set_limit(rlim_t bytes) const {
    const rlimit less{.rlim_cur = bytes, .rlim_max = limit_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &less);
  }
  // Steps up to `last`, of which those from the third on find no room.
  void write_two_steps(std::int64_t last) const {
    SampleWriter writer(file);
    for (std::int64_t step = 1; step <= 2; ++step) EXPECT_EQ(writer.write(step, list(step)), "");
    set_limit(std::filesystem::file_size(file) + 5);
    EXPECT_THAT(writer.write(3, list(3)), ::testing::HasSubstr("samples.jsonl: File too large"));
    set_limit(limit_.rlim_cur);
    for (std::int64_t step = 4; step <= last; ++step)
      EXPECT_EQ(writer.write(step, list(step)), "") << "told once";
  }
  static std::vector<std::int64_t> list(std::int64_t step) { return {step * 10, step * 10 + 1}; }

 private:
  rlimit limit_{};
  void (*before_)(int);
};

TEST_F(FullSamples, EndWithTheLastStepThatWasWrittenWhole) {
  write_two_steps(5);
  EXPECT_EQ(effective_samples(run.path()), (Lists{{10, 11}, {20, 21}}));
  EXPECT_TRUE(read_file(file).ends_with("21]}\n"));
}

TEST_F(FullSamples, GoOnWhereTrainingGoesOnAfterAStepThatTheyHave) {
  write_two_steps(5);
  SampleWriter writer(file);
  EXPECT_EQ(writer.resume(2), "");
  EXPECT_EQ(writer.write(3, list(3)), "");
  EXPECT_EQ(effective_samples(run.path()), (Lists{{10, 11}, {20, 21}, {30, 31}}));
}

TEST_F(FullSamples, HaveNoGapWhereItGoesOnLater) {
  write_two_steps(5);
  SampleWriter writer(file);
  EXPECT_THAT(writer.resume(4), ::testing::HasSubstr("ends with step 2, before step 4"));
  EXPECT_EQ(writer.write(5, list(5)), "");
  EXPECT_EQ(effective_samples(run.path()), (Lists{{10, 11}, {20, 21}}));
  EXPECT_EQ(writer.resume(1), "") << "the run recovers from an earlier step";
  EXPECT_EQ(writer.write(2, list(2)), "");
  EXPECT_EQ(effective_samples(run.path()), (Lists{{10, 11}, {20, 21}}));
}

TEST_F(Samples, DoNotGoOnAfterALastLineThatIsDamaged) {
  put(file, "{\"step\":1,\"samples\":[1]}\n{\"step\":2,\"sam\n");
  SampleWriter writer(file);
  EXPECT_THAT(writer.resume(1), ::testing::HasSubstr("last line"));
  EXPECT_EQ(writer.write(2, std::vector<std::int64_t>{2}), "");
  EXPECT_EQ(effective_samples(run.path()), (Lists{{1}}));
}

TEST_F(Samples, DoNotGoOnAfterALineThatIsEmpty) {
  put(file, "{\"step\":1,\"samples\":[1]}\n\n");
  SampleWriter writer(file);
  EXPECT_THAT(writer.resume(1), ::testing::HasSubstr("last line"));
}

// 64 GiB of them, whose disk space is a hole.
TEST_F(Samples, OfALongRunAreReadFromTheirEndWhereTrainingGoesOn) {
  for (const char* torn : {"", "{\"step\":8,\"samples\":[1,"}) {
    put(file, "");
    std::filesystem::resize_file(file, std::uintmax_t{64} << 30);
    std::ofstream(file, std::ios::app) << "\n{\"step\":7,\"samples\":[1]}\n" << torn;
    SampleWriter writer(file);
    EXPECT_THAT(writer.resume(9), ::testing::HasSubstr("ends with step 7, before step 9"));
    EXPECT_EQ(writer.resume(7), "");
  }
}

TEST_F(Samples, WhoseLastLineHasNoBeginningAreAnError) {
  put(file, "");
  std::filesystem::resize_file(file, std::uintmax_t{300} << 20);
  std::ofstream(file, std::ios::app) << "{\"step\":7}\n";
  EXPECT_THROW(SampleWriter{file}, Error);
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
