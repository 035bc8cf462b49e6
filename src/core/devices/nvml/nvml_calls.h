// Queries that take several NVML calls.
#pragma once

#include <vector>

#include "core/devices/nvml/nvml_api.h"

namespace lockstep {

// The parts of a GPU that is split by MIG; CUDA can use only them then, not the whole.
std::vector<nvml::Device> mig_instances(const nvml::Api& api, nvml::Device device);

// Into total and used, by the newest function that there is. `used` leaves out what the driver
// keeps for itself, from driver 510 on.
nvml::Return read_memory(const nvml::Api& api, nvml::Device device, nvml::Memory& memory);

}  // namespace lockstep
