// The catalogue of GPU metrics: their names, units and meanings.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace lockstep {

// Factors for readings of memory and traffic, which are in bytes.
constexpr double gib_per_byte = 1.0 / (1 << 30), bytes_per_mib = 1 << 20;

enum class GpuMetric {
  sm_active,
  tensor_active,
  dram_active,
  gpu_busy,
  memory_used,
  memory_total,
  power,
  power_limit,
  energy,
  temperature,
  sm_clock,
  sm_clock_most,
  memory_clock,
  clock_limits,
  pcie_sent,
  pcie_received,
  pcie_generation,
  pcie_lanes,
  nvlink_sent,
  nvlink_received,
  memory_busy,
};
constexpr std::size_t metric_count = static_cast<std::size_t>(GpuMetric::memory_busy) + 1;

struct MetricInfo {
  GpuMetric metric;
  const char* name;  // "sm_active"
  const char* unit;  // "%", "bytes", "bytes/s", "W", "J", "C", "MHz", or ""
  const char* meaning;
};

std::span<const MetricInfo> all_metrics();  // all metrics, in the order of GpuMetric
const MetricInfo& info(GpuMetric metric);

// Whether a value was read. unsupported: this GPU or driver never reports the metric. no_sample:
// there is no value in this sample.
enum class ReadingState { measured, unsupported, no_sample };
const char* to_string(ReadingState state);  // "measured", "unsupported", "no sample"

struct Reading {
  ReadingState state = ReadingState::no_sample;
  double value = 0;     // in the metric's unit; valid only if measured
  double period_s = 0;  // duration over which the value is a mean; 0 for an instantaneous value
  double at_s = 0;      // when it was read, on the monotonic clock
  std::string source;   // "GPM", "NVML utilization", …
  std::string why;      // reason if it is not measured
};

struct ClockLimit {
  unsigned long long bit;
  const char* word;  // "power"
};
// The limits that a value of GpuMetric::clock_limits can contain.
std::span<const ClockLimit> clock_limits();

// Returns the limits in a value of GpuMetric::clock_limits as words: "power", "heat", …. Lower
// clocks of an idle GPU are not a limit.
std::string clock_limit_words(unsigned long long reasons);

}  // namespace lockstep
