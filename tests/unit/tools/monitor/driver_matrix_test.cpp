// make_nvml_reader() over drivers from 340 to 580, and over GPUs of which the script says what
// becomes.
#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <set>

#include "core/base/text/text.h"
#include "fakes/fake_clock.h"
#include "fakes/gpu_models.h"
#include "fakes/nvml_in_process.h"
#include "fakes/nvml_recorder.h"
#include "fakes/nvml_script.h"
#include "tools/monitor/gpu/gpu_reader.h"
#include "tools/monitor/sample_text.h"
#include "tools/monitor/serve/prometheus.h"

namespace lockstep {
namespace {

using nlohmann::json;
using testing::a100;
using testing::h100;
using testing::h200;
using testing::NvmlInProcess;
using testing::NvmlRecorder;
using testing::NvmlScript;
using testing::split_by_mig;
using testing::t4;

json machine(json gpus) { return {{"gpus", std::move(gpus)}}; }

class Scripted : public ::testing::Test {
 protected:
  GpuReader& open(const json& machine, int driver = NvmlInProcess::newest_driver) {
    nvml_.use(machine, driver);
    clock_.wall = static_cast<double>(time(nullptr));
    reader_ = make_nvml_reader(clock_);
    return *reader_;
  }
  // Of GPU `position`, at this time of the script and of the clock.
  GpuSample at(double seconds, std::size_t position = 0) {
    nvml_.at(seconds);
    clock_.now = 100 + seconds;
    return reader_->read(position);
  }

