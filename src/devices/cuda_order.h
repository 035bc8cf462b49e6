// How CUDA numbers the GPUs in an environment.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "devices/gpu_probe.h"

namespace lockstep {

struct CudaOrder {
  std::vector<std::optional<int>> ordinals;  // of each GPU; nothing: hidden, or not known
  bool known = true;
  std::string note;  // what is out of the ordinary, for people; "" if nothing is
};

// The UUIDs in the driver's own order, as cuda_device_uuids() gives them. Empty: there is nobody to
// ask, as where the driver does not answer.
using AskCuda = std::function<std::optional<std::vector<std::string>>()>;

// visible, order: the values of CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER, or null. `ask` is
// called only where they do not settle it: unlike GPUs that CUDA sorts by speed, MIG instances, a
// GPU with a fault.
CudaOrder cuda_order(const std::vector<GpuInfo>& gpus, const char* visible, const char* order,
                     const AskCuda& ask);

}  // namespace lockstep
