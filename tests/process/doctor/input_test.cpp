// What `lockstep doctor` makes of input that it cannot use, of a machine that does not answer, and
// of an end before it is done.
#include "checkout_paths.h"
#include "core/base/clock.h"
#include "doctor_process.h"

namespace lockstep::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class DoctorInput : public Doctor {
 protected:
  void TearDown() override {
    // Whatever it was given: no fault of its own.
    if (std::filesystem::exists(folder_.path() / "stderr.txt")) {
      EXPECT_THAT(read_file(folder_.path() / "stderr.txt"), Not(HasSubstr("please report")));
    }
  }
  // Waits until the tool has written so much, at most 5 s.
  void wait_for_output(std::size_t lines) const {
    const std::filesystem::path out = folder_.path() / "stdout.txt";
    for (int i = 0; i < 100; ++i) {
      if (std::filesystem::exists(out) && split(read_file(out), '\n').size() > lines) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }
  ToolResult shell(const std::string& line) {
    return ToolProcess({"sh", "-c", line}, folder_.path(), environment_).wait();
  }
  static std::string line_of(const std::vector<std::string>& words) {
    return testing::shell_line(words);
  }
};

TEST_F(DoctorInput, RefusesWhatCannotBe) {
  write_file_atomic(folder_.path() / "there.jsonl", "precious");
  Patient gone(user({}));
  const std::string pid = std::to_string(gone.pid());
  gone.end();
  const struct {
    std::vector<std::string> words;
    std::string error;
  } cases[] = {
      {{"0"}, "PID must be the number of a process, but is \"0\""},
      {{"99999999999"}, "PID must be the number of a process, but is \"99999999999\""},
      {{pid}, "PID: there is no process " + pid},
      {{"-1"}, "-1"},
      {{"abc"}, "abc"},
      {{""}, "PID must be the number of a process"},
      {{"--all", "1"}, "--all looks at every process"},
      {{"1", "2"}, "2"},
      {{"--duration", "0s"}, "--duration must be at least 1s, but is 0s"},
      {{"--interval", "0"}, "--interval must be at least 0.1s"},
      {{"--interval", "0.3s"}, "--interval 0.3s leaves less than 5 samples of --duration 1s"},
      {{"--record", "there.jsonl"}, "there.jsonl is there already"},
      {{"--record", "no/such/folder.jsonl"}, "no/such/folder.jsonl: No such file"},
      {{"--record", "a.jsonl", "--watch"}, "--record and --watch exclude each other"},
      {{"--replay", "there.jsonl", "--watch"}, "--replay goes with --json and --least only"},
      {{"--replay", "there.jsonl", "1"}, "--replay goes with --json and --least only"},
      {{"--replay", "none.jsonl"}, "none.jsonl: No such file"},
      {{"--replay", "there.jsonl"}, "there.jsonl is not a recording of lockstep"},
  };
  for (const auto& one : cases) {
    const ToolResult result = doctor(one.words);
    EXPECT_EQ(result.code, 2) << one.error;
    EXPECT_THAT(result.err, HasSubstr(one.error));
    EXPECT_EQ(result.out, "") << one.error;
  }
  EXPECT_EQ(read_file(folder_.path() / "there.jsonl"), "precious");
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "a.jsonl"));
}

TEST_F(DoctorInput, SaysThatThereIsNoGpuToLookAt) {
  environment_["LOCKSTEP_NVML"] = "/nonexistent/libnvidia-ml.so.1";
  ToolResult result = doctor({"--record", "none.jsonl"});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("there is no GPU to look at: LOCKSTEP_NVML: "));
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "none.jsonl"));
  environment_["LOCKSTEP_NVML"] = LOCKSTEP_BUILD_DIR "/tests/libfake-nvml.so";
  set(json::array());
  result = doctor({});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("there is no GPU to look at: "));
}

// In the call that hangs: one of a sample, and one before the first.
class DoctorHanging : public DoctorInput, public ::testing::WithParamInterface<const char*> {};

TEST_P(DoctorHanging, GivesUpOnADriverThatDoesNotAnswer) {
  json hanging = gpu(0);
  hanging["compute_mode"] = 0;
  hanging["slow_ms"] = {{GetParam(), 20000}};
  environment_["LOCKSTEP_DRIVER_TIMEOUT"] = "5s";
  set(json::array({hanging}));
  const double begin = system_clock().now_s();
  const ToolResult result = doctor({"--record", "kept.jsonl"});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("error: the NVIDIA driver does not answer\n\nhint: "));
  EXPECT_GE(system_clock().now_s() - begin, 4.5);
  EXPECT_LT(system_clock().now_s() - begin, 8);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "kept.jsonl"));
}

