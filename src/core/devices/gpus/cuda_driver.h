// Gets the order of the GPUs from the CUDA driver. This is needed if the environment does not
// determine the order (cuda_order.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace lockstep {

// Returns the UUIDs of the GPUs that CUDA shows this process, in the order of CUDA's ordinals. They
// lack the prefix "GPU-" or "MIG-". Loads libcuda.so.1, or the library that LOCKSTEP_CUDA_DRIVER
// names, with dlopen. Creates no CUDA context, but may take some hundred milliseconds. Returns
// nothing if there is no driver or it does not answer. Never throws.
std::optional<std::vector<std::string>> cuda_device_uuids();

}  // namespace lockstep
