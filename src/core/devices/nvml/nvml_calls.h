// Queries that need several NVML calls.
#pragma once

#include <vector>

#include "core/devices/nvml/nvml_api.h"

namespace lockstep {

// Returns the MIG instances of a GPU; empty if it has none. If a GPU has MIG instances, CUDA can
// use only these and not the GPU as a whole.
std::vector<nvml::Device> mig_instances(const nvml::Api& api, nvml::Device device);

// Sets `total` and `used` with the newest memory function that the library has. From driver 510 on,
// `used` does not include the memory that the driver reserves.
nvml::Return read_memory(const nvml::Api& api, nvml::Device device, nvml::Memory& memory);

}  // namespace lockstep