// It answers at first, and no more before the look is over.
TEST_F(DoctorInput, GivesUpOnADriverThatStopsAnsweringMeanwhile) {
  json hanging = gpu(0);
  hanging["calls"]["nvmlDeviceGetUtilizationRates"] =
      json::array({{{"from", 4}, {"slow_ms", 20000}}});
  set(json::array({hanging}));
  const ToolResult result = doctor({});
  EXPECT_EQ(result.code, 2) << result.out;
  EXPECT_THAT(result.err, HasSubstr("error: the NVIDIA driver does not answer"));
}

INSTANTIATE_TEST_SUITE_P(Calls, DoctorHanging,
                         ::testing::Values("nvmlDeviceGetUtilizationRates",
                                           "nvmlDeviceGetComputeMode"),
                         [](const auto& info) { return std::string(info.param); });

TEST_F(DoctorInput, SaysThatTheProcessEnded) {
  Patient patient(user({"libtorch_cuda.so"}));
  set({gpu(0, {patient.pid()}), gpu(1)});
  ToolProcess tool(command({std::to_string(patient.pid())}), folder_.path(), environment_);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const std::string pid = std::to_string(patient.pid());
  patient.end();
  const ToolResult result = tool.wait();
  EXPECT_EQ(result.code, 2) << result.out;
  EXPECT_THAT(result.err, HasSubstr("process " + pid + " ended while it was looked at"));
}

TEST_F(DoctorInput, LooksAtTheOthersWhereOneEnds) {
  Patient patient(user({"libtorch_cuda.so"})), other(user({"libtorch_cuda.so"}));
  set({gpu(0, {patient.pid(), other.pid()}), gpu(1)});
  ToolProcess tool(command({}), folder_.path(), environment_);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  patient.end();
  const ToolResult result = tool.wait();
  EXPECT_NE(result.code, 2) << result.err;
  EXPECT_THAT(result.out, HasSubstr(" (of another PID namespace, or ended)"));
  EXPECT_THAT(result.out, HasSubstr(cat("pid ", other.pid(), " (fake-gpu-user")));
}

TEST_F(DoctorInput, SaysThatTheDiskIsFull) {
  const ToolResult told = shell(line_of(command({})) + " > /dev/full");
  EXPECT_EQ(told.code, 2);
  EXPECT_THAT(told.err, HasSubstr("standard output: No space left on device"));
  // No file may grow beyond 512 bytes, except standard output, which is a pipe.
  Patient one(user({"libtorch_cuda.so"}));
  set({gpu(0, {one.pid()}), gpu(1)});
  const ToolResult kept =
      shell("trap '' XFSZ; { ulimit -f 1; " +
            line_of(command({std::to_string(one.pid()), "--record", "full.jsonl"})) + "; } | cat");
  EXPECT_THAT(kept.err, HasSubstr("error: full.jsonl: File too large"));
  EXPECT_THAT(kept.out, HasSubstr("one-of-several"));  // and still says what it found
}

TEST_F(DoctorInput, EndsWhereNobodyReadsIt) {
  const double begin = system_clock().now_s();
  const ToolResult result = shell("timeout 8 " + line_of(command({"--watch", "--json"})) +
                                  " | head -c 1; echo ended >&2");
  EXPECT_EQ(result.out, "{");
  EXPECT_EQ(result.err, "ended\n");
  EXPECT_LT(system_clock().now_s() - begin, 6);
}

TEST_F(DoctorInput, EndsOnAnInterrupt) {
  ToolProcess one(command({"--record", "cut.jsonl"}, "60s"), folder_.path(), environment_);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  double begin = system_clock().now_s();
  kill(one.pid(), SIGINT);
  const ToolResult stopped = one.wait();
  EXPECT_EQ(stopped.code, 130);  // nothing was found, and nothing was not found
  EXPECT_EQ(stopped.out, "");
  EXPECT_LT(system_clock().now_s() - begin, 3);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "cut.jsonl"));
}

TEST_F(DoctorInput, WatchesUntilItIsInterrupted) {
  Patient one(user({"libtorch_cuda.so"}));
  set({gpu(0, {one.pid()}), gpu(1)});
  ToolProcess tool(command({"--watch", "--json", std::to_string(one.pid())}), folder_.path(),
                   environment_);
  wait_for_output(2);
  kill(tool.pid(), SIGTERM);
  const ToolResult result = tool.wait();
  EXPECT_EQ(result.code, 1);  // as the last look found
  std::vector<std::string> lines = split(result.out, '\n');
  ASSERT_GE(lines.size(), 3u);
  lines.pop_back();
  for (const std::string& line : lines)
    EXPECT_EQ(json::parse(line)["findings"][0]["rule"], "one-of-several");
}

}  // namespace
}  // namespace lockstep::testing
