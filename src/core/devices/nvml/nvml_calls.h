// Queries that take several NVML calls.
#pragma once

#include <vector>

#include "core/devices/nvml/nvml_api.h"

namespace lockstep {

// Returns the MIG instances of a GPU; empty if it has none. If it has some, CUDA can use only
// these, not the whole GPU.
std::vector<nvml::Device> mig_instances(const nvml::Api& api, nvml::Device device);

// Fills `total` and `used` with the newest function of the library. From driver 510 on, `used` is
// without the memory that the driver reserves.
nvml::Return read_memory(const nvml::Api& api, nvml::Device device, nvml::Memory& memory);

}  // namespace lockstep
