// Logs, forwarded output and events.
#include <fcntl.h>
#include <sys/wait.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "core/base/process/descriptors.h"
#include "launch_fixture.h"

namespace lockstep {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Output : LaunchFixture {
  std::string stdout_of(const LaunchSpec& spec) {
    ::testing::internal::CaptureStdout();
    run(spec);
    return ::testing::internal::GetCapturedStdout();
  }
  // In a process of its own, which writes to `out` and has nothing of its other end: how it ended
  // is its exit code.
  static pid_t launch_beside(const LaunchSpec& spec, int out, int other_end = -1) {
    const pid_t launcher = fork();
    if (launcher != 0) return launcher;
    dup2(out, STDOUT_FILENO);
    close(other_end);
    _exit(static_cast<int>(launch(spec, system_clock()).index()));
  }
  static constexpr int failed = 2, interrupted = 3;  // places in LaunchOutcome
  // Its exit code; -1 if it did not end soon.
  static int code_of(pid_t launcher) {
    int status = 0;
    const bool ended = soon([&] { return waitpid(launcher, &status, WNOHANG) == launcher; });
    if (ended) return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    kill(launcher, SIGKILL);
    waitpid(launcher, &status, 0);
    return -1;
  }
};

TEST_F(Output, GoesToALogARankAfterThatOfEarlierStarts) {
  const LaunchSpec spec = script(2, "echo out $RANK; echo err $RANK >&2");
  EXPECT_EQ(stdout_of(spec), "");
  run(spec);
  EXPECT_EQ(log(0), "out 0\nerr 0\nout 0\nerr 0\n");
  EXPECT_EQ(log(1), "out 1\nerr 1\nout 1\nerr 1\n");
}

TEST_F(Output, IsForwardedWithTheRankBeforeEachLine) {
  LaunchSpec spec = script(2,
                           "[ $RANK = 0 ] || await zero\n"
                           "echo one; echo two >&2; printf 'no newline'; touch $DIR/zero");
  spec.forward_output = true;
  ::testing::internal::CaptureStderr();
  const std::string shown = stdout_of(spec), errors = ::testing::internal::GetCapturedStderr();
  for (const char* line : {"[0] one\n", "[0] no newline\n", "[1] one\n", "[1] no newline\n"})
    EXPECT_THAT(shown, HasSubstr(line));
  EXPECT_THAT(shown, ::testing::Not(HasSubstr("two")));
  EXPECT_THAT(split(errors, '\n'), ::testing::UnorderedElementsAre("[0] two", "[1] two", ""));
  for (const char* line : {"one\n", "two\n", "no newline"}) EXPECT_THAT(log(1), HasSubstr(line));
}

TEST_F(Output, KeepsItsOrderWhereStdoutAndStderrAreTheSameFile) {
  LaunchSpec spec = script(1, "for n in {1..200}; do echo out $n; echo err $n >&2; done");
  spec.forward_output = true;
  std::string expected;
  for (int n = 1; n <= 200; ++n) expected += cat("[0] out ", n, "\n[0] err ", n, "\n");
  ::testing::internal::CaptureStdout();
  const UniqueFd before(dup(STDERR_FILENO));
  dup2(STDOUT_FILENO, STDERR_FILENO);
  run(spec);
  dup2(before.get(), STDERR_FILENO);
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), expected);
}

TEST_F(Output, ThatNeverEndsLeavesTheLauncherEarsForSignals) {
  LaunchSpec spec = script(2,
                           "line=$(printf '%0200d' 7); yes $line & yes $line >&2 & note $$ $!\n"
                           "until grep -q 'left out here' $DIR/logs/rank$RANK.log\n"
                           "do sleep 0.05; done\n"
                           "touch $DIR/full$RANK; await full0; await full1\n"
                           "[ $RANK = 1 ] || kill -TERM $PPID; wait");
  spec.forward_output = true;
  spec.log_limit_bytes = 1 << 20;
  const UniqueFd nothing(open("/dev/null", O_WRONLY));
  EXPECT_EQ(code_of(launch_beside(spec, nothing.get())), interrupted);
  for (const int rank : {0, 1}) {
    EXPECT_FALSE(alive(pids(rank)[0]));
    EXPECT_LE(log(rank).size(), std::size_t{1} << 20);
    EXPECT_THAT(log(rank), HasSubstr(" left out here: the log has a limit of 1 MiB]\n"));
  }
}

