// The power goes at any moment of a batch: whatever of the unsynced bytes and names is lost, what
// the ledger calls done for good has its whole result, and the batch goes on to its end.
#include <signal.h>

#include <cstdio>
#include <random>

#include "batch_rig.h"
#include "core/base/error.h"
#include "fakes/power_loss.h"
#include "fakes/tenths.h"
#include "tools/jobs/process/supervisor.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using testing::Disk;
using testing::FileRecord;
using testing::Loss;
using testing::ToolResult;

constexpr int lossy_jobs = 6;
constexpr const char* lossy_script =
    "echo \"result of $0\" > $LOCKSTEP_OUT/result; echo \"try $LOCKSTEP_TRY\" > "
    "$LOCKSTEP_OUT/try.$LOCKSTEP_TRY; if test $LOCKSTEP_TRY = 1; then sleep 0.3; fi";

class BatchPowerLoss : public BatchRig {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "a sanitizer must be loaded first";
#endif
  }
  fs::path root() const { return fs::canonical(folder.path()) / "runs"; }
  static Words run_all() {
    Words command{"sh", "-c", lossy_script, "{1}", ":::"};
    for (int i = 1; i <= lossy_jobs; ++i) command.push_back(std::to_string(i));
    return run_words({"--slots", "2", "--cpus", "0"}, command);
  }
  static std::string result_of(int job) { return "result of " + std::to_string(job) + "\n"; }
  // As it is on a machine that was started anew.
  static void start_anew(const fs::path& batch) {
    Ledger ledger = Ledger::open(batch / "ledger.sqlite");
    if (!ledger.fact("boot").empty()) ledger.set_fact("boot", "an earlier one");
  }
  // What must hold of a batch as the loss left it. How many jobs are done for good.
  static std::int64_t check(const fs::path& batch) {
    if (!fs::exists(batch / "ledger.sqlite")) return 0;
    start_anew(batch);
    Ledger ledger = Ledger::open(batch / "ledger.sqlite");
    Statement integrity(ledger.database(), "PRAGMA integrity_check");
    EXPECT_TRUE(integrity.step());
    EXPECT_EQ(integrity.text(0), "ok");
    Statement done(ledger.database(), "SELECT id FROM job WHERE state = 'done' AND synced = 1");
    std::int64_t count = 0;
    for (; done.step(); ++count) {
      const auto job = static_cast<int>(done.integer(0));
      const fs::path result = batch / "jobs" / ledger.job(job).name / "result";
      EXPECT_EQ(fs::exists(result) ? read_file(result) : "", result_of(job));
    }
    return count;
  }
  fs::path trace_file() const { return folder.path() / "trace"; }
  void watch_files() {
    fs::create_directories(root());
    environment = {{"LD_PRELOAD", testing::preloadable("tests/libwatched-files.so")},
                   {"LOCKSTEP_TEST_FILES_BELOW", root()},
                   {"LOCKSTEP_TEST_FILES_TRACE", trace_file()}};
  }
  // All that a whole batch does to files.
  std::vector<FileRecord> record() {
    watch_files();
    const ToolResult whole = run(run_all());
    EXPECT_EQ(whole.code, 0) << whole.err;
    std::vector<FileRecord> trace = testing::read_trace(read_file(trace_file()));
    EXPECT_GT(trace.size(), 100U);
    return trace;
  }
  void go_on(const fs::path& left) {
    fs::remove_all(root());
    fs::rename(left, root());
    environment.clear();
    const bool has_jobs =
        fs::exists(batch() / "ledger.sqlite") && count("SELECT count(*) FROM job") == lossy_jobs;
    ToolResult result = run(has_jobs ? Words{"batch", "resume", "b"} : run_all());
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(jobs_in("done"), lossy_jobs);
    Ledger opened = ledger();
    for (int job = 1; job <= lossy_jobs; ++job) {
      const fs::path result_file = batch() / "jobs" / opened.job(job).name / "result";
      ASSERT_TRUE(fs::exists(result_file)) << job;
      EXPECT_EQ(read_file(result_file), result_of(job));
      // Nothing of an attempt that the loss made unknown.
      EXPECT_EQ(std::distance(fs::directory_iterator(result_file.parent_path()), {}), 2) << job;
    }
  }
};

