// The CUDA driver's own enumeration, for cases where its order cannot be derived from outside.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace lockstep {

// UUIDs without "GPU-" or "MIG-", in the order of CUDA's ordinals under this process's environment.
// Opens libcuda.so.1, or the library in LOCKSTEP_CUDA_DRIVER, by dlopen. Creates no context, but
// may take some hundred milliseconds. Nothing if the driver is absent or does not answer; never
// throws.
std::optional<std::vector<std::string>> cuda_device_uuids();

}  // namespace lockstep
