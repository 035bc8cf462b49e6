// Reads the metrics and processes of GPUs. It is an interface, so that tests can use a fake.
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
  int pid = 0;  // number that NVML reports; in a container, it may be the number on the host
  bool graphics = false;
  std::optional<std::uint64_t> memory_bytes;
  // NVML's SM utilisation, a mean over about the driver's last second. Not set if the driver has no
  // sample.
  std::optional<double> sm_percent;
  double sm_at_s = 0;  // when sm_percent was read, on the monotonic clock
};

struct GpuSample {
  std::array<Reading, metric_count> readings;
  std::vector<GpuProcess> processes;  // processes in the order of their pids
  bool processes_known = false;
  std::string fault;  // reason if the GPU does not answer ("GPU is lost"); else ""

  const Reading& operator[](GpuMetric metric) const {
    return readings[static_cast<std::size_t>(metric)];
  }
  Reading& operator[](GpuMetric metric) { return readings[static_cast<std::size_t>(metric)]; }
};

class GpuReader {
 public:
  virtual ~GpuReader() = default;
  virtual const std::vector<GpuInfo>& gpus() const = 0;  // whole GPUs, in NVML's order
  virtual std::string why_absent() const = 0;  // reason if there is no GPU; "" if there may be GPUs
  // Reads the GPU at `position` in gpus(). Values that are slow to query are queried less often.
  // The readings of such values have the time of the last query.
  virtual GpuSample read(std::size_t position) = 0;
};

double thread_cpu_s();   // CPU time used by this thread
double process_cpu_s();  // CPU time used by all threads

// Makes a reader that uses NVML. Never throws. cpu_s: the clock that measures the cost of NVML's
// calls.
std::unique_ptr<GpuReader> make_nvml_reader(Clock& clock = system_clock(),
                                            double (*cpu_s)() = &thread_cpu_s);

}  // namespace lockstep
