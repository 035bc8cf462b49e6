// Collects everything that `lockstep devices` shows: each GPU with all its numbers, and the links
// between GPUs.
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
  // CUDA's ordinal in this environment. Not set if the GPU is hidden or the ordinal is unknown.
  std::optional<int> cuda;
  std::string device_file;  // "/dev/nvidia0"; "" if unknown
  std::string denied;       // reason if it cannot be opened; "" if it can, or if it is unknown
  std::optional<int> numa_node;
  std::string cpus;  // CPUs near the GPU: "0-31,64-95"; "" if unknown
};

// The links between two whole GPUs. a, b: their indexes in NVML, with a < b.
struct GpuPair {
  int a = 0, b = 0;
  int nvlinks = 0;         // number of NVLinks between the two, or from each of them to the switch
  bool by_switch = false;  // whether the NVLinks go through an NVSwitch
  std::string nvlink_version;
  std::optional<PciePath> pcie;
};

struct DeviceList {
  std::vector<ListedGpu> gpus;
  std::vector<GpuPair> pairs;
  bool cuda_known = true;  // whether `cuda` of the GPUs is known
  std::string driver;      // "580.159.04"; "" if there is none or it is unknown
  // The CUDA version that the driver supports: 13000 for 13.0. 0 if unknown.
  int cuda_version = 0;
  std::string no_gpus;      // reason if there are no GPUs; else ""
  std::vector<Device> cpu;  // the ranks of a run without GPUs
  HostInfo host;
  std::vector<std::string> notes;  // advice for the user; each is one sentence
};

struct DeviceSurroundings {
  const char* visible = nullptr;  // CUDA_VISIBLE_DEVICES
  const char* order = nullptr;    // CUDA_DEVICE_ORDER
  int cuda_needed = 0;            // as in select_devices
  std::filesystem::path root = "/";
  AskCuda ask_cuda;
};

// Never throws.
DeviceList list_devices(GpuProbe& probe, const HostInfo& host, const DeviceSurroundings& around);

std::string to_text(const DeviceList& list);
nlohmann::json to_json(const DeviceList& list);  // unknown values are null

}  // namespace lockstep
