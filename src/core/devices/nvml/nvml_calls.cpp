#include "core/devices/nvml/nvml_calls.h"

namespace lockstep {

std::vector<nvml::Device> mig_instances(const nvml::Api& api, nvml::Device device) {
  std::vector<nvml::Device> instances;
  unsigned mode = 0, pending = 0, most = 0;
  if (nvml::ask(api.nvmlDeviceGetMigMode, device, &mode, &pending) != nvml::success || mode == 0 ||
      nvml::ask(api.nvmlDeviceGetMaxMigDeviceCount, device, &most) != nvml::success)
    return instances;
  for (unsigned i = 0; i < most; ++i) {
    nvml::Device instance = nullptr;
    if (nvml::ask(api.nvmlDeviceGetMigDeviceHandleByIndex, device, i, &instance) == nvml::success)
      instances.push_back(instance);
  }
  return instances;
}

nvml::Return read_memory(const nvml::Api& api, nvml::Device device, nvml::Memory& memory) {
  nvml::MemoryV2 newer{.version = nvml::memory_v2_version};
  if (nvml::ask(api.nvmlDeviceGetMemoryInfo_v2, device, &newer) != nvml::success)
    return nvml::ask(api.nvmlDeviceGetMemoryInfo, device, &memory);
  memory.total = newer.total;
  memory.used = newer.used;
  return nvml::success;
}

}  // namespace lockstep
