// Means, peaks, idle share and energy over a time.
#include "tools/monitor/summary.h"

#include <gtest/gtest.h>

#include "core/base/text/text.h"
#include "fakes/fake_probe.h"
#include "fakes/fake_reader.h"

namespace lockstep {
namespace {

// The words of row `gpu` of the table, and the last word "H200" of its name.
std::vector<std::string> row(const MonitorSummary& summary, std::size_t gpu) {
  std::vector<std::string> words;
  for (const std::string& word : split(split(summary.text(), '\n').at(2 + gpu), ' '))
    if (!word.empty()) words.push_back(word);
  return words;
}

MonitorSample at(double s, GpuSample gpu) {
  return {.number = 1, .at_s = s, .reading_s = 0, .gpus = {std::move(gpu)}};
}

TEST(MonitorSummary, HasMeansPeaksIdleShareAndEnergy) {
  MonitorSummary summary(fake_probe(1).present);
  for (int i = 0; i < 4; ++i) {
    GpuSample gpu;
    gpu[GpuMetric::sm_active] = measured(i == 0 ? 0 : 40.0 * i, i);
    gpu[GpuMetric::gpu_busy] = measured(100, i);
    gpu[GpuMetric::tensor_active] = measured(10, i);
    gpu[GpuMetric::memory_used] = measured((i + 1.0) * (1 << 30), i);
    gpu[GpuMetric::power] = measured(100.0 * (i + 1), i);
    gpu[GpuMetric::temperature] = measured(60 - i, i);
    gpu[GpuMetric::energy] = measured(5000 + 2500.0 * i, i);
    summary.add(at(i, gpu));
  }
  EXPECT_TRUE(summary.text().starts_with("4 samples in 3.0 s\n")) << summary.text();
  EXPECT_EQ(row(summary, 0),
            (std::vector<std::string>{"0", "60.0", "120", "100.0", "10.0", "25", "%", "4.0", "250",
                                      "400", "60", "7.50", "kJ", "NVIDIA", "H200"}));
}

TEST(MonitorSummary, JudgesIdlenessByBusyWhereThereIsNoActivity) {
  MonitorSummary summary(fake_probe(1).present);
  for (int i = 0; i < 2; ++i) {
    GpuSample gpu;
    for (Reading& reading : gpu.readings) reading = unsupported();
    gpu[GpuMetric::gpu_busy] = measured(i == 0 ? 0 : 50, i);
    gpu[GpuMetric::power] = measured(100, 10.0 * i);
    summary.add(at(i, gpu));
  }
  // Energy from power and time, marked as such.
  EXPECT_EQ(row(summary, 0),
            (std::vector<std::string>{"0", "n/a", "n/a", "25.0", "n/a", "50", "%", "n/a", "100",
                                      "100", "n/a", "~1.00", "kJ", "NVIDIA", "H200"}));
}

TEST(MonitorSummary, CountsAReadingOnceThatWasNotMadeAgain) {
  MonitorSummary summary(fake_probe(1).present);
  for (const auto& [value, read_at] : {std::pair{10.0, 1.0}, {10.0, 1.0}, {40.0, 2.0}}) {
    GpuSample gpu;
    gpu[GpuMetric::temperature] = measured(50, read_at);
    gpu[GpuMetric::gpu_busy] = measured(value, read_at);
    summary.add(at(read_at, gpu));
  }
  EXPECT_EQ(row(summary, 0)[3], "25.0");
}

TEST(MonitorSummary, HasNoNumberWithoutASample) {
  const MonitorSummary summary(fake_probe(1).present);
  EXPECT_EQ(row(summary, 0), (std::vector<std::string>{"0", "-", "-", "-", "-", "-", "-", "-", "-",
                                                       "-", "-", "NVIDIA", "H200"}));
}

}  // namespace
}  // namespace lockstep
