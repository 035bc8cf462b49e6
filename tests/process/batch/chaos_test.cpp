// kill -9 of scheduler, supervisor, a job or all of them, at random moments. Every job is done
// once, none runs twice at once, nothing survives.
//   LOCKSTEP_BATCH_KILLS (100), LOCKSTEP_CHAOS_SEED (1)
#include <signal.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <random>

#include "batch_rig.h"
#include "core/base/text/text.h"
#include "fakes/tenths.h"

namespace lockstep {
namespace {

using ::testing::IsEmpty;
using testing::ToolResult;

constexpr int chaotic_jobs = 40;

// Holds a lock while it runs, which goes with the last process that has it open.
constexpr const char* chaotic_script =
    "exec 9> lock.$0; flock -n 9 || echo $0 >> doubles; sleep 0.0$(($0 % 8)); "
    "echo $0 > $LOCKSTEP_OUT/result; sleep 0.02 & wait";

class BatchChaos : public BatchRig {
 protected:
  static std::vector<std::string> words(Words command, Words flags) {
    command.insert(command.end(), {"{1}", ":::"});
    for (int i = 1; i <= chaotic_jobs; ++i) command.push_back(std::to_string(i));
    flags.insert(flags.end(), {"--slots", "4", "--cpus", "0"});
    return run_words(flags, command);
  }
  static int kills_asked() {
    return testing::number_from("LOCKSTEP_BATCH_KILLS", testing::share_of_turn(100));
  }
  void kill_at_random(const std::string& name, const Words& words, int kills);
  // Of the scheduler: itself, its supervisor, one of its jobs.
  pid_t victim(const std::string& kind, pid_t scheduler) {
    if (kind == "scheduler") return scheduler;
    const std::vector<pid_t> supervisors = testing::children_of(scheduler);
    if (supervisors.empty()) return 0;
    if (kind == "supervisor") return supervisors[0];
    const std::vector<pid_t> running = testing::children_of(supervisors[0]);
    return running.empty() ? 0 : running[random() % running.size()];
  }
  // Control groups, which the supervisor removes as it ends.
  std::size_t groups_left() const {
    const std::vector<std::string> places = split(ledger().fact("cgroups"), '\n');
    return static_cast<std::size_t>(std::count_if(
        places.begin(), places.end(),
        [](const std::string& place) { return !place.empty() && std::filesystem::exists(place); }));
  }
  std::mt19937 random;
};

void BatchChaos::kill_at_random(const std::string& name, const Words& words, int kills) {
  const int seed = testing::number_from("LOCKSTEP_CHAOS_SEED", 1 + std::max(0, testing::tenth()));
  random.seed(static_cast<unsigned>(seed));
  std::map<std::string, int> killed;
  int total = 0, batches = 0;
  while (total < kills && !HasFailure()) {
    ++batches;
    std::filesystem::remove_all(folder.path() / "runs");
    bool begun = false, ended = false;
    while (!ended) {
      // With control groups and without, also one after the other of the same batch.
      environment["LOCKSTEP_CGROUPS"] = random() % 2 == 0 ? "off" : "auto";
      testing::ToolProcess tool =
          begin(begun ? std::vector<std::string>{"batch", "resume", "b"} : words);
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
      ended = jobs_in("done") == chaotic_jobs;
      if (!ended && result.code == 0) begun = false;  // killed before all jobs were written down
    }
    EXPECT_EQ(jobs_in("done"), chaotic_jobs);
    EXPECT_EQ(text("doubles"), "");
    EXPECT_THAT(survivors(), IsEmpty());
    EXPECT_TRUE(comes([&] { return groups_left() == 0; })) << ledger().fact("cgroups");
    Ledger opened = ledger();
    for (std::int64_t id = 1; id <= chaotic_jobs; ++id)
      EXPECT_TRUE(std::filesystem::exists(batch() / "jobs" / opened.job(id).name / "result")) << id;
    EXPECT_EQ(count("SELECT count(*) FROM (SELECT job FROM attempt WHERE outcome = 'done' GROUP BY "
                    "job HAVING count(*) > 1)"),
              0);
  }
  std::printf("%s: %d kills in %d batches of %d jobs:", name.c_str(), total, batches, chaotic_jobs);
  for (const auto& [kind, count] : killed) std::printf(" %s %d", kind.c_str(), count);
  std::printf("; 0 lost, 0 twice at once, 0 survivors\n");
}

TEST_F(BatchChaos, LosesNothingRunsNothingTwiceAndLeavesNothing) {
  kill_at_random("chaos-batch", words({"sh", "-c", chaotic_script}, {}), kills_asked());
}

// A fourth as many, because they differ in the way from supervisor to job alone.
TEST_F(BatchChaos, NorWhereWorkersAreKept) {
  for (const std::string kept : {"kept", "staying"})
    kill_at_random(
        "chaos-" + kept,
        words({"python3", LOCKSTEP_SOURCE_DIR "/tests/process/batch/" + kept + "_job.py"},
              {"--workers", "kept"}),
        std::max(1, kills_asked() / 4));
}

}  // namespace
}  // namespace lockstep
