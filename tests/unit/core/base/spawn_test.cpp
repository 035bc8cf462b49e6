// Children and what they inherit.
#include "core/base/process/spawn.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <csignal>

#include "core/base/files/files.h"
#include "core/base/process/descriptors.h"
#include "core/base/text/text.h"

namespace lockstep {
namespace {

class Spawn : public ::testing::Test {
 protected:
  // What `script` prints to its standard output.
  std::string printed(const std::string& script, SpawnSpec spec = {}) {
    const auto path = folder_.path() / "out";
    const UniqueFd out(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    spec.argv = {"sh", "-c", script};
    spec.stdout_fd = out.get();
    code_ = wait_for_exit(spawn(spec));
    return trim(read_file(path));
  }
  TemporaryDirectory folder_;
  int code_ = -1;
};

TEST_F(Spawn, GivesOurEnvironmentOrAnother) {
  setenv("LOCKSTEP_SPAWN_TEST", "ours", 1);
  EXPECT_EQ(printed("echo $LOCKSTEP_SPAWN_TEST"), "ours");
  SpawnSpec spec;
  spec.environment = std::vector<std::string>{"LOCKSTEP_SPAWN_TEST=theirs"};
  EXPECT_EQ(printed("echo $LOCKSTEP_SPAWN_TEST", spec), "theirs");
  spec.environment = std::vector<std::string>{};
  EXPECT_EQ(printed("echo $LOCKSTEP_SPAWN_TEST", spec), "");
  unsetenv("LOCKSTEP_SPAWN_TEST");
}

TEST_F(Spawn, LeavesNothingOpenButWhatIsNamed) {
  const int open_fd = open("/dev/null", O_RDONLY);
  const std::string script = cat("[ -e /proc/self/fd/", open_fd, " ] && echo open || echo closed");
  EXPECT_EQ(printed(script), "closed");
  SpawnSpec one;
  one.inherited = {open_fd};
  EXPECT_EQ(printed(script, one), "open");
  SpawnSpec all;
  all.inherits_all = true;
  EXPECT_EQ(printed(script, all), "open");
  fcntl(open_fd, F_SETFD, FD_CLOEXEC);
  EXPECT_EQ(printed(script, all), "closed");
  close(open_fd);
}

TEST_F(Spawn, ReadsAndWritesNothingWhereNothingIsGiven) {
  EXPECT_EQ(printed("readlink /proc/$$/fd/0 /proc/$$/fd/2"), "/dev/null\n/dev/null");
}

TEST_F(Spawn, LeadsAGroupOrStaysInOurs) {
  EXPECT_EQ(printed("[ $(cut -d' ' -f5 /proc/$$/stat) = $$ ] && echo leads"), "leads");
  SpawnSpec ours;
  ours.own_group = false;
  EXPECT_EQ(printed("cut -d' ' -f5 /proc/$$/stat", ours), cat(getpgrp()));
}

TEST_F(Spawn, EndsWhatWritesTooMuchButNotUs) {
  const auto ours = std::signal(SIGXFSZ, SIG_DFL);
  ignore_file_size_signal();
  printed("kill -XFSZ $$; sleep 60");
  EXPECT_EQ(code_, 128 + SIGXFSZ);
  std::raise(SIGXFSZ);
  std::signal(SIGXFSZ, ours);
}

TEST_F(Spawn, TellsHowAChildEnded) {
  printed("exit 7");
  EXPECT_EQ(code_, 7);
  printed("kill -9 $$");
  EXPECT_EQ(code_, 128 + SIGKILL);
}

}  // namespace
}  // namespace lockstep
