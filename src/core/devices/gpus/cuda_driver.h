// Gets the order of the GPUs from the CUDA driver, for cases in which it cannot be derived from the
// environment.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace lockstep {

// Returns the UUIDs without "GPU-" or "MIG-", in the order of CUDA's ordinals in the environment of
// this process. Opens libcuda.so.1, or the library in LOCKSTEP_CUDA_DRIVER, by dlopen. Creates no
// CUDA context, but may take some hundred milliseconds. Returns nothing if the driver is absent or
// does not answer. Never throws.
std::optional<std::vector<std::string>> cuda_device_uuids();

}  // namespace lockstep
