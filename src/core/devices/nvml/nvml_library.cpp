#include "core/devices/nvml/nvml_library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <type_traits>

#include "core/base/text/text.h"

namespace lockstep {
namespace {

// Loads all functions. Returns the first missing function that is required, or "" if there is none.
std::string load_functions(void* library, nvml::Api& api) {
  auto load = [&](const char* name, auto& function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    return function != nullptr;
  };
  std::string missing;
#define LOCKSTEP_LOAD(name) load(#name, api.name)
#define LOCKSTEP_NEED(name) \
  if (!load(#name, api.name) && missing.empty()) missing = #name
  LOCKSTEP_NEED(nvmlInit_v2);
  LOCKSTEP_NEED(nvmlDeviceGetCount_v2);
  LOCKSTEP_NEED(nvmlDeviceGetHandleByIndex_v2);
  LOCKSTEP_NEED(nvmlDeviceGetUUID);
  LOCKSTEP_LOAD(nvmlShutdown);
  LOCKSTEP_LOAD(nvmlErrorString);
  LOCKSTEP_LOAD(nvmlSystemGetDriverVersion);
  LOCKSTEP_LOAD(nvmlSystemGetCudaDriverVersion_v2);
  LOCKSTEP_LOAD(nvmlDeviceGetHandleByUUID);
  LOCKSTEP_LOAD(nvmlDeviceGetName);
  LOCKSTEP_LOAD(nvmlDeviceGetPciInfo_v3);
  LOCKSTEP_LOAD(nvmlDeviceGetMemoryInfo);
  LOCKSTEP_LOAD(nvmlDeviceGetMemoryInfo_v2);
  LOCKSTEP_LOAD(nvmlDeviceGetCudaComputeCapability);
  LOCKSTEP_LOAD(nvmlDeviceGetUtilizationRates);
  LOCKSTEP_LOAD(nvmlDeviceGetMigMode);
  LOCKSTEP_LOAD(nvmlDeviceGetMaxMigDeviceCount);
  LOCKSTEP_LOAD(nvmlDeviceGetMigDeviceHandleByIndex);
  LOCKSTEP_LOAD(nvmlDeviceGetNvLinkState);
  LOCKSTEP_LOAD(nvmlDeviceGetNvLinkVersion);
  LOCKSTEP_LOAD(nvmlDeviceGetNvLinkRemoteDeviceType);
  LOCKSTEP_LOAD(nvmlDeviceGetNvLinkRemotePciInfo_v2);
  LOCKSTEP_LOAD(nvmlDeviceGetFieldValues);
  LOCKSTEP_LOAD(nvmlDeviceGetMaxPcieLinkGeneration);
  LOCKSTEP_LOAD(nvmlDeviceGetMaxPcieLinkWidth);
  LOCKSTEP_LOAD(nvmlDeviceGetMinorNumber);
  LOCKSTEP_LOAD(nvmlDeviceGetEnforcedPowerLimit);
  LOCKSTEP_LOAD(nvmlDeviceGetPowerManagementDefaultLimit);
  LOCKSTEP_LOAD(nvmlDeviceGetComputeMode);
  LOCKSTEP_LOAD(nvmlDeviceGetTotalEccErrors);
  LOCKSTEP_LOAD(nvmlDeviceGetRemappedRows);
  LOCKSTEP_LOAD(nvmlDeviceGetTopologyCommonAncestor);
  LOCKSTEP_LOAD(nvmlDeviceGetPowerUsage);
  LOCKSTEP_LOAD(nvmlDeviceGetTotalEnergyConsumption);
  LOCKSTEP_LOAD(nvmlDeviceGetTemperature);
  LOCKSTEP_LOAD(nvmlDeviceGetClockInfo);
  LOCKSTEP_LOAD(nvmlDeviceGetMaxClockInfo);
  LOCKSTEP_LOAD(nvmlDeviceGetCurrentClocksEventReasons);
  LOCKSTEP_LOAD(nvmlDeviceGetCurrentClocksThrottleReasons);
  LOCKSTEP_LOAD(nvmlDeviceGetPcieThroughput);
  LOCKSTEP_LOAD(nvmlDeviceGetCurrPcieLinkGeneration);
  LOCKSTEP_LOAD(nvmlDeviceGetCurrPcieLinkWidth);
  LOCKSTEP_LOAD(nvmlDeviceGetComputeRunningProcesses_v3);
  LOCKSTEP_LOAD(nvmlDeviceGetComputeRunningProcesses_v2);
  LOCKSTEP_LOAD(nvmlDeviceGetComputeRunningProcesses);
  LOCKSTEP_LOAD(nvmlDeviceGetMPSComputeRunningProcesses_v3);
  LOCKSTEP_LOAD(nvmlDeviceGetGraphicsRunningProcesses_v3);
  LOCKSTEP_LOAD(nvmlDeviceGetGraphicsRunningProcesses_v2);
  LOCKSTEP_LOAD(nvmlDeviceGetGraphicsRunningProcesses);
  LOCKSTEP_LOAD(nvmlDeviceGetProcessUtilization);
  LOCKSTEP_LOAD(nvmlGpmQueryDeviceSupport);
  LOCKSTEP_LOAD(nvmlGpmSampleAlloc);
  LOCKSTEP_LOAD(nvmlGpmSampleFree);
  LOCKSTEP_LOAD(nvmlGpmSampleGet);
  LOCKSTEP_LOAD(nvmlGpmMetricsGet);
#undef LOCKSTEP_NEED
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
  // The second path is used by Windows Subsystem for Linux.
  for (const char* name : {"libnvidia-ml.so.1", "/usr/lib/wsl/lib/libnvidia-ml.so.1"}) {
    if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
  }
  why = "no NVIDIA driver: libnvidia-ml.so.1 is not installed";
  return nullptr;
}

}  // namespace

NvmlLibrary::NvmlLibrary() {
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

NvmlLibrary::~NvmlLibrary() {
  if (started_ && api_.nvmlShutdown) api_.nvmlShutdown();
  if (library_) dlclose(library_);
}

std::string NvmlLibrary::error_text(nvml::Return result) const {
  const char* text = api_.nvmlErrorString ? api_.nvmlErrorString(result) : nullptr;
  return text ? text : cat("NVML error ", result);
}

}  // namespace lockstep
