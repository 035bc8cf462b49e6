// Loads liblockstep-cuda.so when, and only when, a plan has GPUs.
#include "backends/backend.h"
#include "core/base/error.h"
#include "core/base/text/text.h"

#include <dlfcn.h>

#include <filesystem>

namespace lockstep {
namespace {

std::filesystem::path own_folder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&own_folder), &info) == 0 || info.dli_fname == nullptr)
    return {};
  return std::filesystem::absolute(info.dli_fname).parent_path();
}

Backend& load() {
  const std::filesystem::path path = own_folder() / "liblockstep-cuda.so";
  if (!std::filesystem::exists(path))
    throw Error(cat("this build has no GPU support: ", path.string(), " is not there"),
                "build on a machine with a GPU, or with -DLOCKSTEP_CUDA=ON; or use --devices cpu");
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) {
    const char* reason = dlerror();
    throw Error(
        cat("could not load ", path.string(), ": ", reason == nullptr ? "unknown" : reason),
        "the LibTorch it was built for must be complete and reachable (see docs/guide/install.md)");
  }
  using Entry = Backend* (*)();
  auto entry = reinterpret_cast<Entry>(dlsym(library, "lockstep_cuda_backend"));
  if (entry == nullptr) throw Error(cat(path.string(), " is not Lockstep's CUDA library"));
  return *entry();
}

}  // namespace

Backend& cuda_backend() {
  static Backend& backend = load();
  return backend;
}

}  // namespace lockstep
