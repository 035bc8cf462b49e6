// make_nvml_reader() over a fake library.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <thread>

#include "checkout_paths.h"
#include "core/base/files/files.h"
#include "fakes/fake_clock.h"
#include "tools/monitor/gpu/gpu_reader.h"

namespace lockstep {
namespace {

using nlohmann::json;

class NvmlReader : public ::testing::Test {
 protected:
  void TearDown() override {
    unsetenv("LOCKSTEP_NVML");
    unsetenv("FAKE_NVML");
  }
  GpuReader& reader(const json& gpus, const char* library = "libfake-nvml.so") {
    write_file_atomic(folder_.path() / "gpus.json", json{{"gpus", gpus}}.dump());
    setenv("FAKE_NVML", (folder_.path() / "gpus.json").c_str(), 1);
    setenv("LOCKSTEP_NVML", (std::string(LOCKSTEP_BUILD_DIR "/tests/") + library).c_str(), 1);
    clock_.wall = static_cast<double>(time(nullptr));
    reader_ = make_nvml_reader(clock_);
    return *reader_;
  }
  static json hopper() {
    return {{"uuid", "GPU-aa"},
            {"name", "NVIDIA H200"},
            {"bus", 1},
            {"memory", 1000},
            {"used", 100},
            {"utilization", 100},
            {"power", 650500},
            {"power_limit", 700000},
            {"energy", 5000},
            {"temperature", 61},
            {"clock", 1755},
            {"max_clock", 1980},
            {"memory_clock", 3201},
            {"reasons", 0x44},
            {"pcie_now", {5, 16}},
            {"gpm", {{"2", 12.5}, {"5", 3.0}, {"10", 0.0}, {"20", 2.0}, {"21", 4.0}}}};
  }
  static json t4() {
    return {{"uuid", "GPU-bb"}, {"name", "Tesla T4"}, {"bus", 2},
            {"utilization", 0}, {"pcie_kib", {1, 2}}, {"nvlink_kib", {10, 20}}};
  }

