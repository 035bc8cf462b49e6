// Gathers evidence on this machine.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "doctor/evidence.h"
#include "monitor/sampler.h"

namespace lockstep {

struct LookOptions {
  double duration_s = 3, interval_s = 0.2;
  std::optional<int> subject;
  std::filesystem::path root = "/";
  AskCuda ask_cuda;
};

// What the devices are, without samples and processes. gpus: those that will be sampled.
Evidence evidence_of(GpuProbe& probe, const HostInfo& host, const std::vector<GpuInfo>& gpus,
                     const LookOptions& options);

// Adds samples and what /proc says at the begin and the end of them, over options.duration_s.
// stopped: asked again and again; true ends it early. False if the driver has not answered for 5 s:
// then `sampler` hangs (see Sampler::abandon).
bool look(Evidence& evidence, Sampler& sampler, const LookOptions& options,
          const std::function<bool()>& stopped);

// All of it as a recording; secrets are left out.
std::string recording_of(const Evidence& evidence);

}  // namespace lockstep
