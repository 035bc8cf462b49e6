// Queries that take several NVML calls.
#pragma once

#include <vector>

#include "core/devices/nvml/nvml_api.h"

namespace lockstep {

// The MIG instances of a GPU. CUDA can then use only these, not the whole GPU.
std::vector<nvml::Device> mig_instances(const nvml::Api& api, nvml::Device device);

// Fills total and used by the newest function that the library has. From driver 510 on, `used`
// leaves out what the driver keeps for itself.
nvml::Return read_memory(const nvml::Api& api, nvml::Device device, nvml::Memory& memory);

}  // namespace lockstep
