// GpuProbe over NVIDIA's management library, loaded at run time so that no driver is needed.
#include <dlfcn.h>

#include <cstdlib>

#include "base/text.h"
#include "devices/gpu_probe.h"
#include "devices/nvml_api.h"
#include "devices/nvml_links.h"

namespace lockstep {
namespace {

// "" or the name of the first required function that the library lacks.
std::string load_functions(void* library, nvml::Api& api) {
  std::string missing;
  auto load = [&](const char* name, auto& function, bool required) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    if (!function && required && missing.empty()) missing = name;
  };
#define LOCKSTEP_LOAD(name, required) load(#name, api.name, required)
  LOCKSTEP_LOAD(nvmlInit_v2, true);
  LOCKSTEP_LOAD(nvmlShutdown, true);
  LOCKSTEP_LOAD(nvmlErrorString, true);
  LOCKSTEP_LOAD(nvmlSystemGetDriverVersion, true);
  LOCKSTEP_LOAD(nvmlSystemGetCudaDriverVersion_v2, true);
  LOCKSTEP_LOAD(nvmlDeviceGetCount_v2, true);
  LOCKSTEP_LOAD(nvmlDeviceGetHandleByIndex_v2, true);
  LOCKSTEP_LOAD(nvmlDeviceGetHandleByUUID, true);
  LOCKSTEP_LOAD(nvmlDeviceGetUUID, true);
  LOCKSTEP_LOAD(nvmlDeviceGetName, true);
  LOCKSTEP_LOAD(nvmlDeviceGetPciInfo_v3, true);
  LOCKSTEP_LOAD(nvmlDeviceGetMemoryInfo, true);
  LOCKSTEP_LOAD(nvmlDeviceGetCudaComputeCapability, true);
  LOCKSTEP_LOAD(nvmlDeviceGetUtilizationRates, true);
  LOCKSTEP_LOAD(nvmlDeviceGetMemoryInfo_v2, false);
  LOCKSTEP_LOAD(nvmlDeviceGetMigMode, false);
  LOCKSTEP_LOAD(nvmlDeviceGetMaxMigDeviceCount, false);
  LOCKSTEP_LOAD(nvmlDeviceGetMigDeviceHandleByIndex, false);
  LOCKSTEP_LOAD(nvmlDeviceGetNvLinkState, false);
  LOCKSTEP_LOAD(nvmlDeviceGetNvLinkRemoteDeviceType, false);
  LOCKSTEP_LOAD(nvmlDeviceGetNvLinkRemotePciInfo_v2, false);
  LOCKSTEP_LOAD(nvmlDeviceGetFieldValues, false);
  LOCKSTEP_LOAD(nvmlDeviceGetMaxPcieLinkGeneration, false);
  LOCKSTEP_LOAD(nvmlDeviceGetMaxPcieLinkWidth, false);
#undef LOCKSTEP_LOAD
  return missing;
}

void* open_library(std::string& why) {
  const char* chosen = std::getenv("LOCKSTEP_NVML");
  if (chosen && *chosen) {
    void* library = dlopen(chosen, RTLD_NOW | RTLD_LOCAL);
    if (!library) why = cat("LOCKSTEP_NVML: ", dlerror());
    return library;
  }
  // The second is where Windows Subsystem for Linux keeps it.
  for (const char* name : {"libnvidia-ml.so.1", "/usr/lib/wsl/lib/libnvidia-ml.so.1"}) {
    if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
  }
  why = "no NVIDIA driver: libnvidia-ml.so.1 is not installed";
  return nullptr;
}

class NvmlProbe final : public GpuProbe {
 public:
  NvmlProbe() {
    library_ = open_library(why_absent_);
    if (!library_) return;
    if (const std::string missing = load_functions(library_, api_); !missing.empty()) {
      why_absent_ = cat("the NVIDIA management library is too old: it lacks ", missing);
      return;
    }
    const nvml::Return result = api_.nvmlInit_v2();
    started_ = result == nvml::success;
    if (!started_) why_absent_ = cat("the NVIDIA driver does not answer: ", error_text(result));
  }
  NvmlProbe(const NvmlProbe&) = delete;
  NvmlProbe& operator=(const NvmlProbe&) = delete;
  ~NvmlProbe() override {
    if (started_) api_.nvmlShutdown();
    if (library_) dlclose(library_);
  }

  std::vector<GpuInfo> gpus() override;
  std::string why_absent() const override { return why_absent_; }

  std::string driver_version() override {
    char text[nvml::text_length] = {};
    if (!started_ || api_.nvmlSystemGetDriverVersion(text, sizeof text) != nvml::success) return "";
    return text;
  }

  int cuda_driver_version() override {
    int version = 0;
    if (!started_ || api_.nvmlSystemGetCudaDriverVersion_v2(&version) != nvml::success) return 0;
    return version;
  }