  TemporaryDirectory folder_;
  FakeClock clock_;
  std::unique_ptr<GpuReader> reader_;
};

void expect_measured(const GpuSample& sample, GpuMetric metric, double value) {
  EXPECT_EQ(sample[metric].state, ReadingState::measured) << info(metric).name;
  EXPECT_DOUBLE_EQ(sample[metric].value, value) << info(metric).name;
}

TEST_F(NvmlReader, ReadsEachMetricInItsUnit) {
  const GpuSample sample = reader(json::array({hopper()})).read(0);
  EXPECT_EQ(reader_->gpus()[0].uuid, "GPU-aa");
  EXPECT_EQ(sample.fault, "");
  expect_measured(sample, GpuMetric::gpu_busy, 100);
  expect_measured(sample, GpuMetric::memory_used, 100);
  expect_measured(sample, GpuMetric::memory_total, 1000);
  expect_measured(sample, GpuMetric::power, 650.5);
  expect_measured(sample, GpuMetric::power_limit, 700);
  expect_measured(sample, GpuMetric::energy, 5);
  expect_measured(sample, GpuMetric::temperature, 61);
  expect_measured(sample, GpuMetric::sm_clock, 1755);
  expect_measured(sample, GpuMetric::sm_clock_most, 1980);
  expect_measured(sample, GpuMetric::memory_clock, 3201);
  expect_measured(sample, GpuMetric::pcie_generation, 5);
  expect_measured(sample, GpuMetric::pcie_lanes, 16);
  expect_measured(sample, GpuMetric::clock_limits, 0x44);
  EXPECT_EQ(sample[GpuMetric::power].source, "NVML power");
}

TEST_F(NvmlReader, HasActivityFromTheSecondSampleOn) {
  GpuReader& gpus = reader(json::array({hopper()}));
  const GpuSample first = gpus.read(0);
  EXPECT_EQ(first[GpuMetric::sm_active].state, ReadingState::no_sample);
  EXPECT_EQ(first[GpuMetric::sm_active].why, "the first of two samples");
  clock_.advance(0.5);
  const GpuSample second = gpus.read(0);
  expect_measured(second, GpuMetric::sm_active, 12.5);
  expect_measured(second, GpuMetric::tensor_active, 3);
  expect_measured(second, GpuMetric::dram_active, 0);
  expect_measured(second, GpuMetric::pcie_sent, 2 << 20);
  expect_measured(second, GpuMetric::pcie_received, 4 << 20);
  EXPECT_DOUBLE_EQ(second[GpuMetric::sm_active].period_s, 0.5);
  EXPECT_EQ(second[GpuMetric::sm_active].source, "GPM");
  EXPECT_EQ(second[GpuMetric::nvlink_sent].state, ReadingState::unsupported);
}

TEST_F(NvmlReader, TakesNoTwoSamplesOfActivityAtOnce) {
  reader(json::array({hopper()}));
  std::atomic<int> without = 0;
  const auto look = [&] {
    FakeClock clock;
    const std::unique_ptr<GpuReader> own = make_nvml_reader(clock);
    own->read(0);
    for (int i = 0; i < 100; ++i) {
      clock.advance(1);
      without += own->read(0)[GpuMetric::sm_active].state != ReadingState::measured;
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back(look);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(without, 0);
}

TEST_F(NvmlReader, KeepsActivityWhileTwoSamplesWouldBeTooNear) {
  GpuReader& gpus = reader(json::array({hopper()}));
  gpus.read(0);
  clock_.advance(0.2);
  const double read_at = gpus.read(0)[GpuMetric::sm_active].at_s;
  clock_.advance(0.05);
  EXPECT_EQ(gpus.read(0)[GpuMetric::sm_active].at_s, read_at);
  clock_.advance(0.06);
  EXPECT_GT(gpus.read(0)[GpuMetric::sm_active].at_s, read_at);
}

TEST_F(NvmlReader, TellsUnsupportedFromZeroAndFromNoSample) {
  json gpu = t4();
  gpu["answers"] = {{"nvmlDeviceGetTemperature", 999}};
  GpuReader& gpus = reader(json::array({gpu}));
  const GpuSample sample = gpus.read(0);
  expect_measured(sample, GpuMetric::gpu_busy, 0);
  EXPECT_EQ(sample[GpuMetric::power].state, ReadingState::unsupported);
  EXPECT_EQ(sample[GpuMetric::power].why, "this GPU does not tell");
  EXPECT_EQ(sample[GpuMetric::temperature].state, ReadingState::no_sample);
  EXPECT_EQ(sample[GpuMetric::temperature].why, "Unknown Error");
  EXPECT_EQ(sample[GpuMetric::sm_active].state, ReadingState::unsupported);
  EXPECT_EQ(sample[GpuMetric::sm_active].why, "it takes a Hopper GPU or newer");
}

TEST_F(NvmlReader, HasTrafficWithoutGpm) {
  GpuReader& gpus = reader(json::array({t4()}));
  const GpuSample first = gpus.read(0);
  expect_measured(first, GpuMetric::pcie_sent, 1024);
  expect_measured(first, GpuMetric::pcie_received, 2048);
  EXPECT_EQ(first[GpuMetric::nvlink_sent].state, ReadingState::no_sample);  // a rate takes two
  clock_.advance(2);
  const GpuSample second = gpus.read(0);
  expect_measured(second, GpuMetric::nvlink_sent, 0);
  EXPECT_DOUBLE_EQ(second[GpuMetric::nvlink_sent].period_s, 2);
}

TEST_F(NvmlReader, SaysWhatAnOldDriverLacks) {
  const GpuSample sample = reader(json::array({hopper()}), "libfake-nvml-340.so").read(0);
  EXPECT_EQ(sample[GpuMetric::energy].state, ReadingState::unsupported);
  EXPECT_EQ(sample[GpuMetric::energy].why, "this driver lacks the function");
  EXPECT_EQ(sample[GpuMetric::sm_active].state, ReadingState::unsupported);
  expect_measured(sample, GpuMetric::memory_used, 100);    // by the older function
  expect_measured(sample, GpuMetric::clock_limits, 0x44);  // likewise
}

TEST_F(NvmlReader, AsksSlowFunctionsLessOften) {
  json gpu = t4();
  gpu["slow_ms"] = {{"nvmlDeviceGetPcieThroughput", 20}};
  write_file_atomic(folder_.path() / "gpus.json", json{{"gpus", json::array({gpu})}}.dump());
  setenv("FAKE_NVML", (folder_.path() / "gpus.json").c_str(), 1);
  setenv("LOCKSTEP_NVML", LOCKSTEP_BUILD_DIR "/tests/libfake-nvml.so", 1);
  const auto real = make_nvml_reader();  // the time that calls take is real
  real->read(0);                         // the first call may be slow for once
  const double first = real->read(0)[GpuMetric::pcie_sent].at_s;
  const double begin = system_clock().now_s();
  const GpuSample again = real->read(0);
  EXPECT_EQ(again[GpuMetric::pcie_sent].at_s, first);
  EXPECT_EQ(again[GpuMetric::pcie_sent].state, ReadingState::measured);
  EXPECT_LT(system_clock().now_s() - begin, 0.015);
}

// The energy counter of an H200: asked for each second, 8 GPUs would cost 6 % of a core.
TEST_F(NvmlReader, AsksForWhatTakesACoreMuchLessOften) {
  json gpu = hopper();
  gpu["busy_ms"] = {{"nvmlDeviceGetTotalEnergyConsumption", 5}};
  gpu["slow_ms"] = {{"nvmlDeviceGetPowerUsage", 5}};
  write_file_atomic(folder_.path() / "gpus.json", json{{"gpus", json::array({gpu})}}.dump());
  setenv("FAKE_NVML", (folder_.path() / "gpus.json").c_str(), 1);
  setenv("LOCKSTEP_NVML", LOCKSTEP_BUILD_DIR "/tests/libfake-nvml.so", 1);
  const auto real = make_nvml_reader();
  real->read(0);  // the first call may be slow for once
  const GpuSample first = real->read(0);
  EXPECT_EQ(first[GpuMetric::energy].state, ReadingState::measured);
  system_clock().sleep_s(1);
  const GpuSample second = real->read(0);
  EXPECT_EQ(second[GpuMetric::energy].at_s, first[GpuMetric::energy].at_s);
  EXPECT_GT(second[GpuMetric::power].at_s, first[GpuMetric::power].at_s);
}

TEST_F(NvmlReader, ListsProcessesWithTheirNewestUtilisation) {
  json gpu = hopper();
  gpu["processes"] = json::array({{{"pid", 30}, {"memory", 7}},
                                  {{"pid", 10}},
                                  {{"pid", 20}, {"memory", 5}, {"kind", "graphics"}},
                                  {{"pid", 30}, {"memory", 7}, {"kind", "graphics"}}});
  gpu["process_utilization"] = json::array({{{"pid", 30}, {"sm", 11}, {"age_s", 1.0}},
                                            {{"pid", 30}, {"sm", 44}, {"age_s", 0.2}},
                                            {{"pid", 10}, {"sm", 90}, {"age_s", 60.0}},
                                            {{"pid", 77}, {"sm", 5}, {"age_s", 0.2}}});
  const GpuSample sample = reader(json::array({gpu})).read(0);
  EXPECT_TRUE(sample.processes_known);
  ASSERT_EQ(sample.processes.size(), 3u);
  EXPECT_EQ(sample.processes[0].pid, 10);
  EXPECT_EQ(sample.processes[0].memory_bytes, std::nullopt);
  EXPECT_EQ(sample.processes[0].sm_percent, std::nullopt);  // a minute old
  EXPECT_EQ(sample.processes[1].pid, 20);
  EXPECT_TRUE(sample.processes[1].graphics);
  EXPECT_EQ(sample.processes[1].sm_percent, std::nullopt);  // no row is not 0
  EXPECT_EQ(sample.processes[2].pid, 30);
  EXPECT_FALSE(sample.processes[2].graphics);
  EXPECT_EQ(sample.processes[2].memory_bytes, 7u);
  EXPECT_EQ(sample.processes[2].sm_percent, 44);
}

TEST_F(NvmlReader, ListsClientsOfMps) {
  json gpu = hopper();
  gpu["processes"] =
      json::array({{{"pid", 7}, {"memory", 9}}, {{"pid", 8}, {"memory", 5}, {"kind", "mps"}}});
  const GpuSample sample = reader(json::array({gpu})).read(0);
  ASSERT_EQ(sample.processes.size(), 2u);
  EXPECT_EQ(sample.processes[1].pid, 8);
  EXPECT_FALSE(sample.processes[1].graphics);
}

TEST_F(NvmlReader, KnowsNoProcessesWhereTheDriverDoesNotTell) {
  EXPECT_FALSE(reader(json::array({t4()})).read(0).processes_known);
}

TEST_F(NvmlReader, GoesOnBesideALostGpu) {
  GpuReader& gpus = reader({{{"uuid", "GPU-aa"}, {"error", 15}}, t4()});
  ASSERT_EQ(gpus.gpus().size(), 2u);
  const GpuSample lost = gpus.read(0);
  EXPECT_EQ(lost.fault, "GPU is lost");
  for (const Reading& reading : lost.readings) EXPECT_EQ(reading.state, ReadingState::no_sample);
  expect_measured(gpus.read(1), GpuMetric::gpu_busy, 0);
}

TEST_F(NvmlReader, SaysWhyThereIsNoGpu) {
  setenv("LOCKSTEP_NVML", "/nonexistent/libnvidia-ml.so.1", 1);
  const auto none = make_nvml_reader();
  EXPECT_TRUE(none->gpus().empty());
  EXPECT_TRUE(none->why_absent().starts_with("LOCKSTEP_NVML: /nonexistent")) << none->why_absent();
}

}  // namespace
}  // namespace lockstep
