// Preloads libraries that cuDNN loads by their bare names, which it would only find in a CUDA
// toolkit.
#pragma once

#include <string>
#include <vector>

namespace lockstep {

// Loads NVRTC and its dependencies from the folder of LibTorch's CUDA runtime. The wheels install
// them side by side, but NVRTC does not search there, and without them cuDNN compiles no kernel,
// for attention for instance. Python's torch does the same on import. Returns the paths; none if a
// toolkit provides them or nothing does.
std::vector<std::string> preload_nvrtc();

}  // namespace lockstep
