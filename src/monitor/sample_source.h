// Where samples come from: the GPUs of this machine, or a recording.
#pragma once

#include <memory>
#include <vector>

#include "monitor/gpu_reader.h"

namespace lockstep {

struct MonitorSample {
  long long number = 0;         // 1 for the first
  double wall_s = 0, at_s = 0;  // unix time; monotonic clock, when reading began
  double reading_s = 0;         // that the calls to the driver took
  double self_cpu = 0;  // cores that this process used since the sample before, 0.005 = 0.5 %
  std::vector<GpuSample> gpus;  // as GpuReader::gpus()
};

constexpr double driver_patience_s = 5;  // with a call to the driver that does not come back

class SampleSource {
 public:
  virtual ~SampleSource() = default;
  // The newest sample, if it comes after number `seen`, or nothing after timeout_s.
  virtual std::shared_ptr<const MonitorSample> next(long long seen, double timeout_s) = 0;
  // How long the call to the driver that is under way has taken; 0 between calls. Any thread.
  virtual double hanging_s() const { return 0; }
  virtual bool ended() const { return false; }  // no sample will come any more
};

}  // namespace lockstep
