// Libraries that cuDNN loads by their bare names, which it would find in a CUDA toolkit only.
#pragma once

#include <string>
#include <vector>

namespace lockstep {

// Loads NVRTC and what it loads in turn from where LibTorch's CUDA runtime lies: the wheels put
// them beside each other, but NVRTC does not look there, and without them cuDNN compiles no kernel,
// attention's for example. Python's torch does the same when it is imported. Returns the paths;
// none where a toolkit or nobody brings them.
std::vector<std::string> preload_nvrtc();

}  // namespace lockstep
