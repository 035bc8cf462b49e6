// Evidence made by hand, for tests of what follows from it.
#pragma once

#include "core/base/text/text.h"
#include "fakes/fake_reader.h"
#include "tools/doctor/evidence/evidence.h"

namespace lockstep::testing {

// Idle GPUs that nobody is on, looked at twice, two seconds apart.
inline Evidence made_evidence(int gpus) {
  Evidence evidence;
  for (int i = 0; i < gpus; ++i)
    evidence.gpus.push_back({.index = i,
                             .uuid = cat("GPU-", i, "aaa"),
                             .name = "NVIDIA H200",
                             .memory_total_bytes = 1 << 30});
  evidence.places.resize(evidence.gpus.size());
  for (const double at_s : {1.0, 3.0}) {
    MonitorSample sample{.number = static_cast<long long>(at_s), .at_s = at_s};
    for (int i = 0; i < gpus; ++i) {
      GpuSample gpu;
      gpu.processes_known = true;
      gpu[GpuMetric::gpu_busy] = measured(0, at_s);
      gpu[GpuMetric::sm_active] = measured(0, at_s);
      sample.gpus.push_back(gpu);
    }
    evidence.samples.push_back(sample);
    evidence.snapshots.push_back({.at_s = at_s});
  }
  return evidence;
}

// In both looks.
inline void add_process(Evidence& evidence, ProcessEvidence process) {
  if (process.command.empty()) process.command = "python3 train.py";
  for (ProcessSnapshot& snapshot : evidence.snapshots) snapshot.processes[process.pid] = process;
}

inline void put_on(Evidence& evidence, int pid, std::size_t gpu, std::uint64_t bytes = 1 << 20) {
  for (MonitorSample& sample : evidence.samples)
    sample.gpus.at(gpu).processes.push_back({.pid = pid, .memory_bytes = bytes});
}

}  // namespace lockstep::testing
