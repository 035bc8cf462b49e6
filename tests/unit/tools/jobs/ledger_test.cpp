// What a ledger remembers, and what a crash or a power loss leaves of it.
#include "ledger_fixtures.h"

#include "fakes/error_of.h"

namespace lockstep {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

class LedgerTest : public LedgerFolder {};

TEST_F(LedgerTest, KeepsJobsAsTheyWereGiven) {
  Job given = small_job("k");
  given.parameters = {{"lr", "0.1"}, {"seed", "3"}};
  given.environment = {{"A", "b c"}};
  given.outputs = {"model.txt"};
  given.cpus = 1.5;
  given.gpus = {.kind = GpuRequest::Kind::share, .share = 0.25};
  given.retries = 2;
  given.retry_delay_s = 0.5;
  given.timeout_s = 7;
  given.skip_codes = {3, 4};
  given.priority = -2;
  open().add({.jobs = {given}}, true);
  const Job kept = open().job(1);
  EXPECT_EQ(kept.number, 1);
  EXPECT_EQ(kept.key, given.key);
  EXPECT_EQ(kept.name, given.name);
  EXPECT_EQ(kept.command, given.command);
  EXPECT_EQ(kept.parameters, given.parameters);
  EXPECT_EQ(kept.environment, given.environment);
  EXPECT_EQ(kept.outputs, given.outputs);
  EXPECT_EQ(kept.retries, 2);
  EXPECT_EQ(kept.retry_delay_s, 0.5);
  EXPECT_EQ(kept.timeout_s, 7);
  EXPECT_EQ(kept.skip_codes, given.skip_codes);
  const QueuedJob queued = open().queue().at(0);
  EXPECT_EQ(queued.cpus, 1.5);
  EXPECT_EQ(queued.priority, -2);
  EXPECT_EQ(queued.gpus, given.gpus);
}

TEST_F(LedgerTest, KnowsJobsByTheirKeyAndNotByTheirPlace) {
  Ledger ledger = open_with({"a", "b"});
  const AddedJobs added = ledger.add(small_jobs({"c", "b"}), true);
  EXPECT_EQ(added.added, 1);
  EXPECT_EQ(added.known, 1);
  EXPECT_EQ(added.left_out, 1);
  EXPECT_EQ(ledger.find("name-b"), 2);
  EXPECT_EQ(ledger.find("name-c"), 3);
  EXPECT_EQ(ledger.queue().size(), 2U) << "a is no longer listed";
  EXPECT_EQ(ledger.find("name-x"), std::nullopt);
}

TEST_F(LedgerTest, AddedJobsLeaveOthersListed) {
  Ledger ledger = open_with({"a"});
  EXPECT_EQ(ledger.add(small_jobs({"b"}), false).left_out, 0);
  EXPECT_EQ(ledger.queue().size(), 2U);
}

TEST_F(LedgerTest, ANewPriorityOfAKnownJobCounts) {
  Ledger ledger = open_with({"a"});
  JobList again = small_jobs({"a"});
  again.jobs[0].priority = 5;
  again.jobs[0].cpus = 3;
  ledger.add(again, true);
  EXPECT_EQ(ledger.queue().at(0).priority, 5);
  EXPECT_EQ(ledger.queue().at(0).cpus, 3);
}

TEST_F(LedgerTest, KnowsWhichJobNeedsWhich) {
  Ledger ledger = open();
  JobList list = small_jobs({"a", "b", "c"});
  list.jobs[2].after = {"a", "b"};
  ledger.add(list, true);
  EXPECT_THAT(ledger.dependencies(), UnorderedElementsAre(Pair(3, 1), Pair(3, 2)));
}

TEST_F(LedgerTest, LimitsLastUntilTheyAreGivenAgain) {
  Ledger ledger = open();
  JobList list = small_jobs({"a"});
  list.limits = {.max_failure_rate = 0.25, .min_finished = 7, .left_out = {"X: no file"}};
  ledger.add(list, true);
  EXPECT_EQ(ledger.limits().max_failure_rate, 0.25);
  EXPECT_EQ(ledger.limits().min_finished, 7);
  EXPECT_EQ(ledger.left_out(), std::vector<std::string>{"X: no file"});
  ledger.add(small_jobs({"b"}), false);
  EXPECT_EQ(ledger.limits().max_failure_rate, 0.25) << "jobs that are added change no limit";
  ledger.add(small_jobs({"a"}), true);
  EXPECT_EQ(ledger.limits().max_failure_rate, std::nullopt) << "the file no longer names one";
  EXPECT_TRUE(ledger.left_out().empty());
  ledger.set_fact("left_out", "[3, \"Y\"]");
  EXPECT_EQ(ledger.left_out(), std::vector<std::string>{"Y"}) << "a stranger's";
}

TEST_F(LedgerTest, IdsOfAttemptsOnlyGrow) {
  Ledger ledger = open_with({"a", "b"});
  const Attempt first = begin(ledger, 1), other = begin(ledger, 2);
  end(ledger, first, AttemptOutcome::failed, JobState::waiting);
  ledger.database().execute("DELETE FROM attempt WHERE id = 2");
  const Attempt second = begin(ledger, 1);
  EXPECT_EQ(first.number, 1);
  EXPECT_EQ(second.number, 2);
  EXPECT_LT(first.id, other.id);
  EXPECT_LT(other.id, second.id) << "not even that of a row that is gone comes again";
}

TEST_F(LedgerTest, AnAttemptIsThereBeforeItIsOver) {
  {
    Ledger ledger = open_with({"a"});
    begin(ledger, 1);
  }
  Ledger later = open();
  EXPECT_EQ(later.queue().at(0).state, JobState::running);
  const std::vector<Attempt> unfinished = later.unfinished();
  ASSERT_EQ(unfinished.size(), 1U);
  EXPECT_EQ(unfinished[0].supervisor, "s");
  EXPECT_THAT(unfinished[0].cores, ElementsAre(0, 3));
  end(later, unfinished[0], AttemptOutcome::done, JobState::done);
  EXPECT_THAT(later.unfinished(), IsEmpty());
  EXPECT_EQ(later.counts().at(JobState::done), 1);
}

// Between the two a kill would leave a job that runs for ever.
TEST_F(LedgerTest, AnAttemptAndItsJobEndAtOnce) {
  Ledger ledger = open_with({"a"});
  const Attempt attempt = begin(ledger, 1);
  ledger.database().execute(
      "CREATE TEMP TRIGGER cut BEFORE UPDATE ON job BEGIN SELECT RAISE(ABORT, 'cut'); END");
  EXPECT_THAT(error_of([&] { end(ledger, attempt, AttemptOutcome::done, JobState::done); }),
              HasSubstr("cut"));
  EXPECT_EQ(ledger.unfinished().size(), 1U);
  EXPECT_EQ(ledger.queue().at(0).state, JobState::running);
}

TEST_F(LedgerTest, ATransactionWithinAnotherEndsWithThatOne) {
  Ledger ledger = open_with({"a"});
  {
    Transaction outer(ledger.database());
    Transaction inner(ledger.database());
    ledger.set_fact("x", "1");
    inner.commit();
  }
  EXPECT_EQ(ledger.fact("x"), "");
}

TEST_F(LedgerTest, OnlyAttemptsThatCountAreTries) {
  Ledger ledger = open_with({"a"});
  for (const AttemptOutcome outcome : {AttemptOutcome::stopped, AttemptOutcome::lost,
                                       AttemptOutcome::failed, AttemptOutcome::timed_out})
    ledger.end(begin(ledger, 1),
               {.outcome = outcome,
                .counts = outcome != AttemptOutcome::stopped && outcome != AttemptOutcome::lost},
               JobState::waiting, 0);
  EXPECT_EQ(ledger.tries(1), 2);
  EXPECT_EQ(ledger.times_lost(1), 1);
  ledger.forget_tries(1);
  EXPECT_EQ(ledger.tries(1), 0);
}

TEST_F(LedgerTest, AnEndThatWasKnownBeforeStays) {
  Ledger ledger = open_with({"a"});
  const Attempt attempt = begin(ledger, 1);
  end(ledger, attempt, AttemptOutcome::done, JobState::done);
  end(ledger, attempt, AttemptOutcome::lost, JobState::waiting);
  EXPECT_EQ(number(ledger, "SELECT count(*) FROM attempt WHERE outcome = 'done'"), 1);
  EXPECT_EQ(ledger.queue().at(0).state, JobState::done) << "nor does its job run again";
}

TEST_F(LedgerTest, RemembersWhyTheEndOfAnAttemptWasAskedFor) {
  Ledger ledger = open_with({"a"});
  Attempt attempt = begin(ledger, 1);
  EXPECT_EQ(open().unfinished().at(0).asked, "");
  attempt.asked = "cancel";
  ledger.ask_end(attempt);
  EXPECT_EQ(open().unfinished().at(0).asked, "cancel");
  EXPECT_EQ(open().unfinished().at(0).signalled, 0);
  attempt.signalled = 12.5;
  ledger.ask_end(attempt);
  EXPECT_EQ(open().unfinished().at(0).signalled, 12.5);
  end(ledger, attempt, AttemptOutcome::cancelled, JobState::cancelled);
  attempt.asked = "stop";
  ledger.ask_end(attempt);
  EXPECT_EQ(number(ledger, "SELECT count(*) FROM attempt WHERE reason = 'stop'"), 0);
}

TEST_F(LedgerTest, AfterAPowerLossWhatWasNotSyncedRunsAgain) {
  Ledger ledger = open_with({"a", "b", "c"});
  end(ledger, begin(ledger, 1), AttemptOutcome::done, JobState::done);
  ledger.sync();
  end(ledger, begin(ledger, 2), AttemptOutcome::done, JobState::done);
  EXPECT_EQ(ledger.forget_unsynced(), 1);
  std::vector<JobState> states;
  for (const QueuedJob& job : ledger.queue()) states.push_back(job.state);
  EXPECT_THAT(states, ElementsAre(JobState::done, JobState::waiting, JobState::waiting));
  EXPECT_EQ(ledger.forget_unsynced(), 0);
}

TEST_F(LedgerTest, WhatWasCancelledBeforeAPowerLossStaysSo) {
  Ledger ledger = open_with({"a"});
  end(ledger, begin(ledger, 1), AttemptOutcome::cancelled, JobState::cancelled);
  EXPECT_EQ(ledger.forget_unsynced(), 0);
  EXPECT_EQ(ledger.queue().at(0).state, JobState::cancelled);
  EXPECT_EQ(number(ledger, "SELECT synced FROM job"), 1);
}

TEST_F(LedgerTest, RequestsAreTakenOnceAndInOrder) {
  Ledger ledger = open_with({"a"}), other = open();
  ledger.changed_by_others();
  EXPECT_FALSE(ledger.changed_by_others());
  other.request("cancel", 1, "");
  other.request("slots", 0, "3");
  EXPECT_TRUE(ledger.changed_by_others());
  const std::vector<Request> taken = ledger.take_requests();
  ASSERT_EQ(taken.size(), 2U);
  EXPECT_EQ(taken[0].what, "cancel");
  EXPECT_EQ(taken[0].job, 1);
  EXPECT_EQ(taken[1].value, "3");
  EXPECT_THAT(ledger.take_requests(), IsEmpty());
}

TEST_F(LedgerTest, IsReadWhileItIsWritten) {
  Ledger ledger = open_with({"a"});
  Transaction writing(ledger.database());
  ledger.set_state(1, JobState::cancelled, "");
  EXPECT_EQ(Ledger::open_to_read(file()).counts().at(JobState::waiting), 1);
  writing.commit();
  EXPECT_EQ(Ledger::open_to_read(file()).counts().at(JobState::cancelled), 1);
}

}  // namespace
}  // namespace lockstep
