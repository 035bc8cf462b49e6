// lockstep launch as people use it: on a terminal, with programs that keep what they print.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/files/fd.h"
#include "fakes/tool.h"

namespace lockstep {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::ToolResult;

class LaunchOnTerminal : public ::testing::Test {
 protected:
  using Words = std::vector<std::string>;

  static Words words_of(const Words& flags, const Words& program) {
    Words words{testing::program("lockstep"), "launch", "--devices", "cpu:2"};
    words.insert(words.end(), flags.begin(), flags.end());
    words.insert(words.end(), program.begin(), program.end());
    return words;
  }
  static Words python(const std::string& script) { return {"python3", "-c", script}; }

  // All that appears there. typed: once something has appeared.
  std::string shown(const Words& flags, const Words& program, const std::string& typed = "") {
    const UniqueFd ours(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
    EXPECT_TRUE(ours && ::grantpt(ours.get()) == 0 && ::unlockpt(ours.get()) == 0);
    const winsize size{.ws_row = 24, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};
    ::ioctl(ours.get(), TIOCSWINSZ, &size);
    const std::string name = ::ptsname(ours.get());
    Words words = words_of(flags, program);
    const pid_t child = fork();
    if (child == 0) {
      ::setsid();
      const int theirs = ::open(name.c_str(), O_RDWR);
      for (int fd = 0; fd < 3; ++fd) ::dup2(theirs, fd);
      if (::chdir(folder.path().c_str()) != 0) ::_exit(126);
      ::unsetenv("PYTHONUNBUFFERED");
      std::vector<char*> argv;
      for (std::string& word : words) argv.push_back(word.data());
      argv.push_back(nullptr);
      ::execv(argv[0], argv.data());
      ::_exit(127);
    }
    std::string all;
    bool is_typed = typed.empty();
    char bytes[4096];
    pollfd ready{.fd = ours.get(), .events = POLLIN, .revents = 0};
    while (::poll(&ready, 1, 20'000) > 0) {
      const ssize_t got = ::read(ours.get(), bytes, sizeof bytes);
      if (got <= 0) break;
      all.append(bytes, static_cast<std::size_t>(got));
      times_.emplace_back(all.size(), system_clock().now_s());
      if (!is_typed && ::write(ours.get(), typed.data(), typed.size()) > 0) is_typed = true;
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    all_ = all;
    return all;
  }
  // Between the moments at which these were there.
  double seconds_between(const std::string& first, const std::string& second) const {
    return moment(second) - moment(first);
  }
  std::string log(int rank) const {
    return read_file(folder.path() / "logs" / ("rank" + std::to_string(rank) + ".log"));
  }

  TemporaryDirectory folder;
  int code = -1;

 private:
  double moment(const std::string& text) const {
    const std::size_t end = all_.find(text);
    EXPECT_NE(end, std::string::npos) << text << " in " << all_;
    for (const auto& [size, time_s] : times_)
      if (size >= end + text.size()) return time_s;
    return -1;
  }
  std::string all_;
  std::vector<std::pair<std::size_t, double>> times_;
};

TEST_F(LaunchOnTerminal, EachLineIsShownAsItIsPrinted) {
  shown({}, python("import time; print('first'); time.sleep(0.8); print('second')"));
  EXPECT_EQ(code, 0);
  for (const std::string rank : {"[0] ", "[1] "})
    EXPECT_GT(seconds_between(rank + "first\r\n", rank + "second\r\n"), 0.5) << rank;
}

TEST_F(LaunchOnTerminal, RankZeroHasATerminalAsWideAsIsLeft) {
  const std::string all =
      shown({}, python("import sys, os; print(sys.stdout.isatty(), sys.stderr.isatty(), "
                       "os.get_terminal_size().columns if sys.stdout.isatty() else 'none')"));
  EXPECT_THAT(all, AllOf(HasSubstr("[0] True True 76\r\n"), HasSubstr("[1] False False none\r\n")));
}

TEST_F(LaunchOnTerminal, ABarIsLiveAndTheLogIsPlain) {
  shown({},
        {"sh", "-c",
         "[ $RANK = 1 ] && exit; printf '\\r\\033[32m 10%%\\033[0m'; sleep 0.6; "
         "printf '\\r\\033[32m 20%%\\033[0m'; sleep 0.6; printf '\\r\\033[32mdone\\033[0m\\n'"});
  EXPECT_GT(seconds_between(" 10%", " 20%"), 0.3);
  EXPECT_GT(seconds_between(" 20%", "done"), 0.3);
  EXPECT_EQ(log(0), "done\n");
}

TEST_F(LaunchOnTerminal, NothingIsLostAtAnAbort) {
  const std::string all = shown({}, python("import os, time\nprint('before the end')\n"
                                           "if os.environ['RANK'] == '1': os.abort()\n"
                                           "time.sleep(100)"));
  EXPECT_EQ(code, 134);
  EXPECT_THAT(all, HasSubstr("[1] before the end\r\n"));
  EXPECT_EQ(log(1), "before the end\n");
}

TEST_F(LaunchOnTerminal, TheLogHasAPartOfALineWhoseEndDoesNotCome) {
  shown({}, {"sh", "-c",
             "[ $RANK = 1 ] && exit; printf waiting; "
             "until grep -q waiting logs/rank0.log; do sleep 0.1; done; echo ' no more'"});
  EXPECT_EQ(code, 0);
  EXPECT_EQ(log(0), "waiting no more\n");
}

TEST_F(LaunchOnTerminal, WhatIsTypedGoesToRankZeroOnRequest) {
  const Words asks = {"sh", "-c",
                      "[ $RANK = 1 ] && exit; printf 'who? '; read name; echo \"hello $name\""};
  EXPECT_THAT(shown({"--stdin"}, asks, "ada\n"),
              AllOf(HasSubstr("[0] who? "), HasSubstr("hello ada\r\n")));
  EXPECT_EQ(code, 0);
}

class LaunchInput : public LaunchOnTerminal {
 protected:
  ToolResult fed(const std::string& text, const Words& flags, const std::string& script) {
    Words words{"sh", "-c", "printf '" + text + "' | \"$@\"", "sh"};
    const Words tool = words_of(flags, python(script));
    words.insert(words.end(), tool.begin(), tool.end());
    return testing::ToolProcess(words, folder.path(), {}).wait();
  }
};

TEST_F(LaunchInput, GoesToRankZeroOnRequest) {
  const std::string script =
      "import os, sys\nprint(input() if os.environ['RANK'] == '0' else sys.stdin.read() == '')";
  const ToolResult given = fed("yes\\n", {"--stdin"}, script);
  EXPECT_EQ(given.code, 0) << given.err;
  EXPECT_THAT(given.out, AllOf(HasSubstr("[0] yes\n"), HasSubstr("[1] True\n")));
  const ToolResult refused = fed("yes\\n", {}, script);
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("EOFError"));
}

}  // namespace
}  // namespace lockstep
