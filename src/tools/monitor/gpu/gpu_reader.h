// Reads the metrics and processes of GPUs, behind an interface with a data-driven fake.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/devices/gpus/gpu_probe.h"
#include "tools/monitor/gpu/metrics.h"

namespace lockstep {

struct GpuProcess {
  int pid = 0;  // as NVML gives it; in a container possibly the host's number
  bool graphics = false;
  std::optional<std::uint64_t> memory_bytes;
  std::optional<double> sm_percent;  // mean over about the driver's last second; nothing: no sample
  double sm_at_s = 0;                // when that was read, on the monotonic clock
};

struct GpuSample {
  std::array<Reading, metric_count> readings;
  std::vector<GpuProcess> processes;  // by pid
  bool processes_known = false;
  std::string fault;  // why the GPU does not answer ("GPU is lost"); "" if it does

  const Reading& operator[](GpuMetric metric) const {
    return readings[static_cast<std::size_t>(metric)];
  }
  Reading& operator[](GpuMetric metric) { return readings[static_cast<std::size_t>(metric)]; }
};

class GpuReader {
 public:
  virtual ~GpuReader() = default;
  virtual const std::vector<GpuInfo>& gpus() const = 0;  // whole GPUs, in NVML's order
  virtual std::string why_absent() const = 0;            // "" if there may be GPUs
  // Reads GPU number `position` in gpus(). Slow values are queried less often; their readings keep
  // the time of the query.
  virtual GpuSample read(std::size_t position) = 0;
};

double thread_cpu_s();   // CPU time used by this thread
double process_cpu_s();  // CPU time used by all threads

// Never throws. cpu_s: the clock that measures the cost of its calls.
std::unique_ptr<GpuReader> make_nvml_reader(Clock& clock = system_clock(),
                                            double (*cpu_s)() = &thread_cpu_s);

}  // namespace lockstep
