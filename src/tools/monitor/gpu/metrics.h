// The catalogue of GPU metrics: names, units, meanings.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace lockstep {

// Readings of memory and traffic are in bytes.
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

std::span<const MetricInfo> all_metrics();  // in the order of GpuMetric
const MetricInfo& info(GpuMetric metric);

// Whether a value was read. unsupported: this GPU or driver never reports it. no_sample: not this
// time.
enum class ReadingState { measured, unsupported, no_sample };
const char* to_string(ReadingState state);  // "measured", "unsupported", "no sample"

struct Reading {
  ReadingState state = ReadingState::no_sample;
  double value = 0;     // in the metric's unit; only if measured
  double period_s = 0;  // the value is a mean over this time; 0: an instant
  double at_s = 0;      // when it was read, on the monotonic clock
  std::string source;   // "GPM", "NVML utilization", …
  std::string why;      // why it is not measured
};

struct ClockLimit {
  unsigned long long bit;
  const char* word;  // "power"
};
std::span<const ClockLimit> clock_limits();  // those that clock_limits can hold; idle is not a
                                             // limit

// The reasons that hold the clocks down, from a value of clock_limits: "power", "heat", …. Idle is
// not a limit.
std::string clock_limit_words(unsigned long long reasons);

}  // namespace lockstep
