// Gathers evidence on this machine.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tools/doctor/evidence/evidence.h"
#include "tools/monitor/sampler.h"

namespace lockstep {

struct LookOptions {
  double duration_s = 3, interval_s = 0.2;
  std::optional<int> subject;
  std::filesystem::path root = "/";
  AskCuda ask_cuda;
};

// Returns the evidence about the devices, without samples and processes. gpus: the GPUs that will
// be sampled.
Evidence evidence_of(GpuProbe& probe, const HostInfo& host, const std::vector<GpuInfo>& gpus,
                     const LookOptions& options);

// Adds samples over options.duration_s, and facts from /proc at the beginning and at the end.
// stopped: called repeatedly; if it returns true, the observation ends early. Returns false if the
// driver has not answered for 5 s. The thread of `sampler` then hangs (see Sampler::abandon).
bool look(Evidence& evidence, Sampler& sampler, const LookOptions& options,
          const std::function<bool()>& stopped);

// Returns the whole evidence as a recording, without secrets.
std::string recording_of(const Evidence& evidence);

}  // namespace lockstep
