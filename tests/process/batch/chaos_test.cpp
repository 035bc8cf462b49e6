// kill -9 of scheduler, supervisor, a job or all of them, at random moments. Every job is done
// once, none runs twice at once, nothing survives.
//   LOCKSTEP_BATCH_KILLS (100), LOCKSTEP_CHAOS_SEED (1)
#include <signal.h>

#include <cstdio>
#include <map>
#include <random>

#include "batch_rig.h"

namespace lockstep {
namespace {

using ::testing::IsEmpty;
using testing::ToolResult;

constexpr int jobs = 40;

// Holds a lock while it runs, which goes with the last process that has it open.
constexpr const char* script =
    "exec 9> lock.$0; flock -n 9 || echo $0 >> doubles; sleep 0.0$(($0 % 8)); "
    "echo $0 > $LOCKSTEP_OUT/result; sleep 0.02 & wait";

class BatchChaos : public BatchRig {
 protected:
  static std::vector<std::string> words() {
    std::vector<std::string> command{"sh", "-c", script, "{1}", ":::"};
    for (int i = 1; i <= jobs; ++i) command.push_back(std::to_string(i));
    return run_words({"--slots", "4", "--cpus", "0"}, command);
  }
  // Of the scheduler: itself, its supervisor, one of its jobs.
  pid_t victim(const std::string& kind, pid_t scheduler) {
    if (kind == "scheduler") return scheduler;
    const std::vector<pid_t> supervisors = testing::children_of(scheduler);
    if (supervisors.empty()) return 0;
    if (kind == "supervisor") return supervisors[0];
    const std::vector<pid_t> running = testing::children_of(supervisors[0]);
    return running.empty() ? 0 : running[random() % running.size()];
  }
  std::mt19937 random;
};

TEST_F(BatchChaos, LosesNothingRunsNothingTwiceAndLeavesNothing) {
  const int kills = testing::number_from("LOCKSTEP_BATCH_KILLS", 100);
  random.seed(static_cast<unsigned>(testing::number_from("LOCKSTEP_CHAOS_SEED", 1)));
  std::map<std::string, int> killed;
  int total = 0, batches = 0;
  while (total < kills && !HasFailure()) {
    ++batches;
    std::filesystem::remove_all(folder.path() / "runs");
    bool begun = false, ended = false;
    while (!ended) {
      testing::ToolProcess tool =
          begin(begun ? std::vector<std::string>{"batch", "resume", "b"} : words());
      begun = true;
      // The first kill of a start may come before it has made anything.
      while (total < kills) {
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 120'000));
        const char* const kinds[] = {"scheduler", "supervisor", "job", "all"};
        const std::string kind = kinds[random() % 4];
        if (waitpid(tool.pid(), nullptr, WNOHANG | WNOWAIT) == tool.pid()) break;
        siginfo_t state{};
        if (waitid(P_PID, static_cast<id_t>(tool.pid()), &state, WEXITED | WNOHANG | WNOWAIT) ==
                0 &&
            state.si_pid != 0)
          break;
        if (kind == "all") {
          const pid_t supervisor = victim("supervisor", tool.pid()),
                      job = victim("job", tool.pid());
          for (const pid_t process : {tool.pid(), supervisor, job})
            if (process > 0) kill(process, SIGKILL);
        } else if (const pid_t process = victim(kind, tool.pid()); process > 0) {
          kill(process, SIGKILL);
        } else {
          continue;
        }
        ++killed[kind];
        ++total;
        if (kind == "scheduler" || kind == "all") break;
      }
      const ToolResult result = tool.wait();
      ASSERT_NE(result.code, 2) << result.err;
      if (!std::filesystem::exists(batch() / "ledger.sqlite")) {
        begun = false;
        continue;
      }
      if (result.code == 137) continue;
      // A job that was killed has failed, as it would have anywhere else.
      if (jobs_in("failed") > 0) {
        run({"batch", "retry", "b"});
        continue;
      }
      ended = jobs_in("done") == jobs;
      if (!ended && result.code == 0) begun = false;  // killed before all jobs were written down
    }
    EXPECT_EQ(jobs_in("done"), jobs);
    EXPECT_EQ(text("doubles"), "");
    EXPECT_THAT(survivors(), IsEmpty());
    Ledger opened = ledger();
    for (std::int64_t id = 1; id <= jobs; ++id)
      EXPECT_TRUE(std::filesystem::exists(batch() / "jobs" / opened.job(id).name / "result")) << id;
    EXPECT_EQ(count("SELECT count(*) FROM (SELECT job FROM attempt WHERE outcome = 'done' GROUP BY "
                    "job HAVING count(*) > 1)"),
              0);
  }
  std::printf("chaos-batch: %d kills in %d batches of %d jobs:", total, batches, jobs);
  for (const auto& [kind, count] : killed) std::printf(" %s %d", kind.c_str(), count);
  std::printf("; 0 lost, 0 twice at once, 0 survivors\n");
}

}  // namespace
}  // namespace lockstep
