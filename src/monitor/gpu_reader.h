// Reads the metrics and processes of GPUs, behind an interface with a data-driven fake.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "devices/gpu_probe.h"
#include "monitor/metrics.h"

namespace lockstep {

struct GpuProcess {
  int pid = 0;  // as NVML gives it: in a container possibly that of the host
  bool graphics = false;
  std::optional<std::uint64_t> memory_bytes;
  std::optional<double> sm_percent;  // mean over the driver's last second or so; nothing: no sample
  double sm_at_s = 0;                // when that was read, on the monotonic clock
};

struct GpuSample {
  std::array<Reading, metric_count> readings;
  std::vector<GpuProcess> processes;  // by pid
  bool processes_known = false;
  std::string fault;  // the GPU does not answer ("GPU is lost"); "" it does

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
  // Of GPU number `position` in gpus(). What takes long is asked for less often: its reading keeps
  // the time at which it was had.
  virtual GpuSample read(std::size_t position) = 0;
};

double thread_cpu_s();   // that this thread has used
double process_cpu_s();  // that all threads have

// Never throws. cpu_s: by which it knows what its calls cost.
std::unique_ptr<GpuReader> make_nvml_reader(Clock& clock = system_clock(),
                                            double (*cpu_s)() = &thread_cpu_s);

}  // namespace lockstep
