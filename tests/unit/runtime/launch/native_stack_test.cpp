// With programs that play the debuggers, and with those that are installed.
#include "runtime/launch/watch/native_stack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "core/base/clock.h"
#include "core/base/files/files.h"

namespace lockstep {
namespace {

using ::testing::HasSubstr;

class NativeStack : public ::testing::Test {
 protected:
  NativeStack() : path_(getenv("PATH")) {
    child_ = fork();
    if (child_ == 0)
      while (true) pause();
  }
  ~NativeStack() override {
    setenv("PATH", path_.c_str(), 1);
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }
  // Asks until it is done, as a launcher does.
  std::string dump(double limit_s = 15) {
    StackDump dump(child_, file, limit_s);
    std::optional<std::string> fault;
    while (!(fault = dump.poll())) system_clock().sleep_s(0.005);
    return *fault;
  }
  void install(const std::string& name, const std::string& body) const {
    const std::filesystem::path program = folder.path() / name;
    std::ofstream(program) << "#!/bin/sh\n" << body;
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    setenv("PATH", folder.path().c_str(), 1);
  }

  TemporaryDirectory folder;
  std::filesystem::path file = folder.path() / "stack.txt";
  pid_t child_;

 private:
  std::string path_;
};

TEST_F(NativeStack, ComesFromTheFirstDebuggerThatIsThere) {
  install("gdb", "echo gdb of $6");
  EXPECT_EQ(dump(), "");
  EXPECT_THAT(read_file(file), HasSubstr("gdb of " + std::to_string(child_)));
  install("eu-stack", "echo eu-stack $1");
  EXPECT_EQ(dump(), "");
  EXPECT_THAT(read_file(file), HasSubstr("eu-stack --pid=" + std::to_string(child_)));
}

TEST_F(NativeStack, SaysWhyThereIsNone) {
  setenv("PATH", folder.path().c_str(), 1);
  EXPECT_EQ(dump(), "neither eu-stack nor gdb is installed");
  EXPECT_FALSE(std::filesystem::exists(file));
  install("gdb", "echo not permitted; exit 4");
  EXPECT_EQ(dump(), "gdb: exit code 4");
  EXPECT_THAT(read_file(file), HasSubstr("not permitted"));
  install("gdb", "while :; do :; done");
  EXPECT_EQ(dump(0.3), "gdb: took longer than 0.3 s");
  file = folder.path() / "no/file";
  EXPECT_THAT(dump(), HasSubstr("cannot write "));
}

TEST_F(NativeStack, HoldsUpNobodyWhileTheDebuggerWorks) {
  install("gdb", "while :; do :; done");
  const double begin_s = system_clock().now_s();
  StackDump dump(child_, file);
  EXPECT_EQ(dump.poll(), std::nullopt);
  EXPECT_LT(system_clock().now_s() - begin_s, 10) << "of the 15 s that a debugger gets";
}

TEST_F(NativeStack, OfAnInstalledDebuggerNamesTheFunction) {
  if (std::system("gdb --version >/dev/null 2>&1 || eu-stack --version >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "no debugger";
  EXPECT_EQ(dump(), "");
  EXPECT_THAT(read_file(file), HasSubstr("pause"));
  EXPECT_EQ(kill(child_, 0), 0);  // it goes on
}

}  // namespace
}  // namespace lockstep
