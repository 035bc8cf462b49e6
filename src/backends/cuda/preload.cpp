// NVRTC from the wheels, before cuDNN asks for it.
#include "backends/cuda/preload.h"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>

// From the CUDA runtime, declared here so that this compiles without its headers.
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

// Files of a folder whose names begin so; variants such as libnvrtc.alt.so are others.
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
  // CUDA 13's wheels share a folder; CUDA 12's have one each.
  for (const fs::path& folder : {runtime, runtime / "../../cuda_nvrtc/lib"})
    for (const char* begin : {"libnvrtc-builtins.so.", "libnvrtc.so."})
      for (const std::string& path : libraries(folder, begin))
        if (dlopen(path.c_str(), RTLD_LAZY | RTLD_GLOBAL) != nullptr) loaded.push_back(path);
  return loaded;
}

}  // namespace lockstep
