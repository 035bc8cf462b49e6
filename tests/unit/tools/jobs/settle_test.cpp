// What becomes of a job whose attempt is over, and of what it wrote.
#include "tools/jobs/schedule/settle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "core/base/files/files.h"
#include "planning/direct_recipe.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

class Settle : public ::testing::Test {
 protected:
  Settle() {
    for (const char* name : {"attempts", "jobs"}) fs::create_directory(batch.path / name);
    job.name = "fit";
    job.command = {"true"};
  }
  // What the attempt left in its folder.
  void wrote(const std::string& name, const std::string& text) const {
    fs::create_directories(batch.attempt(attempt.id));
    std::ofstream(batch.attempt(attempt.id) / name) << text;
  }
  std::string published(const std::string& name) const {
    const fs::path file = batch.published("fit") / name;
    return fs::exists(file) ? read_file(file) : "";
  }
  Settled settled(JobExit exit, int tries = 0) const {
    exit.attempt = attempt.id;
    return settle(batch, job, attempt, exit, tries);
  }

  TemporaryDirectory folder;
  BatchFolder batch{folder.path()};
  Job job;
  Attempt attempt{.id = 5, .job = 1, .number = 1};
};

TEST_F(Settle, PublishesWhatASuccessfulAttemptWrote) {
  job.outputs = {"model.txt"};
  wrote("model.txt", "m");
  const Settled result = settled({.started = 10, .ended = 12, .cpu_s = 1.5, .max_rss_bytes = 7});
  EXPECT_EQ(result.state, JobState::done);
  EXPECT_EQ(result.end.outcome, AttemptOutcome::done);
  EXPECT_EQ(result.end.reason, "");
  EXPECT_EQ(result.end.ended, 12);
  EXPECT_EQ(result.end.cpu_s, 1.5);
  EXPECT_EQ(result.end.max_rss_bytes, 7);
  EXPECT_EQ(published("model.txt"), "m");
  EXPECT_FALSE(fs::exists(batch.attempt(5)));
}

TEST_F(Settle, KeepsWhatTheJobSaidOfItselfAlsoWhereItWasPublishedBefore) {
  wrote("events.jsonl", "{\"results\": {\"auc\": 0.5, \"bad\": null}}\n");
  for (int time = 0; time < 2; ++time) {  // the second: after a kill before the ledger knew
    const Settled result = settled({});
    ASSERT_EQ(result.state, JobState::done);
    ASSERT_EQ(result.end.results.values.size(), 1U);
    EXPECT_EQ(result.end.results.values[0], (JobResult{"auc", 0.5}));
    EXPECT_EQ(result.end.results.left_out, "bad is neither a number nor a text");
  }
}

TEST_F(Settle, AFailureKeepsThemToo) {
  wrote("events.jsonl", "{\"result\": \"rows\", \"value\": 3}\n");
  const Settled result = settled({.code = 1});
  ASSERT_EQ(result.end.results.values.size(), 1U);
  EXPECT_EQ(result.end.results.values[0], (JobResult{"rows", 3.0}));
}

TEST_F(Settle, OfAPatternOneFileAtLeastMustBeThere) {
  batch.path /= "of [all] *";
  for (const char* name : {"attempts", "jobs"}) fs::create_directories(batch.path / name);
  job.outputs = {"*.csv", "{out}/model-?.txt"};
  wrote("model-1.txt", "m");
  EXPECT_EQ(settled({}).end.reason, "exit code 0, but the output *.csv is not there");
  wrote("x.csv", "a");
  EXPECT_EQ(settled({}).state, JobState::done);
  EXPECT_EQ(settled({}).state, JobState::done) << "it was published before";
}

TEST_F(Settle, APatternOfThousandsOfPartsIsNotThere) {
  std::string pattern;
  for (int i = 0; i < 4000; ++i) pattern += i % 2 == 0 ? "a/" : "*/";
  for (const std::string& longer : {std::string("b"), std::string(4000, '*')}) {
    job.outputs = {pattern + longer};
    EXPECT_EQ(settled({}).state, JobState::failed);
  }
}

TEST_F(Settle, ANameThatLooksLikeAPatternIsThatName) {
  job.outputs = {"[1].csv"};
  wrote("[1].csv", "a");
  EXPECT_EQ(settled({}).state, JobState::done);
}

