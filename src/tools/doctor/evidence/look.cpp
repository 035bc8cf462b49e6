#include "tools/doctor/evidence/look.h"

#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/clock.h"
#include "core/devices/device_list.h"
#include "runtime/run/events/json_lines.h"
#include "tools/monitor/process_info.h"
#include "tools/monitor/recording.h"

namespace lockstep {
namespace {

constexpr double look_up_s = 0.1;
// if a reading takes longer than this, the look waits for it
constexpr double slow_reading_s = 0.3;

int gpus_of_host(const std::filesystem::path& root) {
  std::error_code ignored;
  int count = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(root / "proc/driver/nvidia/gpus", ignored))
    count += entry.is_directory(ignored) ? 1 : 0;
  return count;
}

}  // namespace

Evidence evidence_of(GpuProbe& probe, const HostInfo& host, const std::vector<GpuInfo>& gpus,
                     const LookOptions& options) {
  Evidence evidence{.gpus = gpus, .driver = probe.driver_version(), .no_gpus = probe.why_absent()};
  const DeviceList list =
      list_devices(probe, host, {.root = options.root, .ask_cuda = options.ask_cuda});
  const auto faults = gpu_faults(options.root / "dev/kmsg");
  for (GpuInfo& gpu : evidence.gpus) {
    GpuPlace place;
    if (const auto found = faults.find(gpu.pci_bus_id); found != faults.end())
      place.faults = found->second;
    for (const ListedGpu& listed : list.gpus) {
      if (listed.gpu.index != gpu.index) continue;
      if (listed.gpu.uuid.starts_with("MIG-")) ++place.mig_instances;
      place.device_file = listed.device_file;
      place.denied = listed.denied;
      place.compute_mode = listed.details.compute_mode;
      place.mig = listed.details.mig;
      place.default_power_limit_w = listed.details.default_power_limit_w;
      place.ecc_uncorrected = listed.details.ecc_uncorrected;
      place.remap_pending = listed.details.remap_pending;
      place.remap_failed = listed.details.remap_failed;
      if (!listed.gpu.uuid.starts_with("MIG-")) gpu.fault = listed.gpu.fault;
      gpu.memory_total_bytes = listed.gpu.memory_total_bytes;
      gpu.compute_major = listed.gpu.compute_major;
      gpu.compute_minor = listed.gpu.compute_minor;
    }
    if (const std::optional<GpuLinks> links = probe.links(gpu.uuid)) {
      place.pcie_generation = links->pcie_generation;
      place.pcie_lanes = links->pcie_lanes;
    }
    evidence.places.push_back(std::move(place));
  }
  evidence.gpus_of_host = gpus_of_host(options.root);
  evidence.numbers_of_host = may_have_numbers_of_host(options.root / "proc");
  evidence.cores = host.cores;
  for (char** variable = environ; *variable; ++variable) {
    const std::string_view entry(*variable);
    const std::string name(entry.substr(0, entry.find('=')));
    if (name.size() < entry.size() && is_telling_variable(name))
      evidence.environment[name] = entry.substr(name.size() + 1);
  }
  evidence.subject = options.subject;
  // The function is called only if GPUs differ. For equal GPUs, CUDA's order by speed is the order
  // on the bus.
  cuda_order(evidence.gpus, nullptr, nullptr, [&] {
    if (options.ask_cuda) evidence.cuda_fastest = options.ask_cuda();
    return evidence.cuda_fastest;
  });
  return evidence;
}

bool look(Evidence& evidence, Sampler& sampler, const LookOptions& options,
          const std::function<bool()>& stopped) {
  Clock& clock = system_clock();
  evidence.samples.clear();
  evidence.snapshots.clear();
  const auto snap = [&](const MonitorSample& sample) {
    evidence.snapshots.push_back(snapshot_of(clock.now_s(), pids_of(sample), options.root));
  };
  double end = 0;
  for (long long seen = 0; !stopped();) {
    const auto sample = sampler.next(seen, look_up_s);
    if (!sample && sampler.hanging_s() > driver_patience_s) return false;
    if (sample) {
      seen = sample->number;
      if (evidence.samples.empty()) {
        snap(*sample);
        end = clock.now_s() + options.duration_s;
      }
      evidence.samples.push_back(*sample);
    }
    // If the driver stopped answering, this waits longer, so that the hang is reported.
    if (end > 0 && clock.now_s() >= end && sampler.hanging_s() < slow_reading_s) break;
  }
  if (!evidence.samples.empty()) snap(evidence.samples.back());
  return true;
}

std::string recording_of(const Evidence& evidence) {
  SampleRecorder recorder(evidence.gpus);
  const double wall_s = evidence.samples.empty() ? 0 : evidence.samples.front().wall_s;
  std::string text = recorder.head(wall_s, place_json(evidence));
  const FindProcess find = [&](int pid) -> std::optional<ProcessInfo> {
    for (const ProcessSnapshot& snapshot : evidence.snapshots)
      if (const auto found = snapshot.processes.find(pid); found != snapshot.processes.end())
        return ProcessInfo{.user = found->second.user,
                           .command = found->second.command,
                           .age_s = found->second.age_s};
    return std::nullopt;
  };
  if (!evidence.snapshots.empty())
    text += to_line(snapshot_json(evidence.snapshots.front())) + "\n";
  for (const MonitorSample& sample : evidence.samples) text += recorder.lines(sample, find);
  if (evidence.snapshots.size() > 1)
    text += to_line(snapshot_json(evidence.snapshots.back())) + "\n";
  return text;
}

}  // namespace lockstep
