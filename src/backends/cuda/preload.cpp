// Loads NVRTC from the Python wheels before cuDNN needs it.
#include "backends/cuda/preload.h"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>

// A function of the CUDA runtime. It is declared here so that this file compiles without the CUDA
// headers.
extern "C" int cudaGetDeviceCount(int* count);

namespace lockstep {
namespace {

namespace fs = std::filesystem;

// The folder of the CUDA runtime that this process has loaded.
fs::path runtime_folder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&cudaGetDeviceCount), &info) == 0 || info.dli_fname == nullptr)
    return {};
  return fs::path(info.dli_fname).parent_path();
}

// Returns the files in a folder whose names start with `begin`. Variants such as libnvrtc.alt.so do
// not match.
std::vector<std::string> libraries(const fs::path& folder, const std::string& begin) {
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().filename().string().starts_with(begin)) found.push_back(entry.path().string());
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

std::vector<std::string> preload_nvrtc() {
  std::vector<std::string> loaded;
  const fs::path runtime = runtime_folder();
  // CUDA 13's wheels share a folder. Each of CUDA 12's wheels has its own.
  for (const fs::path& folder : {runtime, runtime / "../../cuda_nvrtc/lib"})
    for (const char* begin : {"libnvrtc-builtins.so.", "libnvrtc.so."})
      for (const std::string& path : libraries(folder, begin))
        if (dlopen(path.c_str(), RTLD_LAZY | RTLD_GLOBAL) != nullptr) loaded.push_back(path);
  return loaded;
}

}  // namespace lockstep
