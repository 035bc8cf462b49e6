// Collects the data that `lockstep devices` shows: the GPUs with their properties, and the links
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
  // The ordinal that CUDA gives the GPU in this environment. Not set if CUDA_VISIBLE_DEVICES hides
  // the GPU, or if the ordinal is unknown.
  std::optional<int> cuda;
  std::string device_file;  // "/dev/nvidia0"; "" if unknown
  std::string denied;  // why device_file cannot be opened; "" if it can be opened or is unknown
  std::optional<int> numa_node;
  std::string cpus;  // CPU cores of the same NUMA node: "0-31,64-95"; "" if unknown
};

// The links between two GPUs (not MIG instances). a, b: their indexes in NVML, with a < b.
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
  bool cuda_known = true;  // false if the ordinals `cuda` of the GPUs are unknown
  // the driver's version: "580.159.04"; "" if there is no driver or it is unknown
  std::string driver;
  // The CUDA version that the driver supports: 13000 for 13.0. 0 if unknown.
  int cuda_version = 0;
  std::string no_gpus;      // why there are no GPUs; "" if there are some
  std::vector<Device> cpu;  // the devices of the ranks in a run without GPUs
  HostInfo host;
  std::vector<std::string> notes;  // advice for the user; each is one sentence
};

struct DeviceSurroundings {
  const char* visible = nullptr;  // value of CUDA_VISIBLE_DEVICES, or null
  const char* order = nullptr;    // value of CUDA_DEVICE_ORDER, or null
  int cuda_needed = 0;            // as in select_devices
  std::filesystem::path root = "/";
  AskCuda ask_cuda;
};

// Collects the list. Never throws.
DeviceList list_devices(GpuProbe& probe, const HostInfo& host, const DeviceSurroundings& around);

std::string to_text(const DeviceList& list);
nlohmann::json to_json(const DeviceList& list);  // unknown values are null

}  // namespace lockstep
