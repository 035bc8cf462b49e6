// CUDA's numbering of the GPUs in a given environment.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/devices/gpus/gpu_probe.h"

namespace lockstep {

struct CudaOrder {
  std::vector<std::optional<int>> ordinals;  // by GPU; nothing: hidden, or unknown
  bool known = true;
  std::string note;  // anything unusual, for people; "" if there is nothing
};

// Returns the UUIDs in the driver's own order, as cuda_device_uuids() does. Nothing if the driver
// does not answer.
using AskCuda = std::function<std::optional<std::vector<std::string>>()>;

// visible, order: the values of CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER, or null. `ask` is
// called only if they do not determine the order. This is so with different models of GPUs, which
// CUDA sorts by speed, with MIG instances, and with a GPU that has a fault.
CudaOrder cuda_order(const std::vector<GpuInfo>& gpus, const char* visible, const char* order,
                     const AskCuda& ask);

}  // namespace lockstep