TEST_F(Output, OfWhatNobodyReadsDoesNotKeepTheLauncherFromAFailure) {
  LaunchSpec spec = script(2,
                           "if [ $RANK = 0 ]; then yes & note $$ $!; wait; fi\n"
                           "await pids0; sleep 0.3; exit 3");
  spec.forward_output = true;
  spec.log_limit_bytes = 1 << 20;
  Pipe out = make_pipe();
  const pid_t launcher = launch_beside(spec, out.write.get(), out.read.get());
  out.write.reset();
  EXPECT_TRUE(soon([&] { return has_pids(0) && !alive(pids(0)[0]) && !alive(pids(0)[1]); }));
  EXPECT_TRUE(alive(launcher)) << "it waits for its reader";
  std::string shown(1 << 16, '\0');
  EXPECT_GT(read(out.read.get(), shown.data(), shown.size()), 0);
  out.read.reset();  // the reader goes
  EXPECT_EQ(code_of(launcher), failed);
}

TEST_F(Output, OfWhatNobodyReadsIsGivenUpAtAnInterrupt) {
  LaunchSpec spec = script(1, "seq 1 1000000; touch $DIR/end; exit 0");
  spec.forward_output = true;
  Pipe out = make_pipe();
  const pid_t launcher = launch_beside(spec, out.write.get());
  // The rank waits for the reader too, as in any pipe; the interrupt ends it.
  ASSERT_TRUE(soon([&] { return std::filesystem::exists(dir() / "logs/rank0.log"); }));
  ASSERT_TRUE(soon([&] { return log(0).size() > 100000; }));
  kill(launcher, SIGTERM);
  EXPECT_EQ(code_of(launcher), interrupted);
  EXPECT_FALSE(std::filesystem::exists(dir() / "end"));
}

TEST_F(Output, IsForwardedWholeHoweverMuchThereIs) {
  LaunchSpec spec = script(1, "seq 1 30000");
  spec.forward_output = true;
  std::string expected, in_log;
  for (int i = 1; i <= 30000; ++i) {
    expected += cat("[0] ", i, "\n");
    in_log += cat(i, "\n");
  }
  EXPECT_TRUE(stdout_of(spec) == expected);
  EXPECT_TRUE(log(0) == in_log);
}

TEST_F(Output, OfOneRankGoesToOurStdoutAsItIs) {
  LaunchSpec spec = script(2, "echo out $RANK; echo err $RANK >&2");
  spec.pass_stdout_rank = 1;
  EXPECT_EQ(stdout_of(spec), "out 1\n");
  EXPECT_EQ(log(0), "out 0\nerr 0\n");
  EXPECT_EQ(log(1), "err 1\n");
}

TEST_F(Output, DeliversWholeEventLinesOfRankZero) {
  LaunchSpec spec = script(2,
                           "out=/proc/self/fd/$LOCKSTEP_EVENTS_FD\n"
                           "if [ $RANK = 1 ]; then echo '{\"n\":9}' > $out; exit; fi\n"
                           "printf '{\"n\":1}\\nno JSON\\n{\"n' > $out; sleep 0.05\n"
                           "printf '\":2}\\n{\"n\":3}' > $out");
  std::vector<int> events;
  spec.on_event = [&](const nlohmann::json& event) { events.push_back(event.at("n")); };
  EXPECT_TRUE(std::holds_alternative<Finished>(run(spec)));
  EXPECT_THAT(events, ElementsAre(1, 2));
}

TEST_F(Output, BringsWhatARankSaysOfItsFailure) {
  LaunchSpec spec = script(2,
                           "if [ $RANK = 0 ]; then sleep 1000; fi\n"
                           "echo '{\"kind\":\"error\",\"what\":\"no such file\",\"hint\":\"look\","
                           "\"is_users\":true}' > /proc/self/fd/$LOCKSTEP_EVENTS_FD; exit 2");
  spec.on_event = [](const nlohmann::json&) { ADD_FAILURE() << "no event of the run"; };
  const auto outcome = std::get<RankFailed>(run(spec));
  EXPECT_EQ(outcome.rank, 1);
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(outcome.error->what, "no such file");
  EXPECT_EQ(outcome.error->hint, "look");
  EXPECT_TRUE(outcome.error->is_users);
}

TEST_F(Output, StopsTheRanksWhenTheReaderOfEventsThrows) {
  LaunchSpec spec = script(2,
                           "note $$; await pids0; await pids1\n"
                           "[ $RANK = 1 ] || echo '{}' > /proc/self/fd/$LOCKSTEP_EVENTS_FD\n"
                           "sleep 1000");
  spec.on_event = [](const nlohmann::json&) { throw std::runtime_error("reader"); };
  EXPECT_THROW(run(spec), std::runtime_error);
  for (const int rank : {0, 1}) EXPECT_FALSE(alive(pids(rank)[0]));
}

}  // namespace
}  // namespace lockstep
