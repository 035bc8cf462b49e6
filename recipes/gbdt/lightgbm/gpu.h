// The GPU on which LightGBM trains. Checks before training that it exists, and returns its name.
#pragma once

#include <string>

#include "recipes/gbdt/lightgbm/library.h"
#include "recipes/gbdt/lightgbm/parameters.h"

namespace lockstep::gbdt {

// Chooses the GPU of resolved parameters. For OpenCL, adds platform and device (opencl.h);
// `platform` is as there. For CUDA, checks that a driver and the device exist, because without them
// LightGBM ends the process. Returns the name, such as "NVIDIA H200" or "NVIDIA CUDA: NVIDIA H200";
// "" on the CPU. Throws Error.
std::string choose_gpu(const LightGbm& library, const std::string& platform,
                       Parameters& parameters);

}  // namespace lockstep::gbdt
