// What the CUDA driver itself enumerates, for the cases that cannot be told from outside.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace lockstep {

// UUIDs without "GPU-" or "MIG-" in the order of CUDA's ordinals, as this process's environment
// makes it: libcuda.so.1 by dlopen, or what LOCKSTEP_CUDA_DRIVER names. Makes no context, but may
// take some hundred milliseconds. Nothing if the driver is not there or does not answer; never
// throws.
std::optional<std::vector<std::string>> cuda_device_uuids();

}  // namespace lockstep
