// Loads a recipe from a shared library outside this repository.
#pragma once

#include <filesystem>

namespace lockstep {

// The versions that a plugin must have been built against, exactly: "0.1.0 torch 2.11.0".
const char* plugin_version();

// dlopen()s the library, compares its version and registers its recipe; the library stays loaded.
// Throws Error: not there, not a plugin, built against another version (both named).
void load_plugin(const std::filesystem::path& library);
// On a GPU, once its backend is there: loads the CUDA kernels of all loaded plugins that have some,
// libNAME-cuda.so beside libNAME.so; none with LOCKSTEP_KERNELS=aten. Throws Error: not there,
// cannot be loaded, of another version.
void load_plugin_kernels();
bool is_loaded(const std::filesystem::path& library);

}  // namespace lockstep
