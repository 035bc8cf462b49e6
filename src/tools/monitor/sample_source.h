// Sources of samples: the GPUs of this machine, or a recording.
#pragma once

#include <memory>
#include <vector>

#include "tools/monitor/gpu/gpu_reader.h"

namespace lockstep {

struct MonitorSample {
  long long number = 0;         // 1 for the first
  double wall_s = 0, at_s = 0;  // unix time; and monotonic clock when reading began
  double reading_s = 0;         // time in calls to the driver
  double self_cpu = 0;  // cores that this process used since the previous sample, 0.005 = 0.5 %
  std::vector<GpuSample> gpus;  // as GpuReader::gpus()
};

constexpr double driver_patience_s = 5;  // how long a driver call may take before it counts as
                                         // hanging

class SampleSource {
 public:
  virtual ~SampleSource() = default;
  // The newest sample, once its number exceeds `seen`; nothing after timeout_s.
  virtual std::shared_ptr<const MonitorSample> next(long long seen, double timeout_s) = 0;
  // Duration of the driver call in progress; 0 between calls. Any thread.
  virtual double hanging_s() const { return 0; }
  virtual bool ended() const { return false; }  // no further sample will come
};

}  // namespace lockstep
