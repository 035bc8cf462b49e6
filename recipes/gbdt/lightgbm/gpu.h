// The GPU that LightGBM is to train on: checks before training that it is there, and gives its
// name.
#pragma once

#include <string>

#include "recipes/gbdt/lightgbm/library.h"
#include "recipes/gbdt/lightgbm/parameters.h"

namespace lockstep::gbdt {

// Chooses the GPU of resolved parameters. By OpenCL: adds platform and device (opencl.h);
// `platform` as there. By CUDA: checks that there are a driver and the device, because without them
// LightGBM ends the process. Returns the name, as "NVIDIA H200" or "NVIDIA CUDA: NVIDIA H200"; ""
// on the CPU. Throws Error.
std::string choose_gpu(const LightGbm& library, const std::string& platform,
                       Parameters& parameters);

}  // namespace lockstep::gbdt
