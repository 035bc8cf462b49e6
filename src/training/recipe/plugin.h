// Loads a recipe from a shared library outside this repository.
#pragma once

#include <filesystem>

namespace lockstep {

// The versions that a plugin must have been built against, exactly: "0.1.0 torch 2.11.0".
const char* plugin_version();

// Opens the library with dlopen(), compares its version and registers its recipe. The library stays
// loaded. Throws Error if the library is not there, is not a plugin, or was built against another
// version (names both versions).
void load_plugin(const std::filesystem::path& library);
// Call it on a GPU when its backend is there. Loads the CUDA kernels of all loaded plugins that
// have kernels: libNAME-cuda.so, next to libNAME.so. Loads none with LOCKSTEP_KERNELS=aten. Throws
// Error if a library is not there, cannot be loaded, or has another version.
void load_plugin_kernels();
bool is_loaded(const std::filesystem::path& library);

}  // namespace lockstep
