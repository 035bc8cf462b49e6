// Preloads libraries that cuDNN loads by their bare names. Without this, cuDNN would find them only
// in a CUDA toolkit.
#pragma once

#include <string>
#include <vector>

namespace lockstep {

// Loads NVRTC and its dependencies from the folder of LibTorch's CUDA runtime. The wheels install
// them in the same folder, but NVRTC does not search there. Without them cuDNN cannot compile
// kernels, for example for attention. Python's torch does the same on import. Returns the paths.
// Returns none if a toolkit provides the libraries, or if they are not found.
std::vector<std::string> preload_nvrtc();

}  // namespace lockstep
