// `lockstep monitor` on a pseudo-terminal.
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>

#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>
#include <thread>

#include "checkout_paths.h"
#include "core/base/clock.h"
#include "core/base/files/fd.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "fakes/nvml_machine.h"
#include "fakes/tool.h"

namespace lockstep {
namespace {

using nlohmann::json;

constexpr const char* leave_screen = "\x1b[?1049l";  // of TERM=xterm

struct Size {
  unsigned short rows = 24, columns = 80;
};

// A program on a terminal of its own; what it sends is kept.
class OnTerminal {
 public:
  OnTerminal(const std::vector<std::string>& words,
             const std::map<std::string, std::string>& environment, Size size = {}) {
    winsize window{.ws_row = size.rows, .ws_col = size.columns, .ws_xpixel = 0, .ws_ypixel = 0};
    int terminal = -1, slave = -1;
    EXPECT_EQ(openpty(&terminal, &slave, nullptr, nullptr, &window), 0);
    terminal_.reset(terminal);
    slave_.reset(slave);
    EXPECT_EQ(tcgetattr(slave, &before_), 0);
    pid_ = fork();
    if (pid_ != 0) return;
    setsid();
    ioctl(slave, TIOCSCTTY, 0);
    for (const int fd : {0, 1, 2}) dup2(slave, fd);
    close(terminal);
    close(slave);
    unsetenv("NO_COLOR");
    for (const auto& [name, value] : environment)
      if (value == "unset")
        unsetenv(name.c_str());
      else
        setenv(name.c_str(), value.c_str(), 1);
    std::vector<std::string> copy = words;
    std::vector<char*> argv;
    for (std::string& word : copy) argv.push_back(word.data());
    argv.push_back(nullptr);
    execvp(argv[0], argv.data());
    _exit(127);
  }
  ~OnTerminal() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  OnTerminal(const OnTerminal&) = delete;
  OnTerminal& operator=(const OnTerminal&) = delete;

