// lockstep batch run --search: settings are tried on the batch's own jobs, of which none runs
// twice.
#include <sched.h>
#include <signal.h>

#include "batch_rig.h"
#include "fakes/nvml_machine.h"
#include "fakes/tenths.h"

namespace lockstep {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using testing::ToolProcess;
using testing::ToolResult;

class BatchSearched : public BatchRig {
 protected:
  // On one core, so that what is tried is the same everywhere.
  ToolProcess begin_on_a_core(Words words) const {
    cpu_set_t cores;
    CPU_ZERO(&cores);
    sched_getaffinity(0, sizeof cores, &cores);
    int first = 0;
    while (!CPU_ISSET(first, &cores)) ++first;
    words.insert(words.begin(),
                 {"taskset", "-c", std::to_string(first), testing::program("lockstep")});
    return ToolProcess(words, folder.path(), environment);
  }
  ToolResult on_a_core(const Words& words) const { return begin_on_a_core(words).wait(); }

  static Words with_values(Words command, int count) {
    command.insert(command.end(), {"{1}", ":::"});
    for (int i = 0; i < count; ++i) command.push_back(std::to_string(i));
    return command;
  }
  std::vector<std::string> notes() const {
    std::vector<std::string> found;
    Ledger opened = ledger();
    Statement rows(opened.database(), "SELECT text FROM note ORDER BY id");
    while (rows.step()) found.push_back(rows.text(0));
    return found;
  }
};

// Jobs that only wait: the more at once, the more of them are done.
TEST_F(BatchSearched, GoesOnAfterAnInterruptAndNoJobRunsTwice) {
  const Words words = run_words({"--search"}, with_values({"sh", "-c", "sleep 0.2"}, 130));
  ToolProcess first = begin_on_a_core(words);
  ASSERT_TRUE(comes_true([&] { return !notes().empty(); }));
  kill(first.pid(), SIGINT);
  EXPECT_EQ(first.wait().code, 130);
  const ToolResult second = on_a_core({"batch", "resume", "b"});
  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_THAT(notes(), ElementsAre(StartsWith("search: tried 1 job at once, 1 core each: "),
                                   StartsWith("search: tried 2 jobs at once, 1 core each: "),
                                   StartsWith("search: tried 4 jobs at once, 1 core each: "),
                                   StartsWith("search: chosen: 4 jobs at once, 1 core each: ")));
  EXPECT_THAT(second.err, AllOf(Not(HasSubstr("tried 1 job ")), HasSubstr("chosen: 4 jobs")));
  EXPECT_EQ(jobs_in("done"), 130);
  EXPECT_EQ(count("SELECT count(*) FROM attempt"), 130);
  EXPECT_EQ(count("SELECT max(slot) FROM attempt"), 3);

  const ToolResult status = run({"batch", "status", "b"});
  EXPECT_THAT(status.out, HasSubstr("  search: chosen: 4 jobs at once, 1 core each: "));
  const nlohmann::json search =
      nlohmann::json::parse(run({"batch", "status", "b", "--json"}).out).at("search");
  EXPECT_EQ(search.at("chosen").at("at_once"), 4);
  EXPECT_EQ(search.at("search").at("trials").size(), 3u);

  // What was chosen holds for jobs that come later.
  EXPECT_EQ(run({"batch", "add", "b", "--", "sh", "-c", "sleep 0.2", "{1}", ":::", "x"}).code, 0);
  const ToolResult third = on_a_core({"batch", "resume", "b", "--search"});
  EXPECT_EQ(third.code, 0);
  EXPECT_THAT(third.err, HasSubstr("search: 4 jobs at once, 1 core each, as was chosen before"));
}

TEST_F(BatchSearched, KeepsOneCombinationOfTheParametersThatAreNamed) {
  Words command = with_values({"sh", "-c", "sleep $1", "sh", "{2}"}, 26);
  command.insert(command.end(), {":::", "0.4", "0.1"});
  const ToolResult result = on_a_core(run_words({"--search", "--choose", "2"}, command));
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, AllOf(HasSubstr("search: tried 2=0.4: 1 job at once, 1 core each: "),
                                HasSubstr("search: chosen: 2=0.1: ")));
  EXPECT_EQ(count("SELECT count(*) FROM job WHERE state = 'done' AND name LIKE '%2=0.1'"), 26);
  const auto of_others = count("SELECT count(*) FROM job WHERE state = 'done'") - 26;
  EXPECT_GE(of_others, 4);
  EXPECT_EQ(jobs_in("cancelled"), 26 - of_others);
  EXPECT_EQ(count("SELECT count(*) FROM job WHERE reason = '--search chose other parameters'"),
            26 - of_others);

  // One of those that were left out is wanted all the same.
  const auto job = count("SELECT min(id) FROM job WHERE state = 'cancelled'");
  EXPECT_EQ(run({"batch", "retry", "b", std::to_string(job)}).code, 0);
  EXPECT_EQ(on_a_core({"batch", "resume", "b"}).code, 0);
  EXPECT_EQ(jobs_in("done"), 26 + of_others + 1);
}

