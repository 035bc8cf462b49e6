// Everything that `lockstep devices` shows: each GPU with all of its numbers, and the links between
// GPUs.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/devices/gpus/cuda_order.h"
#include "core/devices/gpus/gpu_probe.h"

namespace lockstep {

struct ListedGpu {
  GpuInfo gpu;
  GpuDetails details;
  std::optional<int> cuda;  // ordinal in this environment; nothing: hidden, or not known
  std::string device_file;  // "/dev/nvidia0"; "" unknown
  std::string denied;       // why it cannot be opened; "" if it can, or if the file is unknown
  std::optional<int> numa_node;
  std::string cpus;  // CPUs near to it, "0-31,64-95"; "" unknown
};

// Two whole GPUs by their NVML indexes, a < b.
struct GpuPair {
  int a = 0, b = 0;
  int nvlinks = 0;         // number of NVLinks that join the two, or each of them to the switch
  bool by_switch = false;  // through an NVSwitch
  std::string nvlink_version;
  std::optional<PciePath> pcie;
};

struct DeviceList {
  std::vector<ListedGpu> gpus;
  std::vector<GpuPair> pairs;
  bool cuda_known = true;   // whether `cuda` of the GPUs is known
  std::string driver;       // "580.159.04"; "" none, or unknown
  int cuda_version = 0;     // CUDA version that the driver offers, 13000 for 13.0; 0 unknown
  std::string no_gpus;      // why there are no GPUs; "" if there are
  std::vector<Device> cpu;  // the ranks of a run without GPUs
  HostInfo host;
  std::vector<std::string> notes;  // advice for the user, a sentence each
};

struct DeviceSurroundings {
  const char* visible = nullptr;  // CUDA_VISIBLE_DEVICES
  const char* order = nullptr;    // CUDA_DEVICE_ORDER
  int cuda_needed = 0;            // as for select_devices
  std::filesystem::path root = "/";
  AskCuda ask_cuda;
};

// Does not throw, whatever it finds.
DeviceList list_devices(GpuProbe& probe, const HostInfo& host, const DeviceSurroundings& around);

std::string to_text(const DeviceList& list);
nlohmann::json to_json(const DeviceList& list);  // unknown values are null

}  // namespace lockstep
