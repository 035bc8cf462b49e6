#include "tools/monitor/gpu/metrics.h"

#include <array>
#include <vector>

#include "core/base/text/text.h"

namespace lockstep {
namespace {

constexpr std::array<MetricInfo, metric_count> catalogue{{
    {GpuMetric::sm_active, "sm_active", "%",
     "share of the multiprocessors that had work, over time"},
    {GpuMetric::tensor_active, "tensor_active", "%",
     "share of time in which tensor cores computed"},
    {GpuMetric::dram_active, "dram_active", "%",
     "memory traffic, as a share of the highest possible"},
    {GpuMetric::gpu_busy, "gpu_busy", "%",
     "share of time in which some kernel ran, however small: utilization.gpu of nvidia-smi"},
    {GpuMetric::memory_used, "memory_used", "bytes", "device memory taken by programs"},
    {GpuMetric::memory_total, "memory_total", "bytes", "device memory"},
    {GpuMetric::power, "power", "W", "power drawn by the board"},
    {GpuMetric::power_limit, "power_limit", "W", "power limit in force"},
    {GpuMetric::energy, "energy", "J", "energy drawn since the driver was loaded"},
    {GpuMetric::temperature, "temperature", "C", "temperature of the chip, in degrees Celsius"},
    {GpuMetric::sm_clock, "sm_clock", "MHz", "clock of the multiprocessors"},
    {GpuMetric::sm_clock_most, "sm_clock_most", "MHz",
     "highest clock that the multiprocessors can have"},
    {GpuMetric::memory_clock, "memory_clock", "MHz", "clock of the memory"},
    {GpuMetric::clock_limits, "clock_limits", "", "what holds the clocks down: NVML's bits"},
    {GpuMetric::pcie_sent, "pcie_sent", "bytes/s", "PCIe traffic from the GPU"},
    {GpuMetric::pcie_received, "pcie_received", "bytes/s", "PCIe traffic to the GPU"},
    {GpuMetric::pcie_generation, "pcie_generation", "",
     "generation at which the PCIe link runs now"},
    {GpuMetric::pcie_lanes, "pcie_lanes", "", "lanes that the PCIe link uses now"},
    {GpuMetric::nvlink_sent, "nvlink_sent", "bytes/s", "traffic from the GPU over all its NVLinks"},
    {GpuMetric::nvlink_received, "nvlink_received", "bytes/s",
     "traffic to the GPU over all its NVLinks"},
    {GpuMetric::memory_busy, "memory_busy", "%",
     "share of time in which memory was read or written: utilization.memory of nvidia-smi"},
}};

}  // namespace

std::span<const MetricInfo> all_metrics() { return catalogue; }
const MetricInfo& info(GpuMetric metric) { return catalogue[static_cast<std::size_t>(metric)]; }

const char* to_string(ReadingState state) {
  switch (state) {
    case ReadingState::measured:
      return "measured";
    case ReadingState::unsupported:
      return "unsupported";
    case ReadingState::no_sample:
      return "no sample";
  }
  return "";
}

std::span<const ClockLimit> clock_limits() {
  // Bits of nvmlClocksEventReason*.
  static constexpr std::array<ClockLimit, 8> limits{{
      {0x02, "application clocks"},
      {0x04, "power"},
      {0x08, "hardware slowdown"},
      {0x10, "sync boost"},
      {0x20, "heat"},
      {0x40, "heat (hardware)"},
      {0x80, "power brake"},
      {0x100, "display clocks"},
  }};
  return limits;
}

std::string clock_limit_words(unsigned long long reasons) {
  std::vector<std::string> words;
  for (const ClockLimit& limit : clock_limits())
    if (reasons & limit.bit) words.emplace_back(limit.word);
  return join(words, ", ");
}

}  // namespace lockstep