// As the kernel does where memory runs out.
TEST_F(BatchSearched, AJobThatIsKilledRunsAgainAndItsSettingIsNotChosen) {
  const std::string script =
      "n=now/$$; mkdir -p now; touch $n; sleep 0.2; two=$(ls now | wc -l); rm $n; "
      "[ $two -lt 2 ] || [ -e killed ] || { touch killed; kill -9 $$; }";
  const ToolResult result =
      on_a_core(run_words({"--search"}, with_values({"sh", "-c", script}, 50)));
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("tried 2 jobs at once, 1 core each: "), HasSubstr("memory ran out"),
                    HasSubstr("search: chosen: 1 job at once, 1 core each")));
  EXPECT_EQ(jobs_in("done"), 50);
  EXPECT_EQ(count("SELECT max(tries) FROM job"), 1);
}

TEST_F(BatchSearched, SaysWhatItCannotSearchFor) {
  const auto refusal = [&](const Words& flags, const Words& command) {
    const ToolResult result = run_jobs(flags, command);
    EXPECT_EQ(result.code, 2);
    EXPECT_FALSE(std::filesystem::exists(batch()));
    return result.err;
  };
  EXPECT_THAT(refusal({"--search", "--slots", "2"}, {"true"}),
              AllOf(HasSubstr("--slots says how many jobs run at once"), HasSubstr("leave one")));
  EXPECT_THAT(refusal({"--choose", "1"}, {"true"}), HasSubstr("add --search"));
  EXPECT_THAT(refusal({"--search", "--choose", "lr"}, {"true", "{1}", ":::", "a"}),
              AllOf(HasSubstr("--choose names lr"), HasSubstr("they have 1")));
  EXPECT_THAT(refusal({"--search", "--gpus", "2"}, {"true"}), HasSubstr("asks for 2 devices"));
  EXPECT_THAT(refusal({"--search", "--gpus", "auto"}, {"true"}), HasSubstr("gpus = 0, 1"));
  write_file_atomic(folder.path() / "two.toml",
                    "[[jobs]]\ncommand = [\"true\"]\n[[jobs]]\ncommand = [\"false\"]\n");
  const ToolResult kinds = run({"batch", "run", "two.toml", "--search"});
  EXPECT_EQ(kinds.code, 2);
  EXPECT_THAT(kinds.err, HasSubstr("2 kinds of jobs"));
  EXPECT_THAT(run_jobs({"--search"}, {"true", "{1}", ":::", "a", "b"}).err,
              HasSubstr("search: none, as there are too few jobs"));
  EXPECT_EQ(jobs_in("done"), 2);
}

class BatchSearchedOnGpus : public BatchSearched, protected testing::NvmlMachine {
 protected:
  BatchSearchedOnGpus() {
    environment = environment_;
    environment["XDG_STATE_HOME"] = folder.path() / "state";
    environment["FAKE_NVML_TENANTS"] = folder.path() / "tenants";
    std::filesystem::create_directory(folder.path() / "tenants");
    set(nlohmann::json::array({gpu(0, {{"processes", nlohmann::json::array()},
                                       {"memory", 10LL << 30},
                                       {"utilization", 0},
                                       {"tenant_utilization", 30}})}));
  }
};

// Each job makes it 30 % busier, and three do not fit.
TEST_F(BatchSearchedOnGpus, TakesWhatIsAsBusyAsExpectedAndFitsIntoTheMemory) {
  constexpr std::size_t turn = 6;  // half a minute, of which it sleeps
  if (!testing::has_turn(turn)) GTEST_SKIP() << testing::in_another_tenth;
  const std::string script =
      "echo $CUDA_VISIBLE_DEVICES $((1 << 30)) > $FAKE_NVML_TENANTS/$$; mkdir -p now; touch "
      "now/$$; "
      "here=$(ls now | wc -l); [ $here -gt 2 ] || sleep 1; rm now/$$; "
      "[ $here -le 2 ] || { echo CUDA out of memory; exit 1; }";
  const ToolResult result =
      on_a_core(run_words({"--gpus", "1", "--search", "--expect", "gpu_activity>=50%"},
                          with_values({"sh", "-c", script}, 60)));
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, AllOf(HasSubstr("search: tried 1 job per device, 1 core each: "),
                                HasSubstr("search: tried 2 jobs per device, 1 core each: "),
                                HasSubstr("GPU 0 busy "),
                                HasSubstr("search: tried 4 jobs per device, 1 core each: "),
                                HasSubstr("memory ran out"),
                                HasSubstr("search: chosen: 2 jobs per device, 1 core each: "),
                                HasSubstr("; it meets gpu_activity>=50%"),
                                HasSubstr("--expect gpu_activity>=50%: GPU 0 ")));
  EXPECT_EQ(jobs_in("done"), 60);
  EXPECT_EQ(count("SELECT count(*) FROM attempt WHERE outcome = 'done'"), 60);
  EXPECT_EQ(count("SELECT max(tries) FROM job"), 1);
}

}  // namespace
}  // namespace lockstep
