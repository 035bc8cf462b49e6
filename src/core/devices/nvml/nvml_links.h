// Reads the links of a GPU through NVML.
#pragma once

#include <optional>

#include "core/devices/gpus/gpu_links.h"
#include "core/devices/nvml/nvml_api.h"

namespace lockstep {

// Returns nothing if the library or the GPU cannot report the links.
std::optional<GpuLinks> read_links(const nvml::Api& api, nvml::Device device);

std::string pci_bus_id(const nvml::PciInfo& pci);  // "0000:65:00.0"

}  // namespace lockstep
