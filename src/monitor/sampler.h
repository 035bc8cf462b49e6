// Reads all GPUs again and again, in a thread of its own: a driver call that hangs holds up nobody
// else.
#pragma once

#include <memory>
#include <vector>

#include "base/clock.h"
#include "monitor/gpu_reader.h"
#include "monitor/sample_source.h"

namespace lockstep {

class Sampler final : public SampleSource {
 public:
  // reader must outlive the thread: where a call hangs for ever, that is the process (see
  // abandon()).
  Sampler(std::shared_ptr<GpuReader> reader, std::vector<std::size_t> positions, double interval_s,
          Clock& clock = system_clock());
  ~Sampler() override;  // waits for the call that is under way
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  std::shared_ptr<const MonitorSample> next(long long seen, double timeout_s) override;
  double hanging_s() const override;
  // Leaves the thread to itself, with all that it uses: the driver does not come back.
  void abandon();

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace lockstep
