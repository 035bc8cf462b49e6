// The interface of sources of samples: the GPUs of this machine, or a recording.
#pragma once

#include <memory>
#include <vector>

#include "tools/monitor/gpu/gpu_reader.h"

namespace lockstep {

struct MonitorSample {
  long long number = 0;         // number of the sample, from 1
  double wall_s = 0, at_s = 0;  // when reading began, in Unix time and on the monotonic clock
  double reading_s = 0;         // time in calls to the driver
  // CPU cores that this process used since the previous sample; 0.005 is 0.5 % of a core.
  double self_cpu = 0;
  std::vector<GpuSample> gpus;  // the GPUs that were read, in the order of the source
};

// A driver call that takes longer is reported as hanging.
constexpr double driver_patience_s = 5;

class SampleSource {
 public:
  virtual ~SampleSource() = default;
  // Waits for a sample with a number above `seen`, and returns it. Returns null if none comes
  // within timeout_s.
  virtual std::shared_ptr<const MonitorSample> next(long long seen, double timeout_s) = 0;
  // Returns the duration of the driver call in progress; 0 if there is none. May be called on any
  // thread.
  virtual double hanging_s() const { return 0; }
  virtual bool ended() const { return false; }  // whether no further sample will come
};

}  // namespace lockstep