TEST_F(Settle, AMissingOutputIsAFailure) {
  job.outputs = {"there", "missing.txt"};
  wrote("there", "");
  const Settled result = settled({});
  EXPECT_EQ(result.state, JobState::failed);
  EXPECT_THAT(result.end.reason, AllOf(HasSubstr("exit code 0"), HasSubstr("missing.txt")));
  EXPECT_FALSE(fs::exists(batch.published("fit")));
  EXPECT_TRUE(fs::exists(batch.attempt(5) / "there")) << "what it left is kept to be looked at";
}

TEST_F(Settle, AnOutputElsewhereCounts) {
  job.outputs = {(folder.path() / "elsewhere").string()};
  EXPECT_EQ(settled({}).state, JobState::failed);
  std::ofstream(folder.path() / "elsewhere");
  EXPECT_EQ(settled({}).state, JobState::done);
}

TEST_F(Settle, AnEmptyFolderGoes) {
  fs::create_directories(batch.attempt(5));
  EXPECT_EQ(settled({.code = 1}).state, JobState::failed);
  EXPECT_FALSE(fs::exists(batch.attempt(5)));
  fs::create_directories(batch.attempt(5));
  EXPECT_EQ(settled({}).state, JobState::done);
  EXPECT_FALSE(fs::exists(batch.attempt(5)));
  EXPECT_FALSE(fs::exists(batch.published("fit")));
}

TEST_F(Settle, IsTheSameASecondTime) {
  job.outputs = {"model.txt"};
  wrote("model.txt", "m");
  settled({});
  const Settled again = settled({});
  EXPECT_EQ(again.state, JobState::done) << "a scheduler that was killed after the rename";
  EXPECT_EQ(published("model.txt"), "m");
}

TEST_F(Settle, ALaterAttemptTakesThePlaceOfAnEarlierOne) {
  wrote("result", "old");
  wrote("old", "x");
  settled({});
  attempt.id = 6;
  wrote("result", "new");
  settled({});
  EXPECT_EQ(published("result"), "new");
  EXPECT_EQ(published("old"), "");
  EXPECT_TRUE(fs::is_empty(batch.path / "attempts"));
}

// A scheduler may be killed between any two of its renames, and settles it again.
TEST_F(Settle, WhatAnEarlierAttemptHadPublishedNeverComesBack) {
  const fs::path before = batch.attempt(6).string() + ".before";
  const auto old_in = [&](const fs::path& where) {
    fs::create_directories(where);
    std::ofstream(where / "result") << "old";
  };
  attempt.id = 6;
  for (const char* cut : {"before it", "old one moved", "new one moved", "all done"}) {
    const std::string at = cut;
    fs::remove_all(batch.published("fit"));
    old_in(at == "before it" ? batch.published("fit") : before);
    if (at == "before it" || at == "old one moved") {
      wrote("result", "new");
    } else {
      fs::create_directories(batch.published("fit"));
      std::ofstream(batch.published("fit") / "result") << "new";
    }
    if (at == "all done") fs::remove_all(before);
    EXPECT_EQ(settled({}).state, JobState::done);
    EXPECT_EQ(published("result"), "new") << at;
    EXPECT_TRUE(fs::is_empty(batch.path / "attempts")) << at;
  }
}

TEST_F(Settle, AnAttemptThatWroteNothingLeavesNothingOfAnEarlierOne) {
  wrote("result", "old");
  settled({});
  attempt.id = 6;
  fs::create_directories(batch.attempt(6));
  settled({});
  EXPECT_FALSE(fs::exists(batch.published("fit")));
  EXPECT_TRUE(fs::is_empty(batch.path / "attempts"));
}

TEST_F(Settle, TriesAgainAsOftenAsAsked) {
  job.retries = 2;
  job.retry_delay_s = 5;
  const Settled first = settled({.code = 3, .ended = 100}, 0);
  EXPECT_EQ(first.state, JobState::waiting);
  EXPECT_EQ(first.not_before, 105);
  EXPECT_EQ(first.end.reason, "exit code 3");
  EXPECT_EQ(settled({.code = 3}, 1).state, JobState::waiting);
  EXPECT_EQ(settled({.code = 3}, 2).state, JobState::failed);
  EXPECT_EQ(settled({.code = 0}, 2).state, JobState::done);
}

TEST_F(Settle, SaysWhatEndedIt) {
  EXPECT_EQ(settled({.code = 137, .signal = 9}).end.reason, "ended by SIGKILL");
  job.timeout_s = 1.5;
  const Settled late = settled({.code = 143, .signal = 15, .ended_by = ended_by_timeout});
  EXPECT_EQ(late.end.outcome, AttemptOutcome::timed_out);
  EXPECT_EQ(late.end.reason, "took longer than 1.5 s");
  EXPECT_EQ(settled({.problem = "cannot start \"x\"", .code = 127}).end.reason,
            "cannot start \"x\"");
  EXPECT_THAT(settled({.code = 1, .cleared = false}).end.reason,
              HasSubstr("left processes that cannot be ended"));
}

