// Logs, forwarded output and events.
#include <stdexcept>

#include "launch_fixture.h"

namespace lockstep {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Output : LaunchFixture {
  std::string stdout_of(const LaunchSpec& spec) {
    testing::internal::CaptureStdout();
    run(spec);
    return testing::internal::GetCapturedStdout();
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
  const std::string shown = stdout_of(spec);
  for (const char* line :
       {"[0] one\n[0] two\n", "[0] no newline\n", "[1] one\n[1] two\n", "[1] no newline\n"}) {
    EXPECT_THAT(shown, HasSubstr(line));
  }
  EXPECT_EQ(log(1), "one\ntwo\nno newline");
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
                           "[ $RANK = 1 ] && exit ${LOCKSTEP_EVENTS_FD:-0}\n"
                           "out=/proc/self/fd/$LOCKSTEP_EVENTS_FD\n"
                           "printf 'first\\nsec' > $out; sleep 0.05; printf 'ond\\ntorn' > $out");
  std::vector<std::string> events;
  spec.on_event = [&](std::string_view line) { events.emplace_back(line); };
  EXPECT_TRUE(std::holds_alternative<Finished>(run(spec)));
  EXPECT_THAT(events, ElementsAre("first", "second"));
}

TEST_F(Output, StopsTheRanksWhenTheReaderOfEventsThrows) {
  LaunchSpec spec = script(2,
                           "note $$; await pids0; await pids1\n"
                           "[ $RANK = 1 ] || echo x > /proc/self/fd/$LOCKSTEP_EVENTS_FD\n"
                           "sleep 1000");
  spec.on_event = [](std::string_view) { throw std::runtime_error("reader"); };
  EXPECT_THROW(run(spec), std::runtime_error);
  for (const int rank : {0, 1}) EXPECT_FALSE(alive(pids(rank)[0]));
}

}  // namespace
}  // namespace lockstep
