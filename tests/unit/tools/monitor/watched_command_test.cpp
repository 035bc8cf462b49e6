// A program that is started to be watched.
#include "tools/monitor/watched_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <thread>

#include "fakes/error_of.h"

namespace lockstep {
namespace {

using ::testing::StartsWith;

int code_of(WatchedCommand& command) {
  for (int i = 0; i < 1000; ++i) {
    if (const auto code = command.ended()) return *code;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return -1;
}

TEST(WatchedCommand, HasTheExitCodeOfItsProgram) {
  WatchedCommand command({"sh", "-c", "exit 7"});
  EXPECT_EQ(code_of(command), 7);
  EXPECT_EQ(command.ended(), 7);
  command.send(SIGTERM);  // to nobody
}

TEST(WatchedCommand, IsToldSignals) {
  WatchedCommand command({"sleep", "100"});
  EXPECT_EQ(command.ended(), std::nullopt);
  command.send(SIGTERM);
  EXPECT_EQ(code_of(command), 128 + SIGTERM);
}

TEST(WatchedCommand, DoesNotInheritIgnoredPipeSignals) {
  const auto before = signal(SIGPIPE, SIG_IGN);
  WatchedCommand command({"sh", "-c", "kill -PIPE $$; exit 3"});
  EXPECT_EQ(code_of(command), 128 + SIGPIPE);
  signal(SIGPIPE, before);
}

TEST(WatchedCommand, SaysThatThereIsNoSuchProgram) {
  EXPECT_THAT(error_of([] { WatchedCommand({"no-such-program-here"}); }),
              StartsWith("cannot start \"no-such-program-here\": No such file or directory | is it "
                         "installed and in PATH?"));
}

}  // namespace
}  // namespace lockstep
