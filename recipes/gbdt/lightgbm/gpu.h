// Chooses the GPU on which LightGBM will train, and checks before training that it exists.
#pragma once

#include <string>

#include "recipes/gbdt/lightgbm/library.h"
#include "recipes/gbdt/lightgbm/parameters.h"

namespace lockstep::gbdt {

// Chooses the GPU for resolved parameters (resolve_parameters). platform: the option
// gbdt.gpu_platform. For OpenCL, adds platform and device to `parameters` as choose_opencl_device
// does. For CUDA, checks that a driver and the device exist, because LightGBM would otherwise end
// the process. Returns a name such as "NVIDIA H200" or "NVIDIA CUDA: NVIDIA H200", or an empty text
// for the CPU. Throws Error if the requested GPU or its driver does not exist.
std::string choose_gpu(const LightGbm& library, const std::string& platform,
                       Parameters& parameters);

}  // namespace lockstep::gbdt
