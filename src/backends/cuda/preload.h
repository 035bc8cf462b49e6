// Loads libraries that cuDNN later opens by name alone. Without this, cuDNN finds these libraries
// only in an installed CUDA toolkit.
#pragma once

#include <string>
#include <vector>

namespace lockstep {

// Loads NVRTC and its library of built-ins. They are in the folders of the CUDA wheels, next to the
// CUDA runtime that this process uses. The library cuDNN needs NVRTC to compile kernels, for
// example for attention. Python's torch also loads it on import. Returns the paths of the loaded
// libraries. The result is empty if they are not in these folders.
std::vector<std::string> preload_nvrtc();

}  // namespace lockstep
