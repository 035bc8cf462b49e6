// Which job begins when, with cores that are too few for all, and with limits of the machine.
#include <signal.h>
#include <sys/resource.h>

#include "batch_rig.h"
#include "core/base/text/text.h"

namespace lockstep {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::ToolProcess;
using testing::ToolResult;

class WhatBegins : public BatchRig {
 protected:
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder.path() / name) << text;
  }
  // The numbers of jobs, in the order in which their attempts began.
  std::vector<std::int64_t> order() const {
    Ledger opened = ledger();
    std::vector<std::int64_t> jobs;
    Statement rows(opened.database(), "SELECT job FROM attempt ORDER BY started, id");
    while (rows.step()) jobs.push_back(rows.integer(0));
    return jobs;
  }
  // A tool with limits of its own, such as "ulimit -n 64".
  ToolResult run_limited(const std::string& limit, const Words& words) {
    Words shell{"sh", "-c", limit + "; exec \"$@\"", "sh", testing::program("lockstep")};
    shell.insert(shell.end(), words.begin(), words.end());
    return ToolProcess(shell, folder.path(), environment).wait();
  }
};

// Cores are kept for a job that is more important than those behind it.
TEST_F(WhatBegins, WhatIsMoreImportantDoesNotWaitBehindTheSmallOnes) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "needs two cores";
  write("b.toml", cat("[[jobs]]\nname = \"first\"\ncommand = [\"sleep\", \"0.3\"]\ncpus = 1\n"
                      "[[jobs]]\nname = \"small-{n}\"\ncommand = [\"sleep\", \"0.3\"]\ncpus = 1\n"
                      "matrix.n = {from = 1, to = 10}\n"
                      "[[jobs]]\nname = \"large\"\ncommand = [\"true\"]\npriority = 10\ncpus = 2\n"
                      "after = \"first\"\n"));
  const ToolResult result =
      run_limited("taskset -pc 0,1 $$ > /dev/null", {"batch", "run", "b.toml", "--name", "b"});
  ASSERT_EQ(result.code, 0) << result.err;
  const std::int64_t large = *ledger().find("large");
  const std::vector<std::int64_t> begun = order();
  EXPECT_LE(std::find(begun.begin(), begun.end(), large) - begun.begin(), 3)
      << "after the first and those that ran beside it";
}

TEST_F(WhatBegins, JobsThatAreAddedAgainTakeTheCoresThatTheyWantNow) {
  const Words command{"sh", "-c", "until test -e go; do sleep 0.02; done", "{1}", ":::"};
  Words all = command, last = {"batch", "add", "b", "--cpus", "5000", "--"};
  for (const char* job : {"1", "2", "3"}) all.emplace_back(job);
  last.insert(last.end(), command.begin(), command.end());
  last.emplace_back("3");
  ToolProcess scheduler = begin(run_words({"--slots", "1"}, all));
  ASSERT_TRUE(comes_true([&] { return jobs_in("running") == 1; }));
  EXPECT_EQ(run(last).code, 0);
  ASSERT_TRUE(comes_true([&] { return count("SELECT count(*) FROM request") == 0; }));
  write("go", "");
  EXPECT_EQ(scheduler.wait().code, 1);
  EXPECT_EQ(jobs_in("done"), 2);
  EXPECT_EQ(count("SELECT count(*) FROM job WHERE reason LIKE 'needs 5000 cores, and there%'"), 1);
}

TEST_F(WhatBegins, FewerAtOnceWhereFewFilesMayBeOpen) {
  Words command{"sh", "-c", "sleep 0.05", "{1}", ":::"};
  for (int i = 0; i < 60; ++i) command.push_back(std::to_string(i));
  const ToolResult result =
      run_limited("ulimit -n 64", run_words({"--slots", "100", "--cpus", "0"}, command));
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(jobs_in("done"), 60);
  EXPECT_EQ(count("SELECT count(*) FROM attempt"), 60);
  EXPECT_THAT(result.err, HasSubstr("at most 10 jobs at once, as a process may have 64 files open "
                                    "here (ulimit -Hn)"));
}

TEST_F(WhatBegins, JobsHaveTheLimitOfOpenFilesThatTheUserHas) {
  const ToolResult result = run_limited(
      "ulimit -Sn 200", run_words({}, {"sh", "-c", "ulimit -Sn > $LOCKSTEP_OUT/limit"}));
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(read_file(batch() / "jobs" / ledger().job(1).name / "limit"), "200\n");
}

