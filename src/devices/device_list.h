// Everything that `lockstep devices` shows: each GPU under all of its numbers, and what joins them.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "devices/cuda_order.h"
#include "devices/gpu_probe.h"

namespace lockstep {

struct ListedGpu {
  GpuInfo gpu;
  GpuDetails details;
  std::optional<int> cuda;  // ordinal in this environment; nothing: hidden, or not known
  std::string device_file;  // "/dev/nvidia0"; "" unknown
  std::string denied;  // why it cannot be opened; "" it can, or it is not known which file it is
  std::optional<int> numa_node;
  std::string cpus;  // near to it, "0-31,64-95"; "" unknown
};

// Of two whole GPUs by their NVML indexes, a < b.
struct GpuPair {
  int a = 0, b = 0;
  int nvlinks = 0;         // that join them, or each of them to the switch
  bool by_switch = false;  // NVSwitch
  std::string nvlink_version;
  std::optional<PciePath> pcie;
};

struct DeviceList {
  std::vector<ListedGpu> gpus;
  std::vector<GpuPair> pairs;
  bool cuda_known = true;   // whether the ordinals are
  std::string driver;       // "580.159.04"; "" none, or unknown
  int cuda_version = 0;     // that the driver offers, 13000 for 13.0; 0 unknown
  std::string no_gpus;      // why there are none; "" if there are
  std::vector<Device> cpu;  // the ranks of a run without GPUs
  HostInfo host;
  std::vector<std::string> notes;  // what a user should know, a sentence each
};

struct DeviceSurroundings {
  const char* visible = nullptr;  // CUDA_VISIBLE_DEVICES
  const char* order = nullptr;    // CUDA_DEVICE_ORDER
  int cuda_needed = 0;            // as of select_devices
  std::filesystem::path root = "/";
  AskCuda ask_cuda;
};

// Never throws over what it finds.
DeviceList list_devices(GpuProbe& probe, const HostInfo& host, const DeviceSurroundings& around);

std::string to_text(const DeviceList& list);
nlohmann::json to_json(const DeviceList& list);  // null where a value is not known

}  // namespace lockstep
