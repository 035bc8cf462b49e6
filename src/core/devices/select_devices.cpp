// Turns the argument of --devices into the devices of the run.
#include <algorithm>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/base/whole_number.h"
#include "core/devices/cpu_ranks.h"
#include "core/devices/gpus/driver_traces.h"
#include "core/devices/gpus/gpu_probe.h"
#include "core/devices/gpus/gpu_support.h"
#include "core/devices/gpus/visible_gpus.h"

namespace lockstep {
namespace {

std::vector<Device> as_devices(const std::vector<GpuInfo>& chosen, const HostInfo& host) {
  std::vector<Device> devices;
  for (const GpuInfo& gpu : chosen) {
    devices.push_back({.kind = DeviceKind::cuda,
                       .index = gpu.index,
                       .uuid = gpu.uuid,
                       .name = gpu.name,
                       .pci_bus_id = gpu.pci_bus_id,
                       .memory_bytes = gpu.memory_total_bytes.value_or(0),
                       .compute_major = gpu.compute_major,
                       .compute_minor = gpu.compute_minor,
                       .threads = std::max(1, host.cores / static_cast<int>(chosen.size()))});
  }
  return devices;
}

std::string choices(const std::vector<GpuInfo>& visible) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < visible.size(); ++i) words.push_back(cat(i, " ", visible[i].name));
  return cat("there are ", join(words, ", "), "; or all, cpu, cpu:N");
}

// Finds the GPU of one word of the list, such as "0" or "GPU-…".
GpuInfo find_gpu(const std::string& word, const std::vector<GpuInfo>& all,
                 const std::vector<GpuInfo>& visible) {
  if (is_uuid(word)) {
    const std::vector<int> matches = find_by_uuid(visible, word);
    if (matches.size() == 1) return visible[matches[0]];
    if (matches.size() > 1) {
      throw Error(cat("\"", word, "\" is the start of ", matches.size(), " GPUs' UUIDs"),
                  "give more of it; nvidia-smi -L prints them whole");
    }
    if (!find_by_uuid(all, word).empty()) {
      throw Error(cat("GPU ", word, " is hidden by CUDA_VISIBLE_DEVICES"),
                  "change or unset CUDA_VISIBLE_DEVICES");
    }
    if (word.starts_with("MIG-")) return {.uuid = word, .name = "MIG instance"};
    throw Error(cat("there is no GPU with the UUID ", word), choices(visible));
  }
  const auto index = whole_number<std::size_t>(word);
  if (!index) {
    throw Error(cat("--devices must be all, cpu, cpu:N, or a list of GPUs' indexes or UUIDs, but ",
                    "has \"", word, "\""),
                choices(visible));
  }
  if (*index >= visible.size()) {
    throw Error(
        cat("there is no GPU ", word,
            visible.size() < all.size() ? " among those that CUDA_VISIBLE_DEVICES shows" : ""),
        choices(visible));
  }
  return visible[*index];
}

bool looks_like_gpus(const std::string& spec) {
  return is_uuid(spec) || (!spec.empty() && spec.find_first_not_of("0123456789, ") == spec.npos);
}

// Throws Error because `spec` names GPUs, but none is available.
[[noreturn]] void refuse(const std::string& spec, const GpuProbe& probe, const std::string& traces,
                         const char* visible) {
  if (hides_all(visible)) {
    throw Error(cat("--devices ", spec, " asks for GPUs, but CUDA_VISIBLE_DEVICES=\"", visible,
                    "\" hides them all"),
                "unset CUDA_VISIBLE_DEVICES, or use --devices cpu");
  }
  const std::string why = probe.why_absent();
  if (!traces.empty() && !why.empty()) {
    throw Error(
        cat("this machine has NVIDIA hardware (", traces, "), but ", why),
        "install or reload the NVIDIA driver (does nvidia-smi work?), or use --devices cpu");
  }
  throw Error(cat("--devices ", spec, " asks for GPUs, but there are none here",
                  why.empty() ? "" : cat(" (", why, ")")),
              "use --devices cpu");
}

}  // namespace

std::vector<Device> select_devices(const std::string& spec, GpuProbe& probe, const HostInfo& host,
                                   const char* visible, int cuda_needed,
                                   const std::filesystem::path& root) {
  std::string wanted = trim(spec);
  if (wanted == "auto") wanted = "all";
  if (auto ranks = parse_cpu_ranks(wanted, host)) return *ranks;

  const std::vector<GpuInfo> all = probe.gpus();
  const std::vector<GpuInfo> left = visible_gpus(all, visible);
  std::vector<GpuInfo> chosen;
  if (wanted == "all") {
    if (left.empty()) {
      // A broken driver must not look like a machine without GPUs, because training on CPUs is far
      // slower.
      const std::string traces = probe.why_absent().empty() ? "" : driver_traces(root);
      if (!traces.empty() && !hides_all(visible)) refuse(wanted, probe, traces, visible);
      return default_cpu_ranks(host);
    }
    chosen = left;
  } else {
    if (left.empty() && looks_like_gpus(wanted)) {
      refuse(wanted, probe, driver_traces(root), visible);
    }
    if (left.empty()) {
      throw Error(cat("--devices must be all, cpu or cpu:N on this machine, but is \"", spec, "\""),
                  "there is no GPU to choose; see: lockstep devices");
    }
    for (const std::string& part : split(wanted, ',')) {
      const GpuInfo gpu = find_gpu(trim(part), all, left);
      const auto same = [&](const GpuInfo& other) {
        return other.uuid == gpu.uuid && other.index == gpu.index;
      };
      if (std::any_of(chosen.begin(), chosen.end(), same)) {
        throw Error(cat("--devices ", spec, " names GPU ", gpu.index, " (", gpu.name, ") twice"),
                    "name each device once: one process runs on each");
      }
      chosen.push_back(gpu);
    }
  }
  check_gpus(chosen, left);
  check_driver(probe, cuda_needed);
  return as_devices(chosen, host);
}

std::vector<Device> still_answering(const std::vector<Device>& devices, GpuProbe& probe) {
  const std::vector<GpuInfo> gpus = probe.gpus();
  std::vector<Device> left;
  for (const Device& device : devices)
    if (device.kind == DeviceKind::cpu ||
        std::any_of(gpus.begin(), gpus.end(), [&](const GpuInfo& gpu) {
          return gpu.uuid == device.uuid && gpu.fault.empty();
        }))
      left.push_back(device);
  return left;
}

}  // namespace lockstep
