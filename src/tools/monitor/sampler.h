// Reads all GPUs repeatedly on its own thread. A hanging driver call then blocks no other thread.
#pragma once

#include <memory>
#include <vector>

#include "core/base/clock.h"
#include "tools/monitor/gpu/gpu_reader.h"
#include "tools/monitor/sample_source.h"

namespace lockstep {

class Sampler final : public SampleSource {
 public:
  // Everything that `reader` uses must outlive the thread. If a driver call hangs forever, the
  // thread lives until the process ends (see abandon()). positions: indexes in reader->gpus() of
  // the GPUs to read.
  Sampler(std::shared_ptr<GpuReader> reader, std::vector<std::size_t> positions, double interval_s,
          Clock& clock = system_clock());
  ~Sampler() override;  // waits for the driver call in progress
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  std::shared_ptr<const MonitorSample> next(long long seen, double timeout_s) override;
  double hanging_s() const override;
  // Detaches the thread. Call it if a driver call does not return. The thread keeps everything that
  // it uses.
  void abandon();

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace lockstep
