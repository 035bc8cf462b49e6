#include "core/devices/nvml/nvml_links.h"

#include <array>
#include <cstdio>

namespace lockstep {
namespace {

// MB/s of each active NVLink in one direction. 0 if the GPU does not report it.
unsigned nvlink_mb_per_s(const nvml::Api& api, nvml::Device device) {
  nvml::FieldValue field{.field = nvml::field_nvlink_speed};
  if (nvml::ask(api.nvmlDeviceGetFieldValues, device, 1, &field) != nvml::success ||
      field.result != nvml::success || field.type != nvml::value_is_unsigned)
    return 0;
  return field.value.as_unsigned;
}

std::string nvlink_version_text(unsigned version) {
  constexpr std::array names = {"", "1.0", "2.0", "2.2", "3.0", "3.1", "4.0", "5.0", "6.0"};
  return version < names.size() ? names[version] : "";
}

void read_nvlinks(const nvml::Api& api, nvml::Device device, GpuLinks& links) {
  for (unsigned link = 0; link < nvml::most_nvlinks; ++link) {
    unsigned active = 0, end = 0, version = 0;
    nvml::PciInfo pci{};
    if (nvml::ask(api.nvmlDeviceGetNvLinkState, device, link, &active) != nvml::success) return;
    if (active != 1) continue;
    if (nvml::ask(api.nvmlDeviceGetNvLinkVersion, device, link, &version) == nvml::success)
      links.nvlink_version = nvlink_version_text(version);
    // Drivers before 470 lack this function. They only give the PCI id of the other end, which is
    // mostly a GPU.
    const nvml::Return kind =
        nvml::ask(api.nvmlDeviceGetNvLinkRemoteDeviceType, device, link, &end);
    if (kind == nvml::function_not_found)
      end = nvml::nvlink_to_gpu;
    else if (kind != nvml::success)
      continue;
    if (end == nvml::nvlink_to_switch)
      ++links.switch_nvlinks;
    else if (end == nvml::nvlink_to_gpu && nvml::ask(api.nvmlDeviceGetNvLinkRemotePciInfo_v2,
                                                     device, link, &pci) == nvml::success)
      ++links.nvlinks[pci_bus_id(pci)];
  }
}

}  // namespace

std::string pci_bus_id(const nvml::PciInfo& pci) {
  char text[32];
  std::snprintf(text, sizeof text, "%04x:%02x:%02x.0", pci.domain, pci.bus, pci.device);
  return text;
}

std::optional<GpuLinks> read_links(const nvml::Api& api, nvml::Device device) {
  GpuLinks links;
  read_nvlinks(api, device, links);
  links.nvlink_bytes_per_s = nvlink_mb_per_s(api, device) * 1e6;
  unsigned generation = 0, lanes = 0;
  if (nvml::ask(api.nvmlDeviceGetMaxPcieLinkGeneration, device, &generation) == nvml::success &&
      nvml::ask(api.nvmlDeviceGetMaxPcieLinkWidth, device, &lanes) == nvml::success) {
    links.pcie_generation = static_cast<int>(generation);
    links.pcie_lanes = static_cast<int>(lanes);
  }
  return links;
}

}  // namespace lockstep
