// Finds the numbers that CUDA gives the GPUs in a given environment.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/devices/gpus/gpu_probe.h"

namespace lockstep {

struct CudaOrder {
  // for each GPU; not set if the GPU is hidden or the number is unknown
  std::vector<std::optional<int>> ordinals;
  bool known = true;
  std::string note;  // note for people about anything unusual; else ""
};

// Returns the UUIDs in the driver's own order, as cuda_device_uuids() does. Returns nothing if the
// driver does not answer.
using AskCuda = std::function<std::optional<std::vector<std::string>>()>;

// visible, order: the values of CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER, or null. ask: called
// only if these values do not determine the order. CUDA sorts different models of GPUs by speed.
// MIG instances and GPUs with a fault may also change the order.
CudaOrder cuda_order(const std::vector<GpuInfo>& gpus, const char* visible, const char* order,
                     const AskCuda& ask);

}  // namespace lockstep
