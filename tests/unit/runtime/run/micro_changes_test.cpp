// How the changes of a run's micro-batch are shown: those that were asked for, and others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/files/files.h"
#include "fakes/fake_clock.h"
#include "runtime/run/events/events.h"
#include "runtime/run/folder/run_history.h"
#include "runtime/run/folder/run_summary.h"
#include "runtime/run/progress/progress_text.h"

namespace lockstep {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

class MicroChanges : public ::testing::Test {
 protected:
  MicroChanges() { run.write_record({{"lockstep", "0.1.0"}, {"recipe", "toy"}}); }
  void write(const char* kind, int step, int micro) {
    EventWriter(run.events_path()).write({{"kind", kind}, {"step", step}, {"micro", micro}});
  }
  std::string page() { return run_page(run, {}, clock); }

  TemporaryDirectory folder;
  RunDir run = RunDir::create(folder.path(), "first", "toy");
  FakeClock clock;
};

TEST_F(MicroChanges, AreShownInTheWordsOfTheOption) {
  write("start", 0, 8);
  EXPECT_THAT(page(), Not(HasSubstr("batch.micro_changes")));
  write("micro", 200, 4);
  write("memory", 300, 2);
  EXPECT_THAT(page(), HasSubstr("8, 4 after step 200, 2 after step 300  (batch.micro=8 "
                                "batch.micro_changes=200:4,300:2)\n"));
  EXPECT_EQ(read_history(run.events_path()).memory_left, 2);
}

TEST_F(MicroChanges, OfAResumeBeginAnewWithThoseThatAreDue) {
  write("start", 0, 8);
  write("micro", 200, 4);
  write("memory", 300, 2);
  write("resume", 250, 0);
  write("start", 250, 8);
  write("micro", 250, 4);
  EXPECT_THAT(page(), HasSubstr("8, 4 after step 200  (batch.micro=8 batch.micro_changes=200:4)"));
}

TEST_F(MicroChanges, TellWhichMicroBatchWasInForceAtAStep) {
  const auto at = [this](int step) { return read_history(run.events_path()).micro_at(step); };
  EXPECT_THAT(at(0), Pair(-1, 0));
  write("start", 0, 8);
  write("micro", 200, 4);
  write("memory", 300, 2);
  EXPECT_THAT(at(0), Pair(0, 8));
  EXPECT_THAT(at(199), Pair(0, 8));
  EXPECT_THAT(at(200), Pair(200, 4));
  EXPECT_THAT(at(1000), Pair(300, 2));
}

TEST_F(MicroChanges, NoResumeTakesBackThatMemoryRanOut) {
  const auto left = [this] { return read_history(run.events_path()).memory_left; };
  write("start", 0, 8);
  EXPECT_EQ(left(), 0);
  write("memory", 300, 2);
  write("resume", 250, 0);
  write("start", 250, 2);
  EXPECT_EQ(left(), 2);
  write("resume", 260, 0);
  write("start", 260, 4);
  EXPECT_EQ(left(), 0) << "somebody asked for more again";
  write("memory", 270, 2);
  EXPECT_EQ(left(), 2);
}

TEST_F(MicroChanges, AreALineOfTheLog) {
  const std::vector<EventLine> lines = describe_event({{"kind", "micro"},
                                                       {"step", 5},
                                                       {"micro", 7},
                                                       {"accumulation", 4},
                                                       {"micro_before", 14},
                                                       {"accumulation_before", 2}});
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].text,
            "micro-batch 14 -> 7, accumulation 2 -> 4 after step 5 (batch.micro_changes)");
}

}  // namespace
}  // namespace lockstep
