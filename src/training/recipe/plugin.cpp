// Looks up the two symbols of a plugin (training/recipe/register.h). With CUDA sources,
// lockstep_plugin() adds further symbols (cmake/PluginKernels.cmake), which are looked up too.
#include "training/recipe/plugin.h"

#include "built_with.h"
#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/base/version.h"

#include <dlfcn.h>

#include <cstdlib>
#include <map>
#include <string>

namespace lockstep {

namespace {

std::filesystem::path normal(const std::filesystem::path& library) {
  return std::filesystem::absolute(library).lexically_normal();
}

// Loaded plugins, each with the library of its kernels; "" if it has none.
std::map<std::filesystem::path, std::filesystem::path>& loaded() {
  static std::map<std::filesystem::path, std::filesystem::path> all;
  return all;
}

using Word = const char* (*)();

void* open_library(const std::filesystem::path& path, int mode, const std::string& what,
                   const std::string& hint) {
  void* handle = dlopen(path.c_str(), mode);
  if (handle != nullptr) return handle;
  const char* reason = dlerror();
  throw Error(cat("could not load ", what, " ", path.string(), ": ",
                  reason == nullptr ? "unknown" : reason),
              hint);
}

void load_kernels(const std::filesystem::path& plugin, const std::filesystem::path& path) {
  if (!std::filesystem::exists(path))
    throw Error(cat("plugin ", plugin.string(), " was built with CUDA kernels, but ", path.string(),
                    " is not there"),
                "keep both libraries in one folder, or build the plugin again");
  void* handle = open_library(path, RTLD_NOW | RTLD_LOCAL, "the kernels of a plugin,",
                              "build the plugin again against this installation");
  auto version = reinterpret_cast<Word>(dlsym(handle, "lockstep_kernels_version"));
  if (version == nullptr || std::string(version()) != plugin_version())
    throw Error(
        cat(path.string(), " was built against Lockstep ",
            version == nullptr ? "(unknown)" : version(), ", but this is ", plugin_version()),
        "build the plugin again against this installation");
}

}  // namespace

const char* plugin_version() {
  static const std::string all = cat(version(), " torch ", LOCKSTEP_TORCH_VERSION);
  return all.c_str();
}

void load_plugin(const std::filesystem::path& library) {
  const std::filesystem::path path = normal(library);
  if (!std::filesystem::exists(path))
    throw Error(cat("there is no plugin ", path.string()),
                "give the path of the library that you built");
  void* handle = open_library(path, RTLD_LAZY | RTLD_LOCAL, "plugin",
                              "build it with find_package(lockstep) against this installation");
  auto version = reinterpret_cast<Word>(dlsym(handle, "lockstep_plugin_version"));
  auto enter = reinterpret_cast<void (*)()>(dlsym(handle, "lockstep_plugin_register"));
  if (version == nullptr || enter == nullptr)
    throw Error(cat(path.string(), " is not a Lockstep plugin"),
                "put LOCKSTEP_PLUGIN(…) into one of its sources");
  if (std::string(version()) != plugin_version())
    throw Error(cat("plugin ", path.string(), " was built against Lockstep ", version(),
                    ", but this is ", plugin_version()),
                "build the plugin again against this installation");
  enter();
  auto kernels = reinterpret_cast<Word>(dlsym(handle, "lockstep_plugin_kernels"));
  loaded()[path] = kernels == nullptr ? "" : path.parent_path() / kernels();
}

void load_plugin_kernels() {
  const char* const wish = std::getenv("LOCKSTEP_KERNELS");
  if (wish != nullptr && std::string(wish) == "aten") return;
  for (const auto& [plugin, kernels] : loaded())
    if (!kernels.empty()) load_kernels(plugin, kernels);
}

bool is_loaded(const std::filesystem::path& library) { return loaded().contains(normal(library)); }

}  // namespace lockstep
