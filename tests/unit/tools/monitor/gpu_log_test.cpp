#include "tools/monitor/gpu/gpu_log.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "fakes/error_of.h"
#include "fakes/fake_reader.h"
#include "fakes/nvml_in_process.h"

namespace lockstep {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string head =
    "time,gpu,uuid,busy_percent,sm_active_percent,memory_busy_percent,dram_active_percent,memory_"
    "used_bytes,"
    "memory_total_bytes,power_w,power_limit_w,temperature_c,sm_clock_mhz,memory_clock_mhz,"
    "throttled_by,other_processes,other_memory_bytes";

std::vector<std::string> lines_of(const std::filesystem::path& file) {
  std::vector<std::string> lines = split(read_file(file), '\n');
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

GpuInfo info(int index) { return {.index = index, .uuid = cat("GPU-", index), .name = "A GPU"}; }
Device device(int index) {
  return {.kind = DeviceKind::cuda, .index = index, .uuid = cat("GPU-", index)};
}

const IsOwnProcess only_7 = [](int pid) { return std::optional(pid == 7); };

TEST(GpuLogLines, SayWhatWasMeasuredAndNothingElse) {
  MonitorSample sample{.wall_s = 1700000000.25};
  sample.gpus.resize(2);
  GpuSample& gpu = sample.gpus[0];
  gpu[GpuMetric::gpu_busy] = measured(97);
  gpu[GpuMetric::sm_active] = unsupported();
  gpu[GpuMetric::dram_active] = measured(0);
  gpu[GpuMetric::memory_used] = measured(1 << 20);
  gpu[GpuMetric::power] = measured(65.04);
  gpu[GpuMetric::clock_limits] = measured(4 + 0x40);
  gpu.processes_known = true;
  gpu.processes = {{.pid = 7, .memory_bytes = 100},
                   {.pid = 8, .memory_bytes = 30},
                   {.pid = 9, .memory_bytes = 4}};
  EXPECT_EQ(gpu_log_head(), head);
  EXPECT_EQ(gpu_log_lines({info(0), info(3)}, sample, only_7),
            "1700000000.250,0,GPU-0,97,,,0.0,1048576,,65.0,,,,,power; heat (hardware),2,34\n"
            "1700000000.250,3,GPU-3,,,,,,,,,,,,,,\n");
}

TEST(GpuLogLines, NoThrottlingIsAnAnswerAndUnknownMemoryIsNone) {
  MonitorSample sample;
  sample.gpus.resize(1);
  sample.gpus[0][GpuMetric::clock_limits] = measured(1);
  sample.gpus[0].processes_known = true;
  EXPECT_THAT(gpu_log_lines({info(0)}, sample, only_7), ::testing::EndsWith(",none,0,0\n"));
  sample.gpus[0].processes = {{.pid = 8}};
  EXPECT_THAT(gpu_log_lines({info(0)}, sample, only_7), ::testing::EndsWith(",none,1,\n"));
  EXPECT_THAT(gpu_log_lines({info(0)}, sample, [](int) { return std::optional<bool>(); }),
              ::testing::EndsWith(",none,,\n"))
      << "in a container, where numbers of processes tell nothing";
}

class GpuLogFiles : public ::testing::Test {
 protected:
  std::filesystem::path path() const { return folder_.path() / "gpu.csv"; }
  TemporaryDirectory folder_;
};

TEST_F(GpuLogFiles, HasOneHeadHoweverOftenARunGoesOn) {
  for (int start = 0; start < 3; ++start) {
    GpuLogFile file(path(), 1);
    EXPECT_TRUE(file.append(cat(start, ",a\n", start, ",b\n")));
    std::ofstream(path(), std::ios::app) << "torn";
  }
  GpuLogFile file(path(), 1);
  EXPECT_THAT(lines_of(path()), ElementsAre(head, "0,a", "0,b", "1,a", "1,b", "2,a", "2,b"));
}

TEST_F(GpuLogFiles, LeavesOtherColumnsAlone) {
  std::ofstream(path()) << "time,other\n1,2\n";
  EXPECT_THAT(error_of([&] { GpuLogFile file(path(), 1); }), HasSubstr("has other columns"));
  EXPECT_EQ(read_file(path()), "time,other\n1,2\n");
}

TEST_F(GpuLogFiles, IsBoundedAndKeepsTheWholeRun) {
  constexpr std::uint64_t limit = 4000;
  GpuLogFile file(path(), 1, limit);
  for (int i = 0; i < 20000; ++i) {
    ASSERT_TRUE(file.append(cat(i, ",0,x\n", i, ",1,x\n")));
    ASSERT_LE(std::filesystem::file_size(path()), limit);
  }
  const std::vector<std::string> lines = lines_of(path());
  EXPECT_EQ(lines[0], head);
  EXPECT_EQ(lines[1], "0,0,x");
  EXPECT_EQ(lines[2], "0,1,x");
  // Equally spaced from the first to the newest.
  const int apart = std::stoi(lines[3]);
  EXPECT_GT(lines.size(), 80u);
  for (std::size_t i = 1; i < lines.size(); ++i)
    ASSERT_EQ(std::stoi(lines[i]), apart * static_cast<int>((i - 1) / 2)) << lines[i];
  EXPECT_GT(std::stoi(lines.back()), 20000 - 2 * apart);
}

TEST_F(GpuLogFiles, GoesOnAsSparselyAsItWas) {
  constexpr std::uint64_t limit = 4000;
  int time = 0;
  for (int start = 0; start < 40; ++start) {
    GpuLogFile file(path(), 1, limit);
    for (int i = 0; i < 500; ++i, ++time)
      ASSERT_TRUE(file.append(cat(time, ",0,x\n", time, ",1,x\n")));
    time += 1000;  // until the next start
  }
  const std::vector<std::string> lines = lines_of(path());
  EXPECT_GT(lines.size(), 80u);
  // The early starts are as well to be seen as the late ones.
  std::size_t early = 0;
  for (std::size_t i = 1; i < lines.size(); ++i) early += std::stoi(lines[i]) < time / 2 ? 1 : 0;
  EXPECT_GT(early, lines.size() / 4);
}

struct Waiting {
  template <class Condition>
  static void until(Condition condition) {
    for (int i = 0; i < 500 && !condition(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
};

class GpuLogs : public GpuLogFiles {
 protected:
  GpuLogs() {
    for (const int index : {0, 1, 2}) {
      reader_->present.push_back(info(index));
      GpuSample sample;
      sample[GpuMetric::gpu_busy] = measured(index == 1 ? 2 : 90 + index);
      reader_->samples.push_back(sample);
    }
  }
  GpuLogSpec spec(std::vector<Device> devices) {
    return {.file = path(), .devices = std::move(devices), .every_s = 0.1, .make_reader = [this] {
              return reader_;
            }};
  }
  bool has_lines(std::size_t count) const {
    return std::filesystem::exists(path()) && lines_of(path()).size() >= count;
  }
  std::shared_ptr<FakeReader> reader_ = std::make_shared<FakeReader>();
};

TEST_F(GpuLogs, WritesTheGpusOfTheRunAndTheirMeanActivity) {
  GpuLog log(spec({device(2), device(1)}));
  log.begin_counting();
  Waiting::until([&] { return has_lines(9); });
  const GpuLogResult result = log.stop();
  EXPECT_EQ(result.fault, "");
  ASSERT_EQ(result.gpus.size(), 2u);
  EXPECT_EQ(result.gpus[0].index, 2);
  EXPECT_EQ(result.gpus[0].busy_percent, 92);
  EXPECT_EQ(result.gpus[0].sm_percent, std::nullopt);
  EXPECT_EQ(result.gpus[1].busy_percent, 2);
  const std::vector<std::string> lines = lines_of(path());
  EXPECT_EQ(lines[0], head);
  EXPECT_THAT(lines[1], HasSubstr(",2,GPU-2,92,"));
  EXPECT_THAT(lines[2], HasSubstr(",1,GPU-1,2,"));
  EXPECT_EQ(gpu_activity_text(result, "gpu.csv"),
            "mean activity: GPU 2 busy 92 %, GPU 1 busy 2 %; over time in gpu.csv\n"
            "warning: GPU 1 was idle for most of the run: lockstep doctor says why, while it runs");
}

TEST_F(GpuLogs, SumsTellTheActivityOfAPartOfTheTime) {
  GpuLog log(spec({device(1)}));
  // The GPUs may be known already, but nothing counts yet.
  for (const GpuActivity& gpu : activity_between({}, log.sums()))
    EXPECT_EQ(gpu.busy_percent, std::nullopt);
  log.begin_counting();
  const auto samples = [&] { return log.sums().empty() ? 0 : log.sums()[0].busy_samples; };
  Waiting::until([&] { return samples() >= 2; });
  const std::vector<GpuActivitySum> before = log.sums();
  Waiting::until([&] { return samples() >= before[0].busy_samples + 2; });
  const std::vector<GpuActivity> activity = activity_between(before, log.sums());
  ASSERT_EQ(activity.size(), 1u);
  EXPECT_EQ(activity[0].index, 1);
  EXPECT_EQ(activity[0].busy_percent, 2);
  EXPECT_EQ(activity[0].sm_percent, std::nullopt);
  EXPECT_GE(activity[0].samples, 2);
  EXPECT_EQ(activity_between(before, before)[0].busy_percent, std::nullopt);
}

TEST_F(GpuLogs, TheStartDoesNotCount) {
  GpuLog log(spec({device(0)}));
  Waiting::until([&] { return has_lines(3); });
  EXPECT_EQ(gpu_activity_text(log.stop(), "gpu.csv"), "");
}

TEST_F(GpuLogs, AMachineThatDoesNotTellWritesNothing) {
  reader_->present.clear();
  reader_->absent = "libnvidia-ml.so.1 is not there";
  GpuLog log(spec({device(0)}));
  const GpuLogResult result = log.stop();
  EXPECT_FALSE(std::filesystem::exists(path()));
  EXPECT_EQ(gpu_activity_text(result, "gpu.csv"),
            "note: gpu.csv is not complete: libnvidia-ml.so.1 is not there");
}

TEST_F(GpuLogs, AFileThatCannotBeWrittenCostsTheFileAlone) {
  GpuLogSpec bad = spec({device(0)});
  bad.file = folder_.path() / "no/where.csv";
  GpuLog log(std::move(bad));
  log.begin_counting();
  std::this_thread::sleep_for(std::chrono::milliseconds(450));
  const GpuLogResult result = log.stop();
  EXPECT_THAT(result.fault, HasSubstr("no/where.csv: No such file"));
  EXPECT_EQ(result.gpus.at(0).busy_percent, 90);
}

TEST_F(GpuLogs, ADriverThatHangsHoldsNobodyUp) {
  // Shared with the thread, which outlives this test.
  const auto reader = reader_;
  reader->on_read = [] { std::this_thread::sleep_for(std::chrono::seconds(6)); };
  const auto begun = std::chrono::steady_clock::now();
  {
    GpuLog log(spec({device(0)}));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    EXPECT_EQ(log.stop().fault, "the driver does not answer");
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(5));
}

TEST_F(GpuLogs, ADriverThatFailsIsAnEmptyCell) {
  testing::NvmlInProcess nvml;
  nvml.use(
      {{"gpus", json::array({{{"uuid", "GPU-0"},
                              {"name", "Tesla T4"},
                              {"bus", 1},
                              {"utilization", 40},
                              {"memory_utilization", 15},
                              {"memory", 1 << 30},
                              {"used", 1 << 20},
                              {"power", 65000},
                              {"reasons", 4},
                              {"answers", {{"nvmlDeviceGetTemperature", 999}}},
                              {"processes", json::array({{{"pid", getpid()}, {"memory", 5}},
                                                         {{"pid", 1}, {"memory", 4096}}})}}})}});
  GpuLogSpec real = spec({device(0)});
  real.make_reader = [] { return std::shared_ptr<GpuReader>(make_nvml_reader()); };
  GpuLog log(std::move(real));
  Waiting::until([&] { return has_lines(3); });
  EXPECT_EQ(log.stop().fault, "");
  EXPECT_THAT(lines_of(path()).at(2),
              HasSubstr("0,GPU-0,40,,15,,1048576,1073741824,65.0,,,,,power,1,4096"));
}

TEST(GpuActivityText, NamesAllThatIdle) {
  GpuLogResult result{.gpus = {{.index = 0, .busy_percent = 96, .sm_percent = 71, .samples = 9},
                               {.index = 1, .samples = 9},
                               {.index = 2, .busy_percent = 0, .sm_percent = 0, .samples = 9},
                               {.index = 3, .busy_percent = 1, .samples = 9}}};
  EXPECT_EQ(gpu_activity_text(result, "a/gpu.csv"),
            "mean activity: GPU 0 busy 96 % (SMs 71 %), GPU 1 does not tell, GPU 2 busy 0 % (SMs "
            "0 %), GPU 3 busy 1 %; over time in a/gpu.csv\n"
            "warning: GPU 2 and GPU 3 were idle for most of the run: lockstep doctor says why, "
            "while it runs");
  result.gpus = {{.index = 0, .busy_percent = 0, .samples = 2}};
  EXPECT_EQ(gpu_activity_text(result, "g"), "mean activity: GPU 0 busy 0 %; over time in g")
      << "two samples are no evidence";
}

}  // namespace
}  // namespace lockstep
