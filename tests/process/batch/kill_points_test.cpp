// kill -9 of scheduler, supervisor and other commands at each call by which they change a file,
// send a message or fork: between every two of them once. Afterwards the batch goes on.
//   LOCKSTEP_BATCH_POINTS (8): of each kind so many points, evenly spread; 0: all of them
#include <signal.h>

#include <algorithm>
#include <cstdio>

#include "batch_rig.h"
#include "core/base/error.h"
#include "fakes/tenths.h"

namespace lockstep {
namespace {

using ::testing::IsEmpty;
using testing::ToolResult;

// Holds a lock while it runs, which goes with the last process that has it open. Job 2 fails once.
// What it writes says how often it ran.
constexpr const char* script =
    "exec 9> lock.$0; flock -n 9 || echo $0 >> doubles; echo x >> ran.$0; sleep ${NAP:-0.02}; "
    "if [ $0 = 2 ] && [ ! -e failed ]; then touch failed; exit 3; fi; "
    "wc -l < ran.$0 > $LOCKSTEP_OUT/result";
constexpr int jobs = 4;

class BatchPoints : public BatchRig {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "a sanitizer must be loaded first";
#endif
  }
  Words run_all() const {
    Words flags{"--slots", "2", "--cpus", "0", "--retries", "1"};
    Words command{"sh", "-c", script};
    if (!kept.empty()) {
      flags.insert(flags.end(), {"--workers", "kept"});
      command = {"python3", cat(LOCKSTEP_SOURCE_DIR "/tests/process/batch/", kept, "_job.py")};
    }
    command.insert(command.end(), {"{1}", ":::", "1", "2", "3", "4"});
    return run_words(flags, command);
  }
  ToolResult plain(const Words& words) {
    environment.clear();
    return run(words);
  }
  // Whoever has `word` among its arguments is killed at that call of it.
  ToolResult cut(const Words& words, const std::string& word, std::int64_t point) {
    environment = {
        {"LD_PRELOAD", testing::preloadable("tests/libwatched-files.so")},
        {"LOCKSTEP_TEST_FILES_BELOW", std::filesystem::canonical(folder.path()) / "runs"},
        {"LOCKSTEP_TEST_FILES_IN", word},
        {"LOCKSTEP_TEST_FILES_DIED", folder.path() / "died"},
        {"LOCKSTEP_TEST_FILES", "kill " + std::to_string(point)}};
    return run(words);
  }
  bool died() const { return std::filesystem::exists(folder.path() / "died"); }
  void clean() const {
    for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
      std::filesystem::remove_all(entry.path());
  }
  bool all_are_written_down() const {
    try {
      return count("SELECT count(*) FROM job") > 0;
    } catch (const Error&) {
      return false;  // not made yet
    }
  }
  ToolResult go_on() {
    return plain(all_are_written_down() ? Words{"batch", "resume", "b"} : run_all());
  }
  int times_run(int job) const {
    const std::string lines = text("ran." + std::to_string(job));
    return static_cast<int>(std::count(lines.begin(), lines.end(), '\n'));
  }
  // Of a batch that went on to its end.
  void expect_whole() {
    EXPECT_EQ(jobs_in("done"), jobs);
    EXPECT_EQ(text("doubles"), "");
    EXPECT_THAT(survivors(), IsEmpty());
    Ledger opened = ledger();
    for (int job = 1; job <= jobs; ++job) {
      const std::filesystem::path result = batch() / "jobs" / opened.job(job).name / "result";
      ASSERT_TRUE(std::filesystem::exists(result)) << job;
      EXPECT_EQ(read_file(result), std::to_string(times_run(job)) + "\n")
          << "job " << job << ": what its last attempt wrote";
    }
    for (const auto& left : std::filesystem::directory_iterator(batch() / "attempts"))
      EXPECT_EQ(count("SELECT count(*) FROM attempt WHERE outcome IN ('lost', 'failed') AND id = " +
                      left.path().filename().string()),
                1)
          << left.path();
  }
  // At how many of the calls a kill comes.
  static int points_of(int calls) {
    const int asked = testing::number_from("LOCKSTEP_BATCH_POINTS", testing::share_of_turn(8));
    return asked == 0 ? calls : std::min(asked, calls);
  }
  // Before the i-th of them; each tenth of the tests has others.
  static int calls_before(int i, int calls, int points) {
    const double begin = std::max(0, testing::tenth()) / 10.0;
    return static_cast<int>((i + begin) * calls / points);
  }
  // `prepare`, then `words` with a kill at a point, then `check`; for each point.
  template <class Prepare, class Check>
  void at_each_point(const Words& words, const std::string& word, const Prepare& prepare,
                     const Check& check) {
    clean();
    prepare();
    cut(words, word, std::int64_t{1} << 40);
    // A supervisor may end after the command.
    ASSERT_TRUE(comes([&] { return text("died.calls").ends_with('\n'); }));
    const int calls = std::stoi(text("died.calls"));
    const int points = points_of(calls);
    int killed = 0;
    for (int i = 0; i < points && !HasFailure(); ++i) {
      const int point = 1 + calls_before(i, calls, points);
      SCOPED_TRACE(word + " killed at call " + std::to_string(point) + " of " +
                   std::to_string(calls));
      clean();
      prepare();
      cut(words, word, point);
      if (!died()) continue;  // there were fewer this time
      ++killed;
      check();
    }
    EXPECT_GE(killed, points * 3 / 4);
    std::printf("batch-points: %s, %d kills at its %d calls\n",
                (kept.empty() ? word : cat(word, "-", kept)).c_str(), killed, calls);
  }
  // Scheduler killed while two jobs run, which run on.
  void leave_two_running() {
    environment = {{"NAP", "0.25"}};
    testing::ToolProcess tool = begin(run_all());
    ASSERT_TRUE(comes([&] { return times_run(1) + times_run(2) == 2; }));
    kill(tool.pid(), SIGKILL);
    tool.wait();
  }
  void kill_schedulers() {
    at_each_point(run_all(), "run", nothing, [&] {
      const ToolResult on = go_on();
      EXPECT_EQ(on.code, 0) << on.err;
      expect_whole();
      for (int job = 1; job <= jobs; ++job)
        EXPECT_EQ(times_run(job), job == 2 ? 2 : 1) << job << ": its supervisor lived";
    });
  }
  void kill_supervisors() {
    at_each_point(run_all(), "supervise", nothing, [&] {
      if (jobs_in("done") != jobs) {
        ADD_FAILURE() << "the scheduler goes on with another one";
        go_on();
      }
      expect_whole();
    });
  }
  const std::function<void()> nothing = [] {};
  std::string kept;  // how workers are: "kept", "staying", or not at all
};

TEST_F(BatchPoints, OfAScheduler) { kill_schedulers(); }

TEST_F(BatchPoints, OfASupervisor) { kill_supervisors(); }

TEST_F(BatchPoints, OfASchedulerWithKeptWorkers) {
  kept = "kept";
  kill_schedulers();
}

TEST_F(BatchPoints, OfASupervisorWithKeptWorkers) {
  kept = "kept";
  kill_supervisors();
}

TEST_F(BatchPoints, OfASchedulerWithStayingWorkers) {
  kept = "staying";
  kill_schedulers();
}

TEST_F(BatchPoints, OfASupervisorWithStayingWorkers) {
  kept = "staying";
  kill_supervisors();
}

TEST_F(BatchPoints, OfAResumeThatAdoptsWhatRuns) {
  at_each_point(
      {"batch", "resume", "b"}, "resume", [&] { leave_two_running(); },
      [&] {
        const ToolResult on = go_on();
        EXPECT_EQ(on.code, 0) << on.err;
        expect_whole();
        for (int job = 1; job <= jobs; ++job) EXPECT_EQ(times_run(job), job == 2 ? 2 : 1) << job;
      });
}

TEST_F(BatchPoints, OfARetryAndOfPublishingOverAnEarlierResult) {
  const auto whole = [&] { ASSERT_EQ(plain(run_all()).code, 0); };
  at_each_point({"batch", "retry", "b", "1"}, "retry", whole, [&] {
    EXPECT_EQ(go_on().code, 0);
    expect_whole();
  });
  const auto retried = [&] {
    whole();
    ASSERT_EQ(plain({"batch", "retry", "b", "1"}).code, 0);
  };
  at_each_point({"batch", "resume", "b"}, "resume", retried, [&] {
    EXPECT_EQ(go_on().code, 0);
    expect_whole();
    EXPECT_EQ(times_run(1), 2);
  });
}

TEST_F(BatchPoints, OfACancelWithoutAScheduler) {
  at_each_point(
      {"batch", "cancel", "b"}, "cancel", [&] { leave_two_running(); },
      [&] {
        plain({"batch", "cancel", "b"});
        go_on();
        EXPECT_EQ(jobs_in("cancelled"), jobs) << "also those that ran";
        EXPECT_THAT(survivors(), IsEmpty());
      });
}

TEST_F(BatchPoints, OfASchedulerThatIsAskedToCancel) {
  const Words words = run_words({"--slots", "2", "--cpus", "0", "--retries", "2"},
                                {"sh", "-c", "echo x >> ran.$0; sleep 1000", "{1}", ":::", "1"});
  // Its own command asks as soon as the job runs.
  const Words asks{"sh", "-c",
                   "lockstep=$0; \"$@\" & run=$!; i=0; while [ ! -e ran.1 ] && [ $i -lt 200 ] && "
                   "kill -0 $run; do i=$((i+1)); sleep 0.01; done; LD_PRELOAD= \"$lockstep\" batch "
                   "cancel b 1; wait $run"};
  clean();
  const auto start = [&](std::int64_t point) {
    cut({}, "run", point);  // sets the environment
    Words command = asks;
    command.push_back(testing::program("lockstep"));
    command.push_back(testing::program("lockstep"));
    command.insert(command.end(), words.begin(), words.end());
    std::filesystem::remove_all(folder.path() / "runs");
    for (const char* file : {"ran.1", "died", "died.calls"})
      std::filesystem::remove(folder.path() / file);
    return testing::ToolProcess(command, folder.path(), environment).wait();
  };
  start(std::int64_t{1} << 40);
  const int calls = std::stoi(text("died.calls"));
  const int points = points_of(calls);
  for (int i = 0; i < points && !HasFailure(); ++i) {
    const int point = calls - calls_before(i, calls, points);
    SCOPED_TRACE("killed at call " + std::to_string(point) + " of " + std::to_string(calls));
    start(point);
    if (!died() || !all_are_written_down()) continue;
    if (text("ran.1").empty()) plain({"batch", "cancel", "b", "1"});
    environment.clear();
    const ToolResult on = run({"batch", "resume", "b"});
    EXPECT_EQ(jobs_in("cancelled"), 1) << on.err;
    EXPECT_THAT(survivors(), IsEmpty());
    EXPECT_LE(count("SELECT count(*) FROM attempt"), 1);
  }
}

}  // namespace
}  // namespace lockstep
