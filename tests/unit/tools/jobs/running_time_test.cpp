// The time in which a batch ran, from its ledger.
#include "tools/jobs/analysis/running_time.h"

#include <cmath>

#include "ledger_fixtures.h"

#include "tools/jobs/analysis/analysis.h"
#include "tools/jobs/analysis/batch_text.h"
#include "tools/jobs/files/batch_shares.h"

namespace lockstep {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

class RunningTimeTest : public LedgerFolder {
 protected:
  // An attempt of `supervisor`, in seconds since the first start.
  static void attempt(Ledger& ledger, const std::string& supervisor, double begin, double end) {
    std::vector<Attempt> attempts{{.job = 1, .supervisor = supervisor}};
    ledger.begin(attempts);
    ledger.end(attempts[0],
               {.outcome = AttemptOutcome::done, .started = first + begin, .ended = first + end},
               JobState::done, 0);
  }
  static constexpr double first = 1e6;
};

TEST_F(RunningTimeTest, IsFromTheFirstStartToTheLastEndOfOneProcess) {
  Ledger ledger = open_with({"a"});
  attempt(ledger, "p", 0, 2);
  attempt(ledger, "p", 7, 9);  // a retry after a delay: the batch ran meanwhile
  const RunningTime time = running_time(ledger);
  EXPECT_THAT(time.stretches, ElementsAre(Pair(first, first + 9)));
  EXPECT_THAT(time.gaps(), IsEmpty());
  EXPECT_EQ(gaps_text(time.gaps()), "");
}

TEST_F(RunningTimeTest, LeavesOutTheTimeBetweenProcesses) {
  Ledger ledger = open_with({"a"});
  attempt(ledger, "p", 0, 3);
  attempt(ledger, "q", 23, 25);
  attempt(ledger, "r", 35, 36);
  const RunningTime time = running_time(ledger);
  EXPECT_DOUBLE_EQ(time.seconds(), 6);
  EXPECT_EQ(gaps_text(time.gaps()), "stopped 2 times, for 30.0 s in all");
}

// It goes on under its supervisor, and ends before or after the next process begins.
TEST_F(RunningTimeTest, CountsJobsThatOutliveTheirProcessOnce) {
  Ledger ledger = open_with({"a"});
  attempt(ledger, "p", 0, 8);
  attempt(ledger, "q", 5, 10);
  EXPECT_DOUBLE_EQ(running_time(ledger).seconds(), 10);
}

TEST_F(RunningTimeTest, LeavesOutPausesInWhichNoJobRan) {
  Ledger ledger = open_with({"a"});
  attempt(ledger, "p", 0, 4);
  attempt(ledger, "p", 20, 22);
  ledger.set_fact("pauses", "[[1000002.0,1000019.5]]");
  const RunningTime time = running_time(ledger);
  EXPECT_THAT(time.stretches, ElementsAre(Pair(first, first + 4), Pair(first + 19.5, first + 22)));
  EXPECT_EQ(gaps_text(time.gaps()), "paused once, for 15.5 s");
}

// The clock was set back while one of them ran, and the other took no time.
TEST_F(RunningTimeTest, IsNoLessForOddTimesOfJobsNearAPause) {
  Ledger ledger = open_with({"a"});
  attempt(ledger, "p", 0, 4);
  attempt(ledger, "p", 8, 3);
  attempt(ledger, "q", 30, 30);
  ledger.set_fact("pauses", "[[1000005.0,1000006.0]]");
  EXPECT_THAT(running_time(ledger).stretches,
              ElementsAre(Pair(first, first + 4), Pair(first + 30, first + 30)));
}

TEST_F(RunningTimeTest, SaysWhetherAttemptsWithoutATimeWereLost) {
  Ledger ledger = open_with({"a", "b"});
  attempt(ledger, "p", 0, 4);
  EXPECT_FALSE(running_time(ledger).has_lost);
  end(ledger, begin(ledger, 2), AttemptOutcome::lost, JobState::waiting);
  EXPECT_TRUE(running_time(ledger).has_lost);
  EXPECT_TRUE(running_time({running_time(ledger), RunningTime()}).has_lost);
}

TEST_F(RunningTimeTest, OfJobsThatTookNoTimeIsToldWithoutARate) {
  const BatchFolder batch{folder.path()};
  Ledger ledger = open_with({"a"});
  attempt(ledger, "p", 0, 0);
  EXPECT_THAT(analysis_text(analyze(batch)),
              HasSubstr("1 attempt in 0.0 s, too short to tell how many per minute\n"));
}

TEST_F(RunningTimeTest, OfSeveralPartsIsThatInWhichAnyRan) {
  const RunningTime a{.stretches = {{0, 2}, {10, 12}}, .pauses = {}},
      b{.stretches = {{1, 5}}, .pauses = {}};
  EXPECT_THAT(running_time({a, b}).stretches, ElementsAre(Pair(0, 5), Pair(10, 12)));
}

// Each share is a process of its own under Slurm.
TEST_F(RunningTimeTest, SharesKeepTheirPausesAndWhatWasLeftOut) {
  const BatchFolder batch{folder.path()};
  for (const std::int64_t share : {1, 2}) {
    std::filesystem::create_directories(share_folder(batch, share).path);
    JobList list = small_jobs({cat("job of ", share)});
    list.jobs[0].number = share;
    list.limits.left_out = {"z: it is bad"};
    Ledger::build(share_folder(batch, share).ledger(), list, share * 1000, {});
    Ledger ledger = Ledger::open(share_folder(batch, share).ledger());
    const auto minute = static_cast<double>(60 * share);
    ledger.set_fact("pauses", cat("[[", minute, ",", minute + 5, "]]"));
  }
  Ledger all = ledger_to_read(batch);
  EXPECT_THAT(all.pauses(), ElementsAre(Pair(60, 65), Pair(120, 125)));
  EXPECT_THAT(batch_summary(batch, all), HasSubstr("left out: z: it is bad\n"));
}

TEST_F(RunningTimeTest, APauseIsKeptUntilItsEnd) {
  Ledger ledger = open_with({"a"});
  ledger.set_paused(true);
  ledger.set_paused(true);
  ASSERT_EQ(ledger.pauses().size(), 1U);
  EXPECT_TRUE(std::isinf(ledger.pauses()[0].second));
  ledger.set_paused(false);
  EXPECT_FALSE(std::isinf(ledger.pauses()[0].second));
  EXPECT_FALSE(ledger.is_paused());
  ledger.set_paused(true);
  EXPECT_EQ(ledger.pauses().size(), 2U);
}

// An earlier version sets the fact `paused` alone.
TEST_F(RunningTimeTest, APauseThatAnEarlierVersionBeganOrEndedIsNotGuessed) {
  Ledger ledger = open_with({"a"});
  ledger.set_fact("pauses", "[[5.0,6.0]]");
  ledger.set_fact("paused", "yes");
  ledger.set_paused(false);
  EXPECT_THAT(ledger.pauses(), ElementsAre(Pair(5, 6)));
  ledger.set_paused(true);
  ledger.set_fact("paused", "no");
  EXPECT_THAT(ledger.pauses(), ElementsAre(Pair(5, 6)));
  ledger.set_paused(true);
  ledger.set_paused(false);
  ASSERT_EQ(ledger.pauses().size(), 2U);
  EXPECT_FALSE(std::isinf(ledger.pauses()[1].second));
}

TEST_F(RunningTimeTest, IsWhatSummaryAndAnalysisCount) {
  const BatchFolder batch{folder.path()};
  Ledger ledger = open_with({"a"});
  attempt(ledger, "p", 0, 3);
  attempt(ledger, "q", 57, 60);
  EXPECT_THAT(batch_summary(batch, ledger),
              HasSubstr("running for 6.0 s (stopped once, for 54.0 s; from first start to last end "
                        "60.0 s); 2 attempts, 3.000 s each with start-up, on average, 20.0 per "
                        "minute, 1.00 at once on average"));
  const BatchAnalysis analysis = analyze(batch);
  EXPECT_DOUBLE_EQ(analysis.wall_s, 60);
  EXPECT_DOUBLE_EQ(analysis.busy_slots, 1);
  EXPECT_THAT(analysis_text(analysis),
              HasSubstr("2 attempts in 6.0 s, 20.0 per minute, 1.00 at once on average\n"
                        "stopped for 54.0 s, 3.0 s after the first start: no job ran whose end is "
                        "known; not counted\n"));
  EXPECT_THAT(comparison_text({{"b", analysis}}),
              HasSubstr("b was stopped once, for 54.0 s, which its seconds leave out\n"));
}

TEST_F(RunningTimeTest, MoreJobsAtOnceThanCoresAreSaidBeforeTheyBegin) {
  Ledger ledger = open();
  JobList list = small_jobs({"a", "b", "c", "d", "e"});
  for (Job& job : list.jobs) job.cpus = 4;
  ledger.add(list, true);
  EXPECT_EQ(
      crowded_note(ledger, {.cores = {0, 1}, .slots = 4}),
      "--slots 4 on 2 cores: 4 jobs of 4 cores each at once share them, and each takes longer "
      "for it");
  EXPECT_EQ(crowded_note(ledger, {.cores = {0, 1}}), "") << "jobs wait for cores of their own";
  EXPECT_EQ(crowded_note(ledger, {.cores = {0, 1}, .slots = 2}), "");
  for (std::int64_t job = 1; job <= 4; ++job) ledger.set_state(job, JobState::done, "");
  EXPECT_EQ(crowded_note(ledger, {.cores = {0, 1}, .slots = 4}), "") << "one shares with none";
  ledger.set_state(5, JobState::done, "");
  EXPECT_EQ(crowded_note(ledger, {.cores = {0, 1}, .slots = 4}), "") << "none is left";
}

TEST_F(RunningTimeTest, JobsAtOnceThatGpusLimitAreNotCalledTooMany) {
  Ledger ledger = open();
  JobList list = small_jobs({"a", "b", "c", "d", "e"});
  for (Job& job : list.jobs) job.gpus = {.kind = GpuRequest::Kind::share, .share = 0.25};
  ledger.add(list, true);
  EXPECT_EQ(crowded_note(ledger, {.cores = {0, 1}, .slots = 64}), "");
}

TEST_F(RunningTimeTest, JobsOfFewCoresAreNotTakenForTheLargest) {
  Ledger ledger = open();
  JobList list = small_jobs({"a", "b", "c", "d"});
  list.jobs[0].cpus = 4;
  for (std::size_t i = 1; i < 4; ++i) list.jobs[i].cpus = 0.25;
  ledger.add(list, true);
  EXPECT_EQ(crowded_note(ledger, {.cores = {0, 1}, .slots = 4}), "");
  list.jobs[0].cpus = 1;
  for (std::size_t i = 1; i < 4; ++i) list.jobs[i].cpus = 2;
  ledger.add(list, true);
  EXPECT_EQ(crowded_note(ledger, {.cores = {0, 1}, .slots = 4}),
            "--slots 4 on 2 cores: 4 jobs at once share them, and each takes longer for it");
}

}  // namespace
}  // namespace lockstep