TEST_F(BatchPowerLoss, AtAnyMomentLosesNothingThatIsDoneForGood) {
  const std::vector<FileRecord> trace = record();
  Disk disk(root());
  std::mt19937 random(3);
  std::int64_t losses = 0, resumed = 0, most_done = 0;
  for (std::size_t i = 0; i < trace.size() && !HasFailure(); ++i) {
    disk.apply(trace[i]);
    std::int64_t least_done = lossy_jobs;
    const bool looks = testing::has_turn(i) || i + 1 == trace.size();
    for (const Loss loss :
         !looks ? std::vector<Loss>{}
                : std::vector<Loss>{Loss::nothing, Loss::unsynced, Loss::unsynced_data,
                                    Loss::random, Loss::random}) {
      SCOPED_TRACE("after call " + std::to_string(i) + " on " + trace[i].path + ", loss " +
                   std::to_string(static_cast<int>(loss)));
      const TemporaryDirectory there;
      disk.write_to(there.path(), loss, static_cast<unsigned>(random()));
      try {
        least_done = std::min(least_done, check(there.path() / "b"));
      } catch (const Error& error) {
        ADD_FAILURE() << error.what();
      }
      ++losses;
    }
    EXPECT_GE(least_done, most_done) << "what was done for good stays so";
    if (looks) most_done = std::max(most_done, least_done);
    if (!testing::has_turn(i)) continue;
    SCOPED_TRACE("goes on after call " + std::to_string(i));
    const TemporaryDirectory there;
    disk.write_to(there.path() / "left", Loss::random, static_cast<unsigned>(random()));
    if (fs::exists(there.path() / "left/b/ledger.sqlite")) start_anew(there.path() / "left/b");
    go_on(there.path() / "left");
    ++resumed;
  }
  EXPECT_EQ(most_done, lossy_jobs) << "in the end all of them were";
  std::printf("batch-power: %ld losses after %zu changes, %ld resumed\n", losses, trace.size(),
              resumed);
}

// What a supervisor wrote down of an end may be on the disk before what its job had written. The
// ledger does not know of that end yet.
TEST_F(BatchPowerLoss, AnEndThatWasRecordedWithoutItsResultIsNone) {
  const std::vector<FileRecord> trace = record();
  const auto keeps = [](const fs::path& path) {
    const fs::path part = path == "b" ? path : *std::next(path.begin());
    return part == "b" || part == "supervisors" || part.string().starts_with("ledger");
  };
  Disk disk(root());
  int ends = 0;
  for (const FileRecord& record : trace) {
    disk.apply(record);
    const bool is_end = record.call == testing::FileCall::write &&
                        fs::path(record.path).parent_path().filename() == "supervisors" &&
                        record.data.find("\"attempt\"") != std::string::npos;
    if (!is_end) continue;
    SCOPED_TRACE("end number " + std::to_string(++ends));
    const TemporaryDirectory there;
    disk.write_to(there.path() / "left", keeps);
    check(there.path() / "left/b");
    go_on(there.path() / "left");
  }
  EXPECT_EQ(ends, lossy_jobs);
}

// Who looks after a batch whose scheduler was killed is its supervisor alone.
TEST_F(BatchPowerLoss, WhatASupervisorSyncedAloneDoesNotRunAgain) {
  watch_files();
  testing::ToolProcess scheduler =
      begin(run_words({"--slots", "1"},
                      {"sh", "-c", "echo run >> $0; echo result > $LOCKSTEP_OUT/result; sleep 0.5",
                       "{1}", ":::", folder.path() / "ran"}));
  ASSERT_TRUE(comes([&] { return text("ran") == "run\n"; }));
  ::kill(scheduler.pid(), SIGKILL);
  scheduler.wait();
  const fs::path supervisor = fs::directory_iterator(batch() / "supervisors")->path();
  ASSERT_TRUE(comes([&] { return !supervisor_lives(supervisor); }));
  Disk disk(root());
  for (const FileRecord& record : testing::read_trace(read_file(trace_file()))) disk.apply(record);
  const TemporaryDirectory there;
  disk.write_to(there.path() / "left", Loss::unsynced);
  start_anew(there.path() / "left/b");
  fs::remove_all(root());
  fs::rename(there.path() / "left", root());
  environment.clear();
  const ToolResult resumed = run({"batch", "resume", "b"});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(text("ran"), "run\n");
  EXPECT_EQ(read_file(batch() / "jobs" / ledger().job(1).name / "result"), "result\n");
}

}  // namespace
}  // namespace lockstep