// The limit falls while jobs run: whoever cannot begin is not to blame.
TEST_F(WhatBegins, WhatCannotBeginForWantOfFilesWaits) {
  ToolProcess scheduler =
      begin(run_words({"--slots", "4", "--cpus", "0"},
                      {"sh", "-c", "if test $0 = 1; then until test -e go; do sleep 0.02; done; fi",
                       "{1}", ":::", "1", "2", "3", "4", "5", "6", "7", "8"}));
  ASSERT_TRUE(comes_true([&] { return jobs_in("running") == 1 && jobs_in("done") == 7; }));
  const std::vector<MarkedProcess> first = processes_marked(ledger().fact("id") + ":");
  ASSERT_FALSE(first.empty());
  std::ifstream status(cat("/proc/", first.front().pid, "/stat"));
  std::string words;
  std::getline(status, words);
  const pid_t supervisor = std::stoi(words.substr(words.rfind(')') + 4));
  int open_files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(cat("/proc/", supervisor, "/fd")))
    open_files += entry.exists();
  rlimit before{};
  ASSERT_EQ(::prlimit(supervisor, RLIMIT_NOFILE, nullptr, &before), 0);
  const rlimit few{.rlim_cur = static_cast<rlim_t>(open_files), .rlim_max = before.rlim_max};
  ASSERT_EQ(::prlimit(supervisor, RLIMIT_NOFILE, &few, nullptr), 0);
  EXPECT_EQ(run({"batch", "add", "b", "--cpus", "0", "--", "true", "{1}", ":::", "9", "10"}).code,
            0);
  ASSERT_TRUE(comes_true(
      [&] { return count("SELECT count(*) FROM attempt WHERE outcome = 'stopped'") > 0; }));
  EXPECT_EQ(jobs_in("failed"), 0);
  ASSERT_EQ(::prlimit(supervisor, RLIMIT_NOFILE, &before, nullptr), 0);
  write("go", "");
  const ToolResult result = scheduler.wait();
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(jobs_in("done"), 10);
  EXPECT_THAT(result.err, AllOf(HasSubstr("at once for now: one more could not begin, and "
                                          "waits: "),
                                HasSubstr("Too many open files")));
}

// Names of values that differ in a blank or a slash are alike.
TEST_F(WhatBegins, JobsWhoseNamesAreAlikeAreToldByTheirValues) {
  const ToolResult result =
      run_jobs({"--cpus", "0"},
               {"sh", "-c", "echo \"of $0\"; test \"$0\" = 'a b'", "{1}", ":::", "a b", "a/b"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr(" (1=a/b) failed: exit code 1"));
  EXPECT_THAT(run({"batch", "status", "b"}).out, HasSubstr(" (1=a/b): exit code 1"));
  EXPECT_THAT(run({"batch", "status", "b", "--jobs"}).out,
              AllOf(HasSubstr(" (1=a b)"), HasSubstr(" (1=a/b)")));
  const ToolResult log = run({"batch", "logs", "b", "a/b"});
  EXPECT_EQ(log.out, "of a/b\n");
  EXPECT_THAT(log.err, HasSubstr(" (1=a/b):"));
  EXPECT_EQ(run({"batch", "logs", "b", "1=a b"}).out, "of a b\n");
  const ToolResult neither = run({"batch", "logs", "b", "1=a_b"});
  EXPECT_EQ(neither.code, 2);
  EXPECT_THAT(neither.err, AllOf(HasSubstr("alike are 1, "), HasSubstr("; 2, ")));
  EXPECT_EQ(neither.err.find("did you mean"), std::string::npos);
}

TEST_F(WhatBegins, AFolderThatIsGoneIsSaid) {
  const std::filesystem::path gone = folder.path() / "gone";
  std::filesystem::create_directory(gone);
  const ToolResult result =
      run_limited(cat("cd ", gone.string(), " && rmdir ", gone.string()), run_words({}, {"true"}));
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("error: the current folder cannot be used: No such file"));
  EXPECT_EQ(result.err.find("fault of Lockstep"), std::string::npos);
}

}  // namespace
}  // namespace lockstep