  NvmlInProcess nvml_;
  FakeClock clock_;
  std::unique_ptr<GpuReader> reader_;
};

struct Model {
  const char* name;
  json (*facts)(int);
  bool nvlink, gpm;
};
constexpr Model models[] = {{"T4", t4, false, false},
                            {"A100", a100, true, false},
                            {"H100", h100, true, true},
                            {"H200", h200, true, true}};

class DriverMatrix : public Scripted,
                     public ::testing::WithParamInterface<std::tuple<int, Model>> {};

// What a driver and a GPU tell together, out of the reference manual.
std::set<GpuMetric> told(int driver, const Model& model) {
  std::set<GpuMetric> all{
      GpuMetric::gpu_busy,       GpuMetric::memory_used,   GpuMetric::memory_total,
      GpuMetric::power,          GpuMetric::power_limit,   GpuMetric::temperature,
      GpuMetric::sm_clock,       GpuMetric::sm_clock_most, GpuMetric::memory_clock,
      GpuMetric::memory_busy,    GpuMetric::clock_limits,  GpuMetric::pcie_lanes,
      GpuMetric::pcie_generation};
  if (driver >= 390)
    all.insert({GpuMetric::energy, GpuMetric::pcie_sent, GpuMetric::pcie_received});
  if (driver >= 390 && model.nvlink)
    all.insert({GpuMetric::nvlink_sent, GpuMetric::nvlink_received});
  if (driver >= 525 && model.gpm)
    all.insert({GpuMetric::sm_active, GpuMetric::tensor_active, GpuMetric::dram_active});
  return all;
}

TEST_P(DriverMatrix, TellsWhatItCanAndNoZeroForTheRest) {
  const auto& [driver, model] = GetParam();
  json facts = model.facts(0);
  facts["processes"] =
      json::array({{{"pid", 30}, {"memory", 7}}, {{"pid", getpid()}, {"memory", 9}}});
  json all = machine(json::array({facts}));
  if (driver == 535) all["driver"] = "535.54.03";  // rows of processes of another size
  open(all, driver);
  at(0);
  const GpuSample gpu = at(1);
  EXPECT_EQ(gpu.fault, "");
  const std::set<GpuMetric> expected = told(driver, model);
  for (const MetricInfo& metric : all_metrics()) {
    const Reading& reading = gpu[metric.metric];
    const bool measured = expected.contains(metric.metric);
    EXPECT_EQ(reading.state, measured ? ReadingState::measured : ReadingState::unsupported)
        << metric.name << ": " << reading.why;
    EXPECT_EQ(reading.why.empty(), measured) << metric.name;
  }
  if (driver < 525) {
    EXPECT_EQ(gpu[GpuMetric::sm_active].why, "this driver lacks the function");
  }
  ASSERT_TRUE(gpu.processes_known);
  ASSERT_EQ(gpu.processes.size(), 2u);
  EXPECT_EQ(gpu.processes[0].memory_bytes, 7u);
  EXPECT_EQ(gpu.processes[1].pid, getpid());
  EXPECT_EQ(gpu.processes[1].memory_bytes, 9u);

  MonitorSample sample;
  sample.gpus = {gpu};
  const FindProcess nobody = [](int) { return std::nullopt; };
  const json line = sample_json(reader_->gpus(), sample, nobody);
  const std::vector<std::string> head = split(trim(csv_head()), ','),
                                 cells = split(trim(csv_lines(reader_->gpus(), sample)), ',');
  ASSERT_EQ(head.size(), cells.size());
  const std::string series = prometheus_gpus(reader_->gpus(), sample, nobody);
  for (const MetricInfo& metric : all_metrics()) {
    if (expected.contains(metric.metric)) continue;
    const json& value = line.at("gpus").at(0).at("metrics").at(metric.name);
    EXPECT_EQ(value.at("state"), "unsupported") << metric.name;
    EXPECT_FALSE(value.contains("value")) << metric.name;
    for (std::size_t i = 0; i < head.size(); ++i)
      if (head[i].starts_with(metric.name) && metric.metric != GpuMetric::sm_clock) {
        EXPECT_EQ(cells[i], "unsupported") << head[i];
      }
    EXPECT_EQ(series.find(cat("lockstep_gpu_", metric.name, "_ratio{")), std::string::npos);
    EXPECT_EQ(series.find(cat("lockstep_gpu_", metric.name, "_joules_total{")), std::string::npos);
    EXPECT_EQ(series.find(cat("lockstep_gpu_", metric.name, "_bytes_per_second{")),
              std::string::npos);
  }
}

std::string matrix_name(const ::testing::TestParamInfo<DriverMatrix::ParamType>& info) {
  return cat(std::get<1>(info.param).name, "On", std::get<0>(info.param));
}
INSTANTIATE_TEST_SUITE_P(All, DriverMatrix,
                         ::testing::Combine(::testing::Values(340, 390, 418, 450, 470, 525, 535,
                                                              580),
                                            ::testing::ValuesIn(models)),
                         matrix_name);

// 535.43 to 535.86 write 32 bytes where those before and after write 24; other sizes have been
// seen.
TEST_F(Scripted, ListsProcessesWhateverTheSizeOfTheirRows) {
  json gpu = h100(0);
  gpu["processes"] = json::array({{{"pid", 11}, {"memory", 100}},
                                  {{"pid", 12}, {"memory", 200}},
                                  {{"pid", 13}},
                                  {{"pid", 14}, {"kind", "mps"}, {"memory", 400}},
                                  {{"pid", 15}, {"kind", "graphics"}, {"memory", 500}},
                                  {{"pid", 16}, {"kind", "graphics"}, {"memory", 600}}});
  std::vector<json> machines;
  for (const char* driver : {"530.41.03", "535.43.02", "535.86.10", "535.98", "550.163.01"}) {
    machines.push_back(machine(json::array({gpu})));
    machines.back()["driver"] = driver;
  }
  for (const int bytes : {16, 24, 32, 40}) {
    machines.push_back(machine(json::array({gpu})));
    machines.back()["process_row_bytes"] = bytes;
  }
  for (const json& one : machines) {
    open(one);
    for (const double time : {0, 1}) {  // of a known length the second time
      const GpuSample sample = at(time);
      ASSERT_TRUE(sample.processes_known);
      ASSERT_EQ(sample.processes.size(), 6u) << one.dump();
      for (std::size_t i = 0; i < 6; ++i) {
        EXPECT_EQ(sample.processes[i].pid, 11 + static_cast<int>(i)) << one.dump();
        EXPECT_EQ(sample.processes[i].memory_bytes,
                  i == 2 ? std::nullopt : std::optional<std::uint64_t>(100 * (i + 1)));
        EXPECT_EQ(sample.processes[i].graphics, i >= 4);
      }
    }
  }
}

class Count : public Scripted, public ::testing::WithParamInterface<int> {};

TEST_P(Count, HasEachGpuInItsPlace) {
  json gpus = json::array();
  for (int i = 0; i < GetParam(); ++i) {
    gpus.push_back(models[i % 4].facts(i));
    gpus.back()["power"] = 1000 * (i + 1);
  }
  const GpuReader& all = open(machine(gpus));
  ASSERT_EQ(all.gpus().size(), static_cast<std::size_t>(GetParam()));
  for (std::size_t i = 0; i < all.gpus().size(); ++i) {
    EXPECT_EQ(all.gpus()[i].uuid, gpus[i]["uuid"].get<std::string>());
    EXPECT_EQ(at(0, i)[GpuMetric::power].value, static_cast<double>(i) + 1);
  }
}
INSTANTIATE_TEST_SUITE_P(OneToEight, Count, ::testing::Range(1, 9));

TEST_F(Scripted, FollowsWhatBecomesOfAGpu) {
  json all = machine(json::array({a100()}));
  all["frames"] = json::array(
      {{{"at", 1.0}, {"gpus", {{"0", {{"power", 300000}, {"energy", 9000}}}}}},
       {{"at", 2.0}, {"gpus", {{"0", {{"nvlink_kib", {1000 + 2048, 2000}}, {"reasons", 0x40}}}}}}});
  open(all);
  EXPECT_EQ(at(0)[GpuMetric::power].value, 65);
  EXPECT_EQ(at(0.9)[GpuMetric::power].value, 65);
  const GpuSample hot = at(1);
  EXPECT_EQ(hot[GpuMetric::power].value, 300);
  EXPECT_EQ(hot[GpuMetric::energy].value, 9);
  const GpuSample busy = at(2);
  EXPECT_EQ(busy[GpuMetric::nvlink_sent].value, 2048 * 1024.0);  // in the second since
  EXPECT_EQ(busy[GpuMetric::nvlink_received].value, 0);
  EXPECT_EQ(clock_limit_words(static_cast<unsigned long long>(busy[GpuMetric::clock_limits].value)),
            "heat (hardware)");
}

TEST_F(Scripted, GoesOnAfterACallThatFailed) {
  json gpu = t4();
  gpu["calls"]["nvmlDeviceGetPowerUsage"] =
      json::array({{{"from", 3}, {"to", 4}, {"answer", 999}}});
  open(machine(json::array({gpu})));
  for (const int call : {1, 2, 3, 4, 5}) {
    const Reading power = at(call)[GpuMetric::power];
    const bool fails = call == 3 || call == 4;
    EXPECT_EQ(power.state, fails ? ReadingState::no_sample : ReadingState::measured) << call;
    EXPECT_EQ(power.why, fails ? "Unknown Error" : "") << call;
  }
}

// By the real clock: a call that was slow for once is made again soon, one that stays slow rests.
TEST_F(Scripted, LetsRestWhatStaysSlow) {
  json gpu = t4();
  gpu["calls"]["nvmlDeviceGetTemperature"] =
      json::array({{{"from", 1}, {"to", 1}, {"slow_ms", 300}}});  // it would rest for 30 s
  gpu["calls"]["nvmlDeviceGetPowerUsage"] = json::array({{{"from", 2}, {"slow_ms", 300}}});
  nvml_.use(machine(json::array({gpu})));
  reader_ = make_nvml_reader();
  const double first_s = reader_->read(0)[GpuMetric::temperature].at_s;
  double temperature_s = first_s;
  for (int tries = 0; tries < 100 && temperature_s == first_s; ++tries) {
    system_clock().sleep_s(0.05);
    temperature_s = reader_->read(0)[GpuMetric::temperature].at_s;
  }
  EXPECT_GT(temperature_s, first_s);
  for (int calls = 0; calls < 3; ++calls) reader_->read(0);  // two slow ones, at most
  const double power_s = reader_->read(0)[GpuMetric::power].at_s;
  system_clock().sleep_s(0.5);
  EXPECT_EQ(reader_->read(0)[GpuMetric::power].at_s, power_s);
}

TEST_F(Scripted, SaysThatAGpuIsLostWhileOthersGoOnAndWhenItIsBack) {
  json all = machine(json::array({h200(0), h200(1)}));
  all["frames"] = json::array({{{"at", 5}, {"gpus", {{"1", {{"lost", true}}}}}},
                               {{"at", 7}, {"gpus", {{"1", {{"lost", nullptr}}}}}}});
  open(all);
  EXPECT_EQ(at(4, 1).fault, "");
  const GpuSample lost = at(5, 1);
  EXPECT_EQ(lost.fault, "GPU is lost");
  EXPECT_FALSE(lost.processes_known);
  for (const Reading& reading : lost.readings) EXPECT_EQ(reading.state, ReadingState::no_sample);
  EXPECT_EQ(at(5, 0)[GpuMetric::power].value, 65);
  EXPECT_EQ(at(7, 1)[GpuMetric::power].value, 65);
}

TEST_F(Scripted, SumsUpInstancesOfMigWhereTheWholeIsForRoot) {
  json gpu = split_by_mig(a100(), 3);
  gpu["mig"][0]["processes"] = json::array({{{"pid", 7}, {"memory", 100}}});
  gpu["mig"][2]["processes"] = json::array({{{"pid", 5}, {"memory", 200}}});
  open(machine(json::array({gpu})));
  const GpuSample sample = at(0);
  EXPECT_EQ(sample[GpuMetric::memory_used].value, (1 + 2 + 3) * 1048576.0);
  EXPECT_EQ(sample[GpuMetric::memory_total].value, 3 * 10737418240.0);
  EXPECT_EQ(sample[GpuMetric::memory_used].source, "NVML memory of MIG instances");
  EXPECT_EQ(sample[GpuMetric::gpu_busy].state, ReadingState::unsupported);
  ASSERT_TRUE(sample.processes_known);
  ASSERT_EQ(sample.processes.size(), 2u);
  EXPECT_EQ(sample.processes[0].pid, 5);
  EXPECT_EQ(sample.processes[0].memory_bytes, 200u);
  EXPECT_EQ(sample.processes[1].pid, 7);
}

TEST_F(Scripted, AsksTheWholeWhereItMayAndNamesAProcessOnce) {
  json gpu = split_by_mig(a100(), 1);
  gpu.erase("answers");
  gpu["processes"] = gpu["mig"][0]["processes"] = json::array({{{"pid", 7}, {"memory", 100}}});
  open(machine(json::array({gpu})));
  const GpuSample sample = at(0);
  EXPECT_EQ(sample[GpuMetric::memory_total].value, 85899345920.0);
  EXPECT_EQ(sample[GpuMetric::memory_used].source, "NVML memory");
  EXPECT_EQ(sample.processes.size(), 1u);
}

TEST_F(Scripted, SaysThatMemoryIsForRootWhereThereIsNoInstance) {
  open(machine(json::array({split_by_mig(a100(), 0)})));
  const GpuSample sample = at(0);
  EXPECT_EQ(sample[GpuMetric::memory_used].state, ReadingState::no_sample);
  EXPECT_EQ(sample[GpuMetric::memory_used].why, "Insufficient Permissions");
  EXPECT_FALSE(sample.processes_known);
}

// A recording answers as the machine did of which it was made.
TEST_F(Scripted, IsTheSameOfARecording) {
  json all = machine(json::array({t4(0), h200(1), split_by_mig(a100(2), 2)}));
  all["driver"] = "555.42.02";
  all["cuda"] = 12050;
  all["topology"] = {{"0-1", 50}, {"0-2", 50}, {"1-2", 40}};
  all["gpus"][1]["processes"] = json::array({{{"pid", 7}, {"memory", 100}},
                                             {{"pid", 9}, {"kind", "graphics"}},
                                             {{"pid", 10}, {"kind", "mps"}}});
  all["gpus"][1]["process_utilization"] = json::array({{{"pid", 7}, {"sm", 55}, {"age_s", 0.5}}});
  all["gpus"][1]["nvlinks"] = {"switch", 16, nullptr};
  json instances_in_use{{"mig", all["gpus"][2]["mig"]}};
  instances_in_use["mig"][1]["used"] = 99 << 20;
  all["frames"] = json::array(
      {{{"at", 0.5},
        {"gpus",
         {{"1", {{"power", 600000}, {"gpm", {{"2", 88.5}}}, {"processes", json::array()}}}}}},
       {{"at", 1.0}, {"gpus", {{"0", {{"lost", true}}}, {"1", {{"used", 5}}}}}},
       {{"at", 1.5},
        {"gpus",
         {{"0", {{"lost", nullptr}}}, {"1", {{"answers", {{"nvmlDeviceGetPowerUsage", 999}}}}}}}},
       {{"at", 2.0},
        {"gpus", {{"1", {{"answers", nullptr}, {"temperature", 80}}}, {"2", instances_in_use}}}}});
  const std::vector<double> times{0, 0.25, 0.5, 1, 1.5, 1.75, 2, 3};
  nvml_.use(all);
  json recorded;
  {
    NvmlRecorder recorder;
    for (const double time : times) {
      nvml_.at(time);
      recorder.add(time);
    }
    recorded = recorder.script();
  }
  nvml_.at(0);
  EXPECT_EQ(recorded["driver"], all["driver"]);
  EXPECT_EQ(recorded["cuda"], all["cuda"]);
  EXPECT_EQ(recorded["topology"], all["topology"]);
  // Only what changed. When a row was made may differ.
  EXPECT_EQ(std::count_if(recorded["frames"].begin(), recorded["frames"].end(),
                          [](json frame) {
                            for (json& gpu : frame["gpus"]) gpu.erase("process_utilization");
                            return std::any_of(frame["gpus"].begin(), frame["gpus"].end(),
                                               [](const json& gpu) { return !gpu.empty(); });
                          }),
            4)
      << recorded["frames"].dump(1);

  const auto readings = [&](const json& machine) {
    json found = json::array();
    open(machine);
    reader_ = make_nvml_reader(clock_, [] { return 0.0; });  // on a slow machine calls would rest
    for (const double time : times)
      for (std::size_t i = 0; i < 3; ++i) {
        const GpuSample sample = at(time, i);
        for (const MetricInfo& metric : all_metrics()) {
          // The recorder's own first sample of GPM has none before it either.
          const Reading& reading = sample[metric.metric];
          found.push_back(cat(time, " s, GPU ", i, " ", metric.name, " ", to_string(reading.state),
                              " ", time > 0 ? reading.value : 0, " ", reading.why));
        }
        found.push_back(cat("fault ", sample.fault));
        for (const GpuProcess& process : sample.processes)
          found.push_back(cat("process ", process.pid, " ", process.graphics, " ",
                              process.memory_bytes.value_or(1), " ",
                              process.sm_percent.value_or(-1)));
      }
    return found;
  };
  const json original = readings(all), again = readings(recorded);
  ASSERT_EQ(original.size(), again.size());
  for (std::size_t i = 0; i < original.size(); ++i) EXPECT_EQ(original[i], again[i]);
}

// record-nvml beside torch.distributed.run on four H200s, driver 580.
json recording(const std::string& name) {
  return json::parse(read_file(std::filesystem::path(LOCKSTEP_SOURCE_DIR) /
                               "tests/fakes/recordings" / (name + ".json")));
}

class RealGpus : public Scripted {};

TEST_F(RealGpus, TellHowATrainingBegins) {
  open(recording("h200-x4-training-begins"));
  ASSERT_EQ(reader_->gpus().size(), 4u);
  EXPECT_EQ(reader_->gpus()[3].name, "NVIDIA H200");
  for (std::size_t i = 0; i < 4; ++i) at(0.5, i);
  for (std::size_t i = 0; i < 4; ++i) {
    const GpuSample idle = at(1.5, i);
    for (const MetricInfo& metric : all_metrics())
      EXPECT_EQ(idle[metric.metric].state, ReadingState::measured)
          << metric.name << ": " << idle[metric.metric].why;
    EXPECT_EQ(idle[GpuMetric::sm_active].value, 0);
    EXPECT_NEAR(idle[GpuMetric::power].value, 79, 4);
    EXPECT_TRUE(idle.processes_known);
    EXPECT_EQ(idle.processes.size(), 0u);
  }
  for (std::size_t i = 0; i < 4; ++i) at(24, i);
  std::set<int> ranks;
  for (std::size_t i = 0; i < 4; ++i) {
    const GpuSample works = at(25, i);
    EXPECT_NEAR(works[GpuMetric::sm_active].value, 96, 1);
    EXPECT_NEAR(works[GpuMetric::power].value, 690, 12);
    EXPECT_NEAR(works[GpuMetric::nvlink_sent].value, 6e9, 6e8);
    EXPECT_NEAR(works[GpuMetric::memory_used].value, 5.4e9, 5e8);
    ASSERT_EQ(works.processes.size(), 1u);
    EXPECT_NEAR(static_cast<double>(works.processes[0].memory_bytes.value_or(0)),
                works[GpuMetric::memory_used].value, 1 << 24);
    EXPECT_NEAR(works.processes[0].sm_percent.value_or(0), 100, 1);
    ranks.insert(works.processes[0].pid);
  }
  EXPECT_EQ(ranks.size(), 4u);
}

// With what each call takes on real ones that train; while NCCL works that is the most.
TEST_F(RealGpus, CostLittleToWatch) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "a sanitizer costs more than what it watches";
#endif
  json all = recording("h200-x4-training");
  all.erase("frames");
  for (int i = 0; i < 4; ++i) {
    json more = all["gpus"][static_cast<std::size_t>(i)];
    more["uuid"] = cat("GPU-", i);
    more["bus"] = 100 + i;
    all["gpus"].push_back(more);
  }
  open(all);
  unsetenv("FAKE_NVML_CLOCK");  // which takes the fake longer than most calls
  constexpr int seconds = 100;
  double began_s = 0;
  for (int i = 0; i < 10 + seconds; ++i) {
    if (i == 10) began_s = thread_cpu_s();
    ++clock_.now;
    for (std::size_t gpu = 0; gpu < 8; ++gpu) {
      const GpuSample sample = reader_->read(gpu);
      EXPECT_EQ(sample.processes.size(), 1u);
      EXPECT_LE(clock_.now - sample[GpuMetric::energy].at_s, 100);
      EXPECT_EQ(sample[GpuMetric::sm_active].at_s, clock_.now);
    }
  }
  EXPECT_LT((thread_cpu_s() - began_s) / seconds, 0.005);
}

TEST_F(Scripted, ListsProcessesBeforeTheirTimeWhereMemorySaysThatOneCameOrWent) {
  constexpr long long mib = 1 << 20;
  json gpu = h100(0);
  gpu["busy_ms"] = {{"nvmlDeviceGetComputeRunningProcesses_v3", 2}};  // it rests for 4 s
  gpu["used"] = 0;
  gpu["processes"] = json::array();
  const auto process = [](int pid) { return json{{"pid", pid}, {"memory", 300 * mib}}; };
  const auto frame = [](double at, const json& facts) {
    return json{{"at", at}, {"gpus", {{"0", facts}}}};
  };
  json all = machine(json::array({gpu}));
  all["frames"] = {frame(3, {{"used", 300 * mib}, {"processes", json::array({process(7)})}}),
                   frame(4, {{"used", 301 * mib}, {"processes", {process(7), process(8)}}}),
                   frame(5, {{"used", 0}, {"processes", json::array()}})};
  open(all);
  at(0);  // the first is slow for once
  EXPECT_EQ(at(1).processes.size(), 0u);
  EXPECT_EQ(at(2).processes.size(), 0u);
  EXPECT_EQ(at(3).processes.size(), 1u);
  EXPECT_EQ(at(4).processes.size(), 1u);  // as little as that is nobody new
  EXPECT_EQ(at(5).processes.size(), 0u);
}

TEST_F(Scripted, ListsProcessesEachTimeWhereTheMemoryIsNotTold) {
  json gpu = h100(0);
  gpu["busy_ms"] = {{"nvmlDeviceGetComputeRunningProcesses_v3", 2}};
  for (const char* function : {"nvmlDeviceGetMemoryInfo", "nvmlDeviceGetMemoryInfo_v2"})
    gpu["answers"][function] = 999;
  json all = machine(json::array({gpu}));
  all["frames"] =
      json::array({{{"at", 3}, {"gpus", {{"0", {{"processes", json::array({{{"pid", 7}}})}}}}}}});
  open(all);
  at(0);
  EXPECT_EQ(at(1).processes.size(), 0u);
  EXPECT_EQ(at(2).processes.size(), 0u);
  EXPECT_EQ(at(3).processes.size(), 1u);
}

TEST_F(Scripted, AsksForWhatHardlyEverChangesAgainWhereItFailed) {
  json gpu = h100(0);
  gpu["calls"]["nvmlDeviceGetMaxClockInfo"] =
      json::array({{{"from", 1}, {"to", 1}, {"answer", 999}}});
  open(machine(json::array({gpu})));
  EXPECT_EQ(at(0)[GpuMetric::sm_clock_most].state, ReadingState::no_sample);
  EXPECT_EQ(at(1)[GpuMetric::sm_clock_most].state, ReadingState::measured);
  EXPECT_EQ(at(500)[GpuMetric::sm_clock_most].at_s, 101);
  EXPECT_EQ(at(500)[GpuMetric::pcie_lanes].at_s, 600);
  EXPECT_EQ(at(700)[GpuMetric::sm_clock_most].at_s, 800);
}

TEST(NvmlScript, AppliesWhatHasChangedUntilThen) {
  NvmlScript script(json::parse(R"({
    "gpus": [{"power": 1, "gpm": {"2": 5}}, {"power": 2}],
    "frames": [{"at": 1, "gpus": {"0": {"power": 10, "gpm": {"2": 6, "5": 7}}}},
               {"at": 2, "gpus": {"1": {"power": null}}}]})"));
  EXPECT_FALSE(script.at(0.5));
  EXPECT_EQ(script.gpus()[0]["power"], 1);
  EXPECT_TRUE(script.at(1.5));
  EXPECT_EQ(script.gpus()[0], (json{{"power", 10}, {"gpm", {{"2", 6}, {"5", 7}}}}));
  EXPECT_FALSE(script.at(1.6));
  EXPECT_TRUE(script.at(9));
  EXPECT_TRUE(script.gpus()[1].empty());
  EXPECT_TRUE(script.at(0));  // begins anew
  EXPECT_EQ(script.gpus()[0]["power"], 1);
  EXPECT_EQ(script.gpus()[1]["power"], 2);
}

}  // namespace
}  // namespace lockstep