  std::optional<int> utilization_percent(const std::string& uuid) override {
    nvml::Device device = nullptr;
    nvml::Utilization rates{};
    if (!started_ || api_.nvmlDeviceGetHandleByUUID(uuid.c_str(), &device) != nvml::success ||
        api_.nvmlDeviceGetUtilizationRates(device, &rates) != nvml::success) {
      return std::nullopt;
    }
    return static_cast<int>(rates.gpu);
  }

  std::optional<GpuLinks> links(const std::string& uuid) override {
    nvml::Device device = nullptr;
    if (!started_ || uuid.starts_with("MIG-") ||
        api_.nvmlDeviceGetHandleByUUID(uuid.c_str(), &device) != nvml::success) {
      return std::nullopt;
    }
    return read_links(api_, device);
  }

 private:
  std::string error_text(nvml::Return result) const {
    const char* text = api_.nvmlErrorString(result);
    return text ? text : cat("NVML error ", result);
  }
  GpuInfo describe_gpu(nvml::Device device, int index) const;
  std::vector<nvml::Device> mig_instances(nvml::Device device) const;

  void* library_ = nullptr;
  nvml::Api api_;
  bool started_ = false;
  std::string why_absent_;
};

GpuInfo NvmlProbe::describe_gpu(nvml::Device device, int index) const {
  GpuInfo info{.index = index};
  char text[nvml::text_length] = {};
  if (api_.nvmlDeviceGetName(device, text, sizeof text) == nvml::success) info.name = text;
  const nvml::Return result = api_.nvmlDeviceGetUUID(device, text, sizeof text);
  if (result == nvml::success) {
    info.uuid = text;
  } else {
    info.fault = error_text(result);
  }
  nvml::PciInfo pci{};
  if (api_.nvmlDeviceGetPciInfo_v3(device, &pci) == nvml::success) {
    info.pci_bus_id = pci_bus_id(pci);
  }
  nvml::MemoryV2 newer{.version = nvml::memory_v2_version};
  nvml::Memory older{};
  if (api_.nvmlDeviceGetMemoryInfo_v2 &&
      api_.nvmlDeviceGetMemoryInfo_v2(device, &newer) == nvml::success) {
    info.memory_total_bytes = newer.total;
    info.memory_used_bytes = newer.used;
  } else if (api_.nvmlDeviceGetMemoryInfo(device, &older) == nvml::success) {
    info.memory_total_bytes = older.total;
    info.memory_used_bytes = older.used;
  }
  int major = 0, minor = 0;
  if (api_.nvmlDeviceGetCudaComputeCapability(device, &major, &minor) == nvml::success) {
    info.compute_major = major;
    info.compute_minor = minor;
  }
  return info;
}

// The parts of a GPU that is split by MIG; CUDA can use only them then, not the whole.
std::vector<nvml::Device> NvmlProbe::mig_instances(nvml::Device device) const {
  std::vector<nvml::Device> instances;
  unsigned mode = 0, pending = 0, most = 0;
  if (!api_.nvmlDeviceGetMigMode || !api_.nvmlDeviceGetMaxMigDeviceCount ||
      !api_.nvmlDeviceGetMigDeviceHandleByIndex ||
      api_.nvmlDeviceGetMigMode(device, &mode, &pending) != nvml::success || mode == 0 ||
      api_.nvmlDeviceGetMaxMigDeviceCount(device, &most) != nvml::success) {
    return instances;
  }
  for (unsigned i = 0; i < most; ++i) {
    nvml::Device instance = nullptr;
    if (api_.nvmlDeviceGetMigDeviceHandleByIndex(device, i, &instance) == nvml::success) {
      instances.push_back(instance);
    }
  }
  return instances;
}

std::vector<GpuInfo> NvmlProbe::gpus() {
  std::vector<GpuInfo> found;
  unsigned count = 0;
  if (!started_ || api_.nvmlDeviceGetCount_v2(&count) != nvml::success) return found;
  for (unsigned i = 0; i < count; ++i) {
    const int index = static_cast<int>(i);
    nvml::Device device = nullptr;
    const nvml::Return result = api_.nvmlDeviceGetHandleByIndex_v2(i, &device);
    if (result == nvml::no_permission) continue;  // another container's
    if (result != nvml::success) {
      found.push_back({.index = index, .name = "NVIDIA GPU", .fault = error_text(result)});
      continue;
    }
    const GpuInfo whole = describe_gpu(device, index);
    const std::vector<nvml::Device> instances = mig_instances(device);
    if (instances.empty()) found.push_back(whole);
    for (nvml::Device instance : instances) {
      GpuInfo part = describe_gpu(instance, index);
      part.pci_bus_id = whole.pci_bus_id;
      part.compute_major = whole.compute_major;
      part.compute_minor = whole.compute_minor;
      found.push_back(part);
    }
  }
  return found;
}

}  // namespace

std::unique_ptr<GpuProbe> make_nvml_probe() { return std::make_unique<NvmlProbe>(); }

}  // namespace lockstep
