// GpuProbe over NVIDIA's management library (NVML).
#include "core/base/text/text.h"
#include "core/devices/gpus/gpu_probe.h"
#include "core/devices/nvml/nvml_calls.h"
#include "core/devices/nvml/nvml_library.h"
#include "core/devices/nvml/nvml_links.h"

namespace lockstep {
namespace {

std::string compute_mode_text(int mode) {
  switch (mode) {
    case 0:
      return "default";
    case nvml::exclusive_thread:
      return "exclusive thread";
    case nvml::prohibited:
      return "prohibited";
    case nvml::exclusive_process:
      return "exclusive process";
    default:
      return cat("mode ", mode);
  }
}

class NvmlProbe final : public GpuProbe {
 public:
  std::vector<GpuInfo> gpus() override;
  std::string why_absent() const override { return library_.why_absent(); }

  std::string driver_version() override {
    char text[nvml::text_length] = {};
    const bool known = library_.started() && nvml::ask(api_.nvmlSystemGetDriverVersion, text,
                                                       unsigned{sizeof text}) == nvml::success;
    return known ? text : "";
  }

  int cuda_driver_version() override {
    int version = 0;
    if (library_.started()) nvml::ask(api_.nvmlSystemGetCudaDriverVersion_v2, &version);
    return version;
  }

  std::optional<int> utilization_percent(const std::string& uuid) override {
    nvml::Utilization rates{};
    const nvml::Device device = with_uuid(uuid);
    if (!device || nvml::ask(api_.nvmlDeviceGetUtilizationRates, device, &rates) != nvml::success)
      return std::nullopt;
    return static_cast<int>(rates.gpu);
  }

  std::optional<GpuLinks> links(const std::string& uuid) override {
    const nvml::Device device = uuid.starts_with("MIG-") ? nullptr : with_uuid(uuid);
    if (!device) return std::nullopt;
    return read_links(api_, device);
  }

  GpuDetails details(int index) override;
  std::optional<PciePath> path(int a, int b) override;

 private:
  nvml::Device with_uuid(const std::string& uuid) const {
    nvml::Device device = nullptr;
    const bool found = library_.started() && nvml::ask(api_.nvmlDeviceGetHandleByUUID, uuid.c_str(),
                                                       &device) == nvml::success;
    return found ? device : nullptr;
  }
  nvml::Device with_index(int index) const {
    nvml::Device device = nullptr;
    const bool found =
        library_.started() && nvml::ask(api_.nvmlDeviceGetHandleByIndex_v2,
                                        static_cast<unsigned>(index), &device) == nvml::success;
    return found ? device : nullptr;
  }
  GpuInfo describe_gpu(nvml::Device device, int index) const;

  NvmlLibrary library_;
  const nvml::Api& api_ = library_.api();
};

GpuInfo NvmlProbe::describe_gpu(nvml::Device device, int index) const {
  GpuInfo info{.index = index};
  char text[nvml::text_length] = {};
  if (nvml::ask(api_.nvmlDeviceGetName, device, text, unsigned{sizeof text}) == nvml::success)
    info.name = text;
  const nvml::Return result =
      nvml::ask(api_.nvmlDeviceGetUUID, device, text, unsigned{sizeof text});
  if (result == nvml::success) {
    info.uuid = text;
  } else {
    info.fault = library_.error_text(result);
  }
  nvml::PciInfo pci{};
  if (nvml::ask(api_.nvmlDeviceGetPciInfo_v3, device, &pci) == nvml::success) {
    info.pci_bus_id = pci_bus_id(pci);
  }
  if (nvml::Memory memory{}; read_memory(api_, device, memory) == nvml::success) {
    info.memory_total_bytes = memory.total;
    info.memory_used_bytes = memory.used;
  }
  int major = 0, minor = 0;
  if (nvml::ask(api_.nvmlDeviceGetCudaComputeCapability, device, &major, &minor) == nvml::success) {
    info.compute_major = major;
    info.compute_minor = minor;
  }
  return info;
}

std::vector<GpuInfo> NvmlProbe::gpus() {
  std::vector<GpuInfo> found;
  unsigned count = 0;
  if (!library_.started() || api_.nvmlDeviceGetCount_v2(&count) != nvml::success) return found;
  for (unsigned i = 0; i < count; ++i) {
    const int index = static_cast<int>(i);
    nvml::Device device = nullptr;
    const nvml::Return result = api_.nvmlDeviceGetHandleByIndex_v2(i, &device);
    if (result == nvml::no_permission) continue;  // a GPU of another container
    if (result != nvml::success) {
      found.push_back({.index = index, .name = "NVIDIA GPU", .fault = library_.error_text(result)});
      continue;
    }
    const GpuInfo whole = describe_gpu(device, index);
    const std::vector<nvml::Device> instances = mig_instances(api_, device);
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

GpuDetails NvmlProbe::details(int index) {
  GpuDetails details;
  const nvml::Device device = with_index(index);
  if (!device) return details;
  unsigned number = 0, pending = 0;
  int mode = 0;
  if (nvml::ask(api_.nvmlDeviceGetMinorNumber, device, &number) == nvml::success)
    details.minor = static_cast<int>(number);
  if (nvml::ask(api_.nvmlDeviceGetEnforcedPowerLimit, device, &number) == nvml::success)
    details.power_limit_w = number / 1000.0;
  if (nvml::ask(api_.nvmlDeviceGetPowerManagementDefaultLimit, device, &number) == nvml::success)
    details.default_power_limit_w = number / 1000.0;
  if (nvml::ask(api_.nvmlDeviceGetComputeMode, device, &mode) == nvml::success)
    details.compute_mode = compute_mode_text(mode);
  if (nvml::ask(api_.nvmlDeviceGetMigMode, device, &number, &pending) == nvml::success)
    details.mig = number == 1;
  unsigned long long errors = 0;
  if (nvml::ask(api_.nvmlDeviceGetTotalEccErrors, device, nvml::ecc_uncorrected,
                nvml::ecc_since_load, &errors) == nvml::success)
    details.ecc_uncorrected = errors;
  unsigned corrected = 0, uncorrected = 0, failed = 0;
  if (nvml::ask(api_.nvmlDeviceGetRemappedRows, device, &corrected, &uncorrected, &pending,
                &failed) == nvml::success) {
    details.remap_pending = pending != 0;
    details.remap_failed = failed != 0;
  }
  return details;
}

std::optional<PciePath> NvmlProbe::path(int a, int b) {
  const nvml::Device first = with_index(a), second = with_index(b);
  int level = 0;
  if (!first || !second ||
      nvml::ask(api_.nvmlDeviceGetTopologyCommonAncestor, first, second, &level) != nvml::success)
    return std::nullopt;
  switch (level) {
    case nvml::same_board:
      return PciePath::same_board;
    case nvml::one_switch:
      return PciePath::one_switch;
    case nvml::several_switches:
      return PciePath::several_switches;
    case nvml::host_bridge:
      return PciePath::host_bridge;
    case nvml::same_cpu:
      return PciePath::same_cpu;
    case nvml::same_machine:
      return PciePath::between_cpus;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::unique_ptr<GpuProbe> make_nvml_probe() { return std::make_unique<NvmlProbe>(); }

}  // namespace lockstep
