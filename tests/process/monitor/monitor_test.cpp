// `lockstep monitor` over a fake NVML.
#include <gtest/gtest.h>
#include <signal.h>

#include <array>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "core/base/clock.h"
#include "core/base/text/text.h"
#include "fakes/nvml_machine.h"
#include "fakes/tool.h"

namespace lockstep {
namespace {

using nlohmann::json;
using testing::ToolProcess;
using testing::ToolResult;

class Monitor : public ::testing::Test, public testing::NvmlMachine {
 protected:
  Monitor() { set({gpu(0), gpu(1)}); }
  ToolResult monitor(std::vector<std::string> words) {
    words.insert(words.begin(), "monitor");
    return testing::run_tool(words, folder_.path(), environment_);
  }
  std::vector<std::string> command(std::vector<std::string> words) {
    words.insert(words.begin(), {testing::program("lockstep"), "monitor"});
    return words;
  }
};

TEST_F(Monitor, TakesOneSampleWithActivity) {
  const ToolResult result = monitor({"--once", "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  const json sample = json::parse(result.out);  // one line
  ASSERT_EQ(sample["gpus"].size(), 2u);
  const json& metrics = sample["gpus"][1]["metrics"];
  EXPECT_EQ(metrics["gpu_busy"]["value"], 51.0);
  EXPECT_EQ(metrics["sm_active"]["value"], 30.0);
  EXPECT_EQ(metrics["sm_active"]["source"], "GPM");
  EXPECT_GE(metrics["sm_active"]["period_s"], 0.1);
  EXPECT_EQ(metrics["power"]["state"], "unsupported");
  const json& process = sample["gpus"][0]["processes"][0];
  EXPECT_EQ(process["pid"], getpid());
  EXPECT_NE(process["command"].get<std::string>().find("process-monitor"), std::string::npos);
  EXPECT_TRUE(process["sm_percent"].is_null());
  EXPECT_GT(sample["self_call_us"], 0);
}

TEST_F(Monitor, ShowsATable) {
  const ToolResult result = monitor({"--once", "--devices", "GPU-01"});
  ASSERT_EQ(result.code, 0) << result.err;
  const std::vector<std::string> lines = split(result.out, '\n');
  EXPECT_NE(lines[0].find("SM %"), std::string::npos) << result.out;
  EXPECT_EQ(trim(lines[1]).substr(0, 1), "1") << result.out;
  EXPECT_NE(lines[1].find("n/a"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("process-monitor"), std::string::npos) << result.out;
}

TEST_F(Monitor, WritesCsvAtItsIntervalForItsTime) {
  const double begin = system_clock().now_s();
  const ToolResult result =
      monitor({"--csv", "out.csv", "--interval", "0.2s", "--duration", "1s", "--devices", "1,0"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_GE(system_clock().now_s() - begin, 0.95);
  const std::vector<std::string> lines = split(read_file(folder_.path() / "out.csv"), '\n');
  EXPECT_TRUE(lines[0].starts_with("time,gpu,uuid,name,sm_active_percent,")) << lines[0];
  EXPECT_NE(lines[1].find(",1,GPU-01,NVIDIA H200,,,,51,"), std::string::npos) << lines[1];
  EXPECT_NE(lines[3].find(",1,GPU-01,NVIDIA H200,30,10,20,51,"), std::string::npos) << lines[3];
  EXPECT_GE(lines.size(), 1 + 2 * 3U);      // at least three samples
  EXPECT_LE(lines.size(), 1 + 2 * 6U + 1);  // and no more than the time has room for
  EXPECT_NE(result.err.find("busy % mean"), std::string::npos) << "the summary: " << result.err;
}

TEST_F(Monitor, RefusesWhatCannotBe) {
  write_file_atomic(folder_.path() / "there.csv", "precious");
  const struct {
    std::vector<std::string> words;
    const char* error;
  } cases[] = {
      {{"--interval", "0"}, "--interval must be at least 0.1s, but is 0"},
      {{"--interval", "soon"}, "--interval: "},
      {{"--duration", "0s"}, "--duration must be at least 0.1s"},
      {{"--devices", "7"}, "--devices: there is no GPU \"7\""},
      {{"--devices", "GPU-0"}, "--devices: there is no GPU \"GPU-0\""},
      {{"--devices", "0,0"}, "--devices names GPU 0 twice"},
      {{"--devices", "1,0,1"}, "--devices names GPU 1 twice"},
      {{"--json", "--csv", "-"}, "--json and --csv exclude each other"},
      {{"--json", "--table"}, "--table does not go with --json or --csv"},
      {{"--once", "--duration", "1s"}, "--once and --duration exclude each other"},
      {{"--csv", "there.csv"}, "there.csv is there already"},
      {{"--csv", "no/such/folder.csv"}, "no/such/folder.csv: No such file"},
  };
  for (const auto& one : cases) {
    const ToolResult result = monitor(one.words);
    EXPECT_EQ(result.code, 2) << one.error;
    EXPECT_NE(result.err.find(one.error), std::string::npos) << result.err;
  }
  EXPECT_EQ(read_file(folder_.path() / "there.csv"), "precious");
  EXPECT_EQ(monitor({"--csv", "there.csv", "--force", "--once"}).code, 0);
  EXPECT_TRUE(read_file(folder_.path() / "there.csv").starts_with("time,gpu,uuid"));
}

TEST_F(Monitor, RunsAProgramWithoutDashesBeforeIt) {
  const ToolResult result =
      monitor({"--interval", "0.2s", "sh", "-c", "echo $*; exit 5", "sh", "--once", "--json"});
  EXPECT_EQ(result.code, 5) << result.err;
  EXPECT_EQ(result.out, "--once --json\n");
  const ToolResult number = monitor({"1234"});
  EXPECT_EQ(number.code, 2);
  EXPECT_NE(number.err.find("--pid 1234"), std::string::npos) << number.err;
}

TEST_F(Monitor, RecordsToStandardOutput) {
  const ToolResult result = monitor({"--record", "-", "--interval", "0.1s", "--duration", "0.5s"});
  EXPECT_EQ(result.code, 0) << result.err;
  for (const std::string& line : split(trim(result.out), '\n'))
    EXPECT_TRUE(json::accept(line)) << line;
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "-"));
  EXPECT_EQ(monitor({"--record", "/dev/stdout", "--json"}).code, 2);
  EXPECT_EQ(monitor({"--record", "-", "true"}).code, 2);
}

TEST_F(Monitor, SaysThatThereIsNoGpu) {
  environment_["LOCKSTEP_NVML"] = "/nonexistent/libnvidia-ml.so.1";
  const ToolResult result = monitor({"--once"});
  EXPECT_EQ(result.code, 2);
  EXPECT_NE(result.err.find("there is no GPU to watch: LOCKSTEP_NVML: "), std::string::npos)
      << result.err;
}

TEST_F(Monitor, RunsACommandAndSumsUpWhatTheGpusDid) {
  const ToolResult result = monitor({"--interval", "0.2s", "--csv", "out.csv", "--", "sh", "-c",
                                     "echo from the command; sleep 1; exit 5"});
  EXPECT_EQ(result.code, 5);
  EXPECT_EQ(result.out, "from the command\n");
  EXPECT_NE(result.err.find(" samples in "), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("SM % mean"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("  0       30.0    30         50.0"), std::string::npos) << result.err;
  EXPECT_GE(split(read_file(folder_.path() / "out.csv"), '\n').size(), 1 + 2 * 3U);
}

TEST_F(Monitor, TellsNoSecretOfACommand) {
  const testing::ToolProcess other(
      {"sh", "-c", "sleep 20; :", "x", "--token", "first second", "--name=a b"}, folder_.path());
  json gpus = json::array({gpu(0)});
  gpus[0]["processes"] = json::array({{{"pid", other.pid()}, {"memory", 1}}});
  set(gpus);
  const ToolResult made =
      monitor({"--json", "--interval", "0.2s", "--duration", "0.5s", "--record", "r.jsonl"});
  ASSERT_EQ(made.code, 0) << made.err;
  const std::string text = read_file(folder_.path() / "r.jsonl");
  const ToolResult table = monitor({"--once"});
  for (const std::string& told : {text, made.out, table.out}) {
    EXPECT_NE(told.find("--name=a b"), std::string::npos) << told;
    EXPECT_EQ(told.find("second"), std::string::npos) << told;
  }
}

TEST_F(Monitor, ReplaysWhatItRecorded) {
  const ToolResult made =
      monitor({"--json", "--interval", "0.2s", "--duration", "1s", "--record", "r.jsonl"});
  ASSERT_EQ(made.code, 0) << made.err;
  environment_["LOCKSTEP_NVML"] = "/nonexistent/libnvidia-ml.so.1";  // a machine without GPUs
  const double begin = system_clock().now_s();
  const ToolResult again = monitor({"--replay", "r.jsonl", "--json", "--speed", "100"});
  EXPECT_LT(system_clock().now_s() - begin, 0.8);
  ASSERT_EQ(again.code, 0) << again.err;
  const std::vector<std::string> before = split(made.out, '\n'), after = split(again.out, '\n');
  ASSERT_EQ(before.size(), after.size());
  ASSERT_GE(before.size(), 4u);
  for (std::size_t i = 0; i + 1 < before.size(); ++i) {
    const json a = json::parse(before[i]), b = json::parse(after[i]);
    EXPECT_EQ(a["time"], b["time"]);
    for (const auto& [name, metric] : a["gpus"][1]["metrics"].items()) {
      EXPECT_EQ(metric["state"], b["gpus"][1]["metrics"][name]["state"]) << name;
      EXPECT_EQ(metric.value("value", 0.0), b["gpus"][1]["metrics"][name].value("value", 0.0))
          << name;
    }
    EXPECT_EQ(a["gpus"][0]["processes"][0]["command"], b["gpus"][0]["processes"][0]["command"]);
  }
  const ToolResult one =
      monitor({"--replay", "r.jsonl", "--devices", "1", "--csv", "-", "--speed", "100"});
  EXPECT_EQ(one.code, 0);
  EXPECT_EQ(one.out.find("GPU-00"), std::string::npos);
  EXPECT_NE(one.out.find(",1,GPU-01,NVIDIA H200,"), std::string::npos) << one.out;
  const ToolResult paced = monitor({"--replay", "r.jsonl", "--table", "--speed", "2"});
  EXPECT_EQ(paced.code, 0);
  EXPECT_NE(paced.out.find("process-monitor"), std::string::npos) << paced.out;
}

TEST_F(Monitor, RefusesRecordingsThatCannotBe) {
  write_file_atomic(folder_.path() / "there.jsonl", "precious");
  const struct {
    std::vector<std::string> words;
    const char* error;
  } cases[] = {
      {{"--record", "there.jsonl"}, "there.jsonl is there already"},
      {{"--record", "no/such/r.jsonl"}, "no/such/r.jsonl: No such file"},
      {{"--replay", "there.jsonl"}, "there.jsonl is not a recording"},
      {{"--replay", "absent.jsonl"}, "absent.jsonl: No such file"},
      {{"--replay", "there.jsonl", "--once"}, "--replay does not go with --once"},
      {{"--replay", "there.jsonl", "--speed", "0"}, "--speed must be a number above 0"},
      {{"--speed", "2"}, "--speed is for --replay"},
  };
  for (const auto& one : cases) {
    const ToolResult result = monitor(one.words);
    EXPECT_EQ(result.code, 2) << one.error;
    EXPECT_NE(result.err.find(one.error), std::string::npos) << result.err;
  }
  EXPECT_EQ(read_file(folder_.path() / "there.jsonl"), "precious");
}

TEST_F(Monitor, KeepsWhatItRecordedWhereTheDiskIsFull) {
  ToolProcess tool(
      {"sh", "-c",
       "trap '' XFSZ; ulimit -f 40; " + testing::program_in_shell("lockstep") +
           " monitor --interval 0.1s --duration 20s --record r.jsonl >/dev/null; echo code $?"},
      folder_.path(), environment_);
  const ToolResult result = tool.wait();
  EXPECT_NE(result.out.find("code 1"), std::string::npos) << result.out;
  EXPECT_NE(result.err.find("error: r.jsonl: File too large; what was written before is kept"),
            std::string::npos)
      << result.err;
  const ToolResult again = monitor({"--replay", "r.jsonl", "--json", "--speed", "1000"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_NE(again.out.find("\"sm_active\""), std::string::npos);
}

TEST_F(Monitor, GoesOnWithItsCommandWhereTheSamplesCannotBeKept) {
  const std::string limited = testing::program_in_shell("lockstep") +
                              " monitor --interval 0.1s --csv out.csv -- sleep 2; echo $?";
  // No file may grow beyond 1,024 bytes.
  ToolProcess tool({"sh", "-c", "trap '' XFSZ; ulimit -f 2; " + limited}, folder_.path(),
                   environment_);
  const ToolResult result = tool.wait();
  EXPECT_EQ(result.out, "0\n");
  EXPECT_NE(result.err.find("error: out.csv: File too large; what was written before is kept"),
            std::string::npos)
      << result.err;
  EXPECT_NE(result.err.find(" samples in "), std::string::npos) << result.err;
}

TEST_F(Monitor, PassesATerminationOnToItsCommand) {
  ToolProcess tool(
      command({"--", "sh", "-c", "trap 'exit 9' TERM; sleep 0.1; while :; do sleep 0.1; done"}),
      folder_.path(), environment_);
  std::this_thread::sleep_for(std::chrono::seconds(1));
  kill(tool.pid(), SIGTERM);
  EXPECT_EQ(tool.wait().code, 9);
}

TEST_F(Monitor, RefusesWhatDoesNotGoWithACommand) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"--once"}, {"--duration", "1s"}, {"--json"}, {"--csv", "-"}}) {
    std::vector<std::string> all = words;
    all.insert(all.end(), {"--", "touch", "started"});
    EXPECT_EQ(monitor(all).code, 2) << words[0];
  }
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "started"));
  const ToolResult none = monitor({"--", "no-such-program-here"});
  EXPECT_EQ(none.code, 2);
  EXPECT_NE(none.err.find("cannot start \"no-such-program-here\""), std::string::npos) << none.err;
}

TEST_F(Monitor, FollowsAProcessAndItsChildrenUntilItEnds) {
  ToolProcess other({"sh", "-c", "sleep 2; :"}, folder_.path());
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const std::vector<pid_t> children = testing::children_of(other.pid());
  ASSERT_EQ(children.size(), 1U);
  json one = gpu(0);
  one["processes"] = json::array({{{"pid", getpid()}}, {{"pid", children[0]}}});
  set(json::array({one}));
  TemporaryDirectory folder;
  ToolProcess tool(command({"--json", "--interval", "0.2s", "--pid", std::to_string(other.pid())}),
                   folder.path(), environment_);
  other.wait();
  const ToolResult result = tool.wait();
  EXPECT_EQ(result.code, 0) << result.err;
  const json first = json::parse(split(result.out, '\n')[0]);
  ASSERT_EQ(first["gpus"][0]["processes"].size(), 1U);
  EXPECT_EQ(first["gpus"][0]["processes"][0]["pid"], children[0]);
  const ToolResult gone = monitor({"--pid", std::to_string(other.pid())});
  EXPECT_EQ(gone.code, 2);
  EXPECT_NE(gone.err.find("--pid: there is no process "), std::string::npos) << gone.err;
  EXPECT_EQ(monitor({"--pid", "x"}).code, 2);
}

TEST_F(Monitor, EndsOnAnInterrupt) {
  ToolProcess tool(command({"--json", "--interval", "10s"}), folder_.path(), environment_);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  kill(tool.pid(), SIGINT);
  const double begin = system_clock().now_s();
  const ToolResult result = tool.wait();
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_LT(system_clock().now_s() - begin, 3);
  EXPECT_EQ(json::parse(result.out)["gpus"].size(), 2u);
}

TEST_F(Monitor, EndsWhereNobodyReadsIt) {
  std::array<int, 2> pipe_ends{};
  ASSERT_EQ(pipe(pipe_ends.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(pipe_ends[1], 1);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
    for (const auto& [name, value] : environment_) setenv(name.c_str(), value.c_str(), 1);
    execl(testing::program("lockstep").c_str(), "lockstep", "monitor", "--json", "--interval",
          "0.1s", static_cast<char*>(nullptr));
    _exit(127);
  }
  close(pipe_ends[1]);
  char byte = 0;
  ASSERT_EQ(read(pipe_ends[0], &byte, 1), 1);
  close(pipe_ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST_F(Monitor, SaysThatTheDiskIsFull) {
  const ToolResult device = monitor({"--csv", "/dev/full", "--duration", "1s"});
  EXPECT_EQ(device.code, 1);
  EXPECT_NE(device.err.find("/dev/full: No space left on device"), std::string::npos) << device.err;
  ToolProcess tool(
      {"/bin/sh", "-c", testing::program_in_shell("lockstep") + " monitor --json >/dev/full"},
      folder_.path(), environment_);
  const ToolResult full = tool.wait();
  EXPECT_EQ(full.code, 1);
  EXPECT_EQ(full.err.find("please report"), std::string::npos) << full.err;
  EXPECT_NE(full.err.find("standard output: No space left on device"), std::string::npos)
      << full.err;
}

TEST_F(Monitor, LeavesNoFileWhereNothingStarts) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"--csv", "a", "--", "/no/such/program"},
                                             {"--record", "a", "--", "/no/such/program"},
                                             {"--record", "a", "--csv", "no/such/folder.csv"},
                                             {"--record", "a", "--serve", "192.0.2.1:1"}}) {
    const ToolResult result = monitor(words);
    EXPECT_NE(result.code, 0);
    EXPECT_NE(result.err.find("error: "), std::string::npos) << result.err;
    EXPECT_FALSE(std::filesystem::exists(folder_.path() / "a")) << join(words, " ");
  }
}

// Drivers that wake each GPU first.
TEST_F(Monitor, WaitsForADriverThatStartsSlowly) {
  json slow = gpu(0);
  slow["calls"]["nvmlDeviceGetName"] = json::array({{{"from", 1}, {"to", 1}, {"slow_ms", 6000}}});
  set(json::array({slow}));
  const ToolResult result = monitor({"--once"});
  EXPECT_EQ(result.code, 0);
  EXPECT_NE(result.err.find("the NVIDIA driver has not answered for 5 s; waiting"),
            std::string::npos)
      << result.err;
  environment_["LOCKSTEP_DRIVER_TIMEOUT"] = "soon";
  EXPECT_NE(monitor({"--once"}).err.find("error: LOCKSTEP_DRIVER_TIMEOUT: "), std::string::npos);
}

// In a call before the first sample, and in one of it.
TEST_F(Monitor, EndsWithinSecondsWhereTheDriverNeverAnswers) {
  environment_["LOCKSTEP_DRIVER_TIMEOUT"] = "2s";
  for (const char* function : {"nvmlDeviceGetName", "nvmlDeviceGetUtilizationRates"}) {
    json hanging = gpu(0);
    hanging["slow_ms"] = {{function, 20000}};
    set(json::array({hanging}));
    for (const std::vector<std::string>& words :
         std::vector<std::vector<std::string>>{{"--once"}, {"--json", "--duration", "1s"}}) {
      const double begin = system_clock().now_s();
      const ToolResult result = monitor(words);
      EXPECT_EQ(result.code, 1) << function;
      EXPECT_NE(result.err.find("the NVIDIA driver"), std::string::npos) << result.err;
      EXPECT_EQ(result.out, "");
      EXPECT_LT(system_clock().now_s() - begin, 9);
    }
  }
}

TEST_F(Monitor, IsNotHeldUpByADriverThatHangs) {
  json hanging = gpu(0);
  hanging["slow_ms"] = {{"nvmlDeviceGetUtilizationRates", 600000}};
  set(json::array({hanging}));
  ToolProcess tool(command({"--json"}), folder_.path(), environment_);
  const double begin = system_clock().now_s();
  const auto said = [&] {
    return std::filesystem::exists(folder_.path() / "stderr.txt") ? tool.err() : "";
  };
  while (said().find("has not answered for 5 s") == std::string::npos &&
         system_clock().now_s() - begin < 20)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_NE(tool.err().find("the NVIDIA driver has not answered for 5 s; waiting"),
            std::string::npos)
      << tool.err();
  kill(tool.pid(), SIGTERM);
  const double stopped = system_clock().now_s();
  EXPECT_EQ(tool.wait().code, 0);
  EXPECT_LT(system_clock().now_s() - stopped, 3);
}

}  // namespace
}  // namespace lockstep