TEST_F(Settle, AStopIsNoTryAndACancelIsFinal) {
  job.retries = 3;
  const Settled stopped = settled({.code = 143, .signal = 15, .ended_by = ended_by_stop}, 3);
  EXPECT_EQ(stopped.state, JobState::waiting);
  EXPECT_EQ(stopped.not_before, 0);
  const Settled cancelled = settled({.code = 143, .signal = 15, .ended_by = ended_by_cancel}, 0);
  EXPECT_EQ(cancelled.state, JobState::cancelled);
}

TEST_F(Settle, WhatEndedBeforeItWasToBeEndedIsWhatItIs) {
  for (const char* why : {ended_by_stop, ended_by_cancel}) {
    attempt.asked = why;
    wrote("x", "y");
    EXPECT_EQ(settled({.ended = 12}).state, JobState::done) << why;
    EXPECT_EQ(published("x"), "y");
    EXPECT_EQ(settled({.code = 3, .ended = 12}).state, JobState::failed) << why;
  }
}

TEST_F(Settle, AnExitCodeOfZeroAfterTheSignalIsNoSuccess) {
  EXPECT_EQ(settled({.ended_by = ended_by_stop, .ended = 12}).state, JobState::waiting);
  EXPECT_EQ(settled({.ended_by = ended_by_cancel, .ended = 12}).state, JobState::cancelled);
}

TEST_F(Settle, WhereTheSchedulerSignalledTheTimesSayWhichCameFirst) {
  job.retries = 3;
  attempt.signalled = 10;
  attempt.asked = ended_by_cancel;
  EXPECT_EQ(settled({.code = 143, .signal = 15, .ended = 12}).state, JobState::cancelled);
  EXPECT_EQ(settled({.ended = 9}).state, JobState::done);
  attempt.asked = ended_by_stop;
  EXPECT_EQ(settled({.ended = 12}).end.outcome, AttemptOutcome::stopped);
  EXPECT_EQ(settled({.ended = 9}).state, JobState::done);
  EXPECT_EQ(
      settled({.code = 143, .signal = 15, .ended_by = ended_by_timeout, .ended = 12}).end.outcome,
      AttemptOutcome::timed_out)
      << "its supervisor knows better";
}

TEST_F(Settle, OnTheDeviceOfAnotherASuccessIsNone) {
  attempt.asked = ended_by_place;
  EXPECT_EQ(settled({.ended = 12}).state, JobState::failed);
}

TEST_F(Settle, ASkipCodeIsNeitherSuccessNorFailure) {
  job.skip_codes = {77};
  job.retries = 3;
  const Settled result = settled({.code = 77});
  EXPECT_EQ(result.state, JobState::skipped);
  EXPECT_EQ(result.end.reason, "exit code 77");
}

TEST_F(Settle, AttemptsThatAreLostDoNotCountButNotForEver) {
  EXPECT_EQ(settle_lost("why", 1).state, JobState::waiting);
  EXPECT_EQ(settle_lost("why", 4).state, JobState::waiting);
  EXPECT_EQ(settle_lost("why", 5).state, JobState::failed);
  EXPECT_EQ(settle_lost("why", 1).end.outcome, AttemptOutcome::lost);
}

TEST_F(Settle, OnlyATrainingOfOursGoesOn) {
  job.command = {"/usr/bin/lockstep", "train", "textgen"};
  EXPECT_TRUE(goes_on(job));
  job.command = {"lockstep", "runs"};
  EXPECT_FALSE(goes_on(job));
  job.command = {"python3", "train"};
  EXPECT_FALSE(goes_on(job));
}

TEST(GoesOn, OfATrainingWithoutTheEngineIsNotAskedFor) {
  register_direct_recipe({.name = "no_engine", .summary = "", .make_options = {}});
  Job job;
  job.command = {"lockstep", "train", "textgen", "x=no_engine"};
  EXPECT_TRUE(goes_on(job));
  job.command = {"lockstep", "train", "no_engine", "x=1"};
  EXPECT_FALSE(goes_on(job)) << "it has no checkpoints, and would refuse --resume";
}

}  // namespace
}  // namespace lockstep