  // Takes what comes for this long.
  void listen(double seconds) {
    const double end = system_clock().now_s() + seconds;
    for (double left; (left = end - system_clock().now_s()) > 0;) read_once(left);
  }
  // Takes what comes until it holds `text`, from `from` on.
  bool waits_for(const std::string& text, std::size_t from = 0, double seconds = 15) {
    const double end = system_clock().now_s() + seconds;
    for (double left; (left = end - system_clock().now_s()) > 0;) {
      if (sent_.find(text, from) != std::string::npos) return true;
      read_once(std::min(left, 0.1));
    }
    return false;
  }
  void type(const std::string& keys) const {
    EXPECT_EQ(write(terminal_.get(), keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
  }
  void resize(Size size) const {
    winsize window{.ws_row = size.rows, .ws_col = size.columns, .ws_xpixel = 0, .ws_ypixel = 0};
    EXPECT_EQ(ioctl(terminal_.get(), TIOCSWINSZ, &window), 0);  // sends SIGWINCH
  }
  // Exit code, or 128 + signal; -1: it does not end.
  int wait(double seconds = 10) {
    const double end = system_clock().now_s() + seconds;
    int status = 0;
    while (waitpid(pid_, &status, WNOHANG) == 0) {
      if (system_clock().now_s() > end) return -1;
      read_once(0.02);
    }
    pid_ = -1;
    listen(0.1);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  bool has_modes_of_before() const {
    termios now{};
    EXPECT_EQ(tcgetattr(slave_.get(), &now), 0);
    return now.c_iflag == before_.c_iflag && now.c_oflag == before_.c_oflag &&
           now.c_lflag == before_.c_lflag && now.c_cflag == before_.c_cflag &&
           std::memcmp(now.c_cc, before_.c_cc, sizeof now.c_cc) == 0;
  }
  void hang_up() {
    slave_.reset();
    terminal_.reset();
  }
  pid_t pid() const { return pid_; }
  const std::string& sent() const { return sent_; }

 private:
  void read_once(double seconds) {
    pollfd input{.fd = terminal_.get(), .events = POLLIN, .revents = 0};
    if (poll(&input, 1, static_cast<int>(seconds * 1000) + 1) <= 0 || !terminal_) return;
    std::array<char, 65536> buffer{};
    const ssize_t got = read(terminal_.get(), buffer.data(), buffer.size());
    if (got > 0) sent_.append(buffer.data(), static_cast<std::size_t>(got));
  }

  UniqueFd terminal_, slave_;
  termios before_{};
  pid_t pid_ = -1;
  std::string sent_;
};

class LiveMonitor : public ::testing::Test, public testing::NvmlMachine {
 protected:
  LiveMonitor() {
    set(json::array({gpu(0), gpu(1)}));
    environment_["TERM"] = "xterm";
    environment_["LC_ALL"] = "C.UTF-8";
  }
  static json gpu(int index) {
    return NvmlMachine::gpu(
        index, {{"temperature", 61}, {"gpm", {{"2", 30.0 + index}, {"5", 10.0}, {"10", 20.0}}}});
  }
  OnTerminal monitor(std::vector<std::string> words = {}, Size size = {}) {
    if (words.empty()) words = {"--interval", "0.2s"};
    words.insert(words.begin(), {testing::program("lockstep"), "monitor"});
    return {words, environment_, size};
  }
};

TEST_F(LiveMonitor, ShowsDevicesAndProcessesAndIsLeftByQ) {
  OnTerminal tool = monitor();
  EXPECT_TRUE(tool.waits_for("30 SM")) << tool.sent();
  EXPECT_TRUE(tool.waits_for("31 SM"));
  EXPECT_TRUE(tool.waits_for("process-monitor"));
  EXPECT_FALSE(tool.has_modes_of_before());
  tool.type("q");
  EXPECT_EQ(tool.wait(), 0);
  EXPECT_TRUE(tool.has_modes_of_before());
  EXPECT_NE(tool.sent().find(leave_screen), std::string::npos);
  EXPECT_EQ(tool.sent().find("lockstep monitor", tool.sent().find(leave_screen)),
            std::string::npos);
}

TEST_F(LiveMonitor, IsLeftByCtrlCAndBySignalsWithTheTerminalAsItWas) {
  for (const int signal : {0, SIGINT, SIGTERM, SIGHUP}) {
    OnTerminal tool = monitor();
    EXPECT_TRUE(tool.waits_for("30 SM")) << tool.sent();
    if (signal == 0)
      tool.type("\x03");
    else
      kill(tool.pid(), signal);
    EXPECT_EQ(tool.wait(), 0) << signal;
    EXPECT_TRUE(tool.has_modes_of_before()) << signal;
    EXPECT_NE(tool.sent().find(leave_screen), std::string::npos) << signal;
  }
}

TEST_F(LiveMonitor, SendsOnlyWhatChanged) {
  OnTerminal tool = monitor({"--interval", "0.5s"});
  EXPECT_TRUE(tool.waits_for("30 SM"));
  tool.listen(0.3);
  const std::size_t first = tool.sent().size();
  tool.listen(2);  // four samples
  const std::size_t four = tool.sent().size() - first;
  EXPECT_GT(first, 800U);
  EXPECT_GT(four, 0U);
  EXPECT_LT(four / 4, first / 4) << tool.sent().substr(first);
  EXPECT_EQ(tool.sent().find("process-monitor", first), std::string::npos);
  // Paused, nothing is sent at all.
  tool.type("p");
  EXPECT_TRUE(tool.waits_for("PAUSED", first));
  tool.listen(0.3);
  const std::size_t paused = tool.sent().size();
  tool.listen(1.5);
  EXPECT_EQ(tool.sent().size(), paused) << tool.sent().substr(paused);
}

TEST_F(LiveMonitor, DrawsAgainWhereTheSizeChanges) {
  OnTerminal tool = monitor();
  EXPECT_TRUE(tool.waits_for("30 SM"));
  EXPECT_EQ(tool.sent().find("NVLink"), std::string::npos);
  tool.resize({.rows = 30, .columns = 160});
  EXPECT_TRUE(tool.waits_for("NVLink out/in"));
  for (const Size size : {Size{2, 5}, Size{1, 1}, Size{24, 80}}) {
    tool.resize(size);
    tool.listen(0.4);
  }
  const std::size_t before = tool.sent().size();
  tool.type("?");
  EXPECT_TRUE(tool.waits_for("the selected process, and what", before));
  tool.type("qq");
  EXPECT_EQ(tool.wait(), 0);
  EXPECT_TRUE(tool.has_modes_of_before());
}

TEST_F(LiveMonitor, TakesKeysThatSendSeveralBytes) {
  OnTerminal tool = monitor();
  EXPECT_TRUE(tool.waits_for("process-monitor"));
  tool.type("\x1bOB\r");  // down, enter
  EXPECT_TRUE(tool.waits_for("GPU 1    memory 4 KiB"));
  const std::size_t before = tool.sent().size();
  tool.type("\x1b");
  EXPECT_TRUE(tool.waits_for("q quit", before));
  tool.type("/\xe8\xa8\x93");  // a wide character
  EXPECT_TRUE(tool.waits_for("\xe8\xa8\x93_", before)) << tool.sent().substr(before);
}

// The process of the fake is a parent of the tool, on both GPUs at once.
TEST_F(LiveMonitor, AsksTheDoctorAboutAProcess) {
  OnTerminal tool = monitor();
  EXPECT_TRUE(tool.waits_for("process-monitor"));
  tool.type("d");
  EXPECT_TRUE(tool.waits_for("doctor: looking"));
  EXPECT_TRUE(tool.waits_for("nothing found"));
}

// CUDA's order of unlike GPUs, of instances of MIG and beside a fault is asked of its driver, which
// is not here.
TEST_F(LiveMonitor, AsksTheDoctorWhereGpusAreOutOfTheOrdinary) {
  json other = gpu(1), faulty = gpu(1), mig = gpu(1);
  other["name"] = "NVIDIA A30";
  faulty["error"] = 15;
  mig["mig"] = json::array({{{"uuid", "MIG-0"}, {"name", "NVIDIA H200 MIG 1g.18gb"}}});
  environment_["LOCKSTEP_CUDA_DRIVER"] = "/nonexistent/libcuda.so.1";
  for (const json& second : {other, faulty, mig}) {
    set(json::array({gpu(0), second}));
    for (const char* key : {"d", "\r"}) {
      OnTerminal tool = monitor();
      EXPECT_TRUE(tool.waits_for("process-monitor")) << tool.sent();
      tool.type(key);
      EXPECT_TRUE(tool.waits_for("doctor: looking")) << tool.sent();
      EXPECT_TRUE(tool.waits_for("nothing found") || tool.waits_for("seen:", 0, 0.1))
          << tool.sent();
      tool.type("qq");
      EXPECT_EQ(tool.wait(), 0) << tool.sent();
      EXPECT_TRUE(tool.has_modes_of_before());
    }
  }
}

// The fake NVML aborts where it is shut down while a call is under way.
TEST_F(LiveMonitor, IsLeftWhileTheDoctorStillAsksTheDriver) {
  json slow = gpu(0);
  slow["slow_ms"] = {{"nvmlDeviceGetComputeMode", 600000}};  // which only the doctor asks for
  set(json::array({slow}));
  OnTerminal tool = monitor();
  EXPECT_TRUE(tool.waits_for("process-monitor")) << tool.sent();
  tool.type("d");
  EXPECT_TRUE(tool.waits_for("doctor: looking")) << tool.sent();
  tool.listen(0.5);
  const double begin = system_clock().now_s();
  tool.type("qq");
  EXPECT_EQ(tool.wait(), 0) << tool.sent();
  EXPECT_LT(system_clock().now_s() - begin, 5);
  EXPECT_TRUE(tool.has_modes_of_before());
  EXPECT_EQ(tool.sent().find("shut down under a call"), std::string::npos);
}

TEST_F(LiveMonitor, ShowsNoSecretOfACommand) {
  const testing::ToolProcess other({"sh", "-c", "sleep 60; :", "x", "--token", "first second"},
                                   folder_.path());
  json one = gpu(0);
  one["processes"] = json::array({{{"pid", other.pid()}, {"memory", 4096}}});
  set(json::array({one}));
  OnTerminal tool = monitor({}, {.rows = 24, .columns = 140});
  EXPECT_TRUE(tool.waits_for("--token \u2026")) << tool.sent();
  tool.type("d");
  EXPECT_TRUE(tool.waits_for("doctor: looking"));
  EXPECT_EQ(tool.sent().find("second"), std::string::npos) << tool.sent();
}

TEST_F(LiveMonitor, HasNoColourWhereNoneIsWanted) {
  environment_["NO_COLOR"] = "1";
  OnTerminal tool = monitor();
  EXPECT_TRUE(tool.waits_for("30 SM"));
  EXPECT_EQ(tool.sent().find("\x1b[32m"), std::string::npos);
  environment_.erase("NO_COLOR");
  OnTerminal coloured = monitor();
  EXPECT_TRUE(coloured.waits_for("\x1b[32m"));
}

TEST_F(LiveMonitor, WorksOnAVt100WithoutUtf8) {
  environment_["TERM"] = "vt100";
  environment_["LC_ALL"] = "C";
  OnTerminal tool = monitor();
  EXPECT_TRUE(tool.waits_for("31 SM"));
  EXPECT_TRUE(tool.waits_for("process-monitor"));
  const std::string& sent = tool.sent();
  EXPECT_TRUE(std::all_of(sent.begin(), sent.end(), [](char c) { return c >= 0; }));
  tool.type("q");
  EXPECT_EQ(tool.wait(), 0);
  EXPECT_TRUE(tool.has_modes_of_before());
}

TEST_F(LiveMonitor, DrawsInUtf8WhereTheLocaleOfThatNameIsNotInstalled) {
  environment_["LC_ALL"] = "xx_XX.UTF-8";
  OnTerminal tool = monitor();
  EXPECT_TRUE(tool.waits_for("\u2583")) << tool.sent();
}

TEST_F(LiveMonitor, ShowsTheTableWhereTheTerminalCannotShowIt) {
  const struct {
    const char* term;
    const char* why;
  } cases[] = {{"dumb", "no live view: the terminal \"dumb\" cannot move its cursor"},
               {"no-such-terminal", "no live view: the terminal \"no-such-terminal\" is not known"},
               {"unset", "no live view: TERM is not set"},
               {"", "no live view: TERM is not set"}};
  for (const auto& one : cases) {
    environment_["TERM"] = one.term;
    OnTerminal tool = monitor({"--interval", "0.3s"});
    EXPECT_TRUE(tool.waits_for(one.why)) << tool.sent();
    EXPECT_TRUE(tool.waits_for("tensor %")) << tool.sent();
    EXPECT_EQ(tool.sent().find('\x1b'), std::string::npos);
    EXPECT_TRUE(tool.has_modes_of_before());
    kill(tool.pid(), SIGTERM);
    EXPECT_EQ(tool.wait(), 0);
  }
}

TEST_F(LiveMonitor, IsATableWhereThatIsWanted) {
  for (const char* flag : {"--table", "--once", "--json", "--csv=-"}) {
    OnTerminal tool = monitor({flag, "--interval", "0.3s"});
    EXPECT_TRUE(tool.waits_for("GPU")) << tool.sent();
    tool.listen(0.5);
    EXPECT_EQ(tool.sent().find('\x1b'), std::string::npos) << flag;
  }
}

TEST_F(LiveMonitor, EndsWithItsTime) {
  OnTerminal tool = monitor({"--duration", "1.5s"});
  EXPECT_EQ(tool.wait(), 0);
  EXPECT_TRUE(tool.has_modes_of_before());
  EXPECT_NE(tool.sent().find(leave_screen), std::string::npos);
}

// A minute of five samples a second in a moment: more than there are screens.
TEST_F(LiveMonitor, ReplaysFasterThanItDraws) {
  std::string text =
      read_file(LOCKSTEP_SOURCE_DIR "/tests/unit/tools/doctor/recordings/healthy.jsonl");
  nlohmann::json sample;
  for (const std::string& line : split(trim(text), '\n'))
    if (nlohmann::json one = nlohmann::json::parse(line);
        one.contains("gpus") && one.contains("at"))
      sample = std::move(one);
  for (int i = 0; i < 300; ++i) {
    sample["at"] = sample["at"].get<double>() + 0.2;
    text += sample.dump() + "\n";
  }
  write_file_atomic(folder_.path() / "long.jsonl", text);
  OnTerminal tool = monitor({"--replay", folder_.path() / "long.jsonl", "--speed", "1000"});
  EXPECT_EQ(tool.wait(), 0);
  EXPECT_NE(tool.sent().find(" SM"), std::string::npos) << tool.sent();
  EXPECT_TRUE(tool.has_modes_of_before());
}

TEST_F(LiveMonitor, EndsWithTheProcessThatItFollows) {
  testing::ToolProcess other({"sleep", "2"}, folder_.path());
  OnTerminal tool = monitor({"--interval", "0.3s", "--pid", std::to_string(other.pid())});
  EXPECT_TRUE(tool.waits_for("no processes"));
  other.wait();
  EXPECT_EQ(tool.wait(), 0);
  EXPECT_TRUE(tool.has_modes_of_before());
}

TEST_F(LiveMonitor, EndsWhereTheTerminalHangsUp) {
  OnTerminal tool = monitor();
  EXPECT_TRUE(tool.waits_for("30 SM"));
  tool.hang_up();
  EXPECT_EQ(tool.wait(), 0);
}

TEST_F(LiveMonitor, EndsWhereTheTerminalHangsUpThoughThatIsIgnored) {
  OnTerminal tool({"sh", "-c", "trap '' HUP; exec \"$0\" monitor --interval 0.2s",
                   testing::program("lockstep")},
                  environment_);
  EXPECT_TRUE(tool.waits_for("30 SM"));
  tool.hang_up();
  EXPECT_EQ(tool.wait(), 0);
}

TEST_F(LiveMonitor, StopsAndGoesOn) {
  // In a session of its own with a parent there, or the kernel drops the stop.
  OnTerminal tool({"sh", "-c", "set -m; \"$0\" monitor; echo stopped; sleep 1; fg; echo ended",
                   testing::program("lockstep")},
                  environment_);
  EXPECT_TRUE(tool.waits_for("30 SM"));
  const std::vector<pid_t> children = testing::children_of(tool.pid());
  ASSERT_EQ(children.size(), 1U);
  // ncurses ignores the key while it draws, so whoever sees no answer presses it again.
  for (int presses = 0; presses < 8 && tool.sent().find(leave_screen) == std::string::npos;
       ++presses) {
    tool.type("\x1a");
    tool.listen(2);
  }
  EXPECT_TRUE(tool.waits_for(leave_screen));
  ASSERT_TRUE(tool.waits_for("stopped"));
  const std::size_t before = tool.sent().find("stopped");
  EXPECT_TRUE(tool.waits_for("SM", before)) << tool.sent().substr(before);
  tool.listen(1);
  tool.type("q");
  EXPECT_TRUE(tool.waits_for("ended", before)) << tool.sent().substr(before);
  tool.wait();
}

TEST_F(LiveMonitor, IsNotFrozenByADriverThatHangs) {
  json hanging = gpu(0);
  hanging["slow_ms"] = {{"nvmlDeviceGetUtilizationRates", 600000}};
  set(json::array({hanging}));
  OnTerminal tool = monitor();
  EXPECT_TRUE(tool.waits_for("waiting for the first sample"));
  EXPECT_TRUE(tool.waits_for("driver has not answered for 5 s"));
  EXPECT_TRUE(tool.waits_for("\x1b["));
  tool.type("?");
  EXPECT_TRUE(tool.waits_for("the selected process, and what"));
  tool.type("qq");
  const double begin = system_clock().now_s();
  EXPECT_EQ(tool.wait(), 0);
  EXPECT_LT(system_clock().now_s() - begin, 3);
  EXPECT_TRUE(tool.has_modes_of_before());
}

TEST_F(LiveMonitor, ShowsWhereARunOfLockstepsIs) {
  const auto run = folder_.path() / "runs" / "first-try";
  std::filesystem::create_directories(run);
  write_file_atomic(run / "events.jsonl",
                    "{\"kind\":\"start\",\"step\":0,\"total_steps\":400,\"unit\":\"tokens\"}\n"
                    "{\"kind\":\"step\",\"step\":10,\"step_s\":2.0,\"units_per_s\":1500.0}\n");
  // A stand-in for a rank, with its words: a shell that runs the script "train".
  write_file_atomic(folder_.path() / "train", "sleep 60; :\n");
  const pid_t rank = fork();
  if (rank == 0) {
    setpgid(0, 0);
    if (chdir(folder_.path().c_str()) == 0)
      execl("/bin/sh", "lockstep-worker", "train", "--run", run.c_str(),
            static_cast<char*>(nullptr));
    _exit(127);
  }
  json one = gpu(0);
  one["processes"] = json::array({{{"pid", rank}, {"memory", 4096}}});
  set(json::array({one}));
  OnTerminal tool = monitor({}, {.rows = 24, .columns = 140});
  EXPECT_TRUE(tool.waits_for("first-try 10/400 1.5k tok/s eta 13m")) << tool.sent();
  const testing::ToolResult json_line =
      testing::run_tool({"monitor", "--once", "--json"}, folder_.path(), environment_);
  EXPECT_NE(json_line.out.find("\"run\":{\"eta_s\":780.0,"), std::string::npos) << json_line.out;
  kill(-rank, SIGKILL);
  waitpid(rank, nullptr, 0);
}

}  // namespace
}  // namespace lockstep
