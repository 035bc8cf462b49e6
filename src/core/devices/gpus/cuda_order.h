// Finds the ordinal that CUDA gives each GPU in a given environment: 1 for cuda:1.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/devices/gpus/gpu_probe.h"

namespace lockstep {

struct CudaOrder {
  // one element per GPU; not set if the GPU is hidden or its ordinal is unknown
  std::vector<std::optional<int>> ordinals;
  // false if the ordinals cannot be determined
  bool known = true;
  std::string note;  // a note for the user about anything unusual; "" if there is nothing
};

// A function such as cuda_device_uuids(), which asks the driver for the order.
using AskCuda = std::function<std::optional<std::vector<std::string>>()>;

// visible, order: the values of CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER, or null. ask: called
// only if these values do not determine the order. That is so if there is a MIG instance or a GPU
// with a fault. It may also be so if the GPUs are of different models, because CUDA by default
// sorts GPUs by speed.
CudaOrder cuda_order(const std::vector<GpuInfo>& gpus, const char* visible, const char* order,
                     const AskCuda& ask);

}  // namespace lockstep
