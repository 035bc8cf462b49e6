// Reads all GPUs again and again, in a thread of its own: a driver call that hangs holds up nobody
// else.
#pragma once

#include <memory>
#include <vector>

#include "base/clock.h"
#include "monitor/gpu_reader.h"

namespace lockstep {

struct MonitorSample {
  long long number = 0;         // 1 for the first
  double wall_s = 0, at_s = 0;  // unix time; monotonic clock, when reading began
  double reading_s = 0;         // that the calls to the driver took
  double self_cpu = 0;  // cores that this process used since the sample before, 0.005 = 0.5 %
  std::vector<GpuSample> gpus;  // as GpuReader::gpus()
};

class Sampler {
 public:
  // reader must outlive the thread: where a call hangs for ever, that is the process (see
  // abandon()).
  Sampler(std::shared_ptr<GpuReader> reader, std::vector<std::size_t> positions, double interval_s,
          Clock& clock = system_clock());
  ~Sampler();  // waits for the call that is under way
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  // The first sample after number `seen`, or nothing after timeout_s.
  std::shared_ptr<const MonitorSample> next(long long seen, double timeout_s);
  // How long the call that is under way has taken; 0 between calls.
  double hanging_s() const;
  // Leaves the thread to itself, with all that it uses: the driver does not come back.
  void abandon();

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace lockstep
