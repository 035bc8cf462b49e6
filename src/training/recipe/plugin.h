// Loads a recipe from a shared library outside this repository.
#pragma once

#include <filesystem>

namespace lockstep {

// The exact versions of Lockstep and torch against which a plugin must have been built, such as
// "0.1.0 torch 2.11.0".
const char* plugin_version();

// Opens the library with dlopen(), compares its version and registers its recipe. The library stays
// loaded. Throws Error if the library does not exist, is not a plugin, or was built against other
// versions.
void load_plugin(const std::filesystem::path& library);
// Loads the CUDA kernels of all loaded plugins that have kernels: libNAME-cuda.so, next to
// libNAME.so. Call it on GPUs, after the CUDA backend was loaded. Loads nothing if the environment
// variable LOCKSTEP_KERNELS is "aten". Throws Error if a library does not exist, cannot be loaded,
// or was built against other versions.
void load_plugin_kernels();
bool is_loaded(const std::filesystem::path& library);

}  // namespace lockstep
