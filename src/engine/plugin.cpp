// The two symbols of a plugin, see engine/register.h.
#include "engine/plugin.h"

#include "base/error.h"
#include "base/text.h"

#include <dlfcn.h>

#include <set>

namespace lockstep {

namespace {

std::filesystem::path normal(const std::filesystem::path& library) {
  return std::filesystem::absolute(library).lexically_normal();
}

std::set<std::filesystem::path>& loaded() {
  static std::set<std::filesystem::path> all;
  return all;
}

}  // namespace

const char* plugin_version() { return LOCKSTEP_PLUGIN_VERSION; }

void load_plugin(const std::filesystem::path& library) {
  const std::filesystem::path path = normal(library);
  if (!std::filesystem::exists(path))
    throw Error(cat("there is no plugin ", path.string()),
                "give the path of the library that you built");
  void* handle = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* reason = dlerror();
    throw Error(
        cat("could not load plugin ", path.string(), ": ", reason == nullptr ? "unknown" : reason),
        "build it with find_package(lockstep) against this installation");
  }
  auto version = reinterpret_cast<const char* (*)()>(dlsym(handle, "lockstep_plugin_version"));
  auto enter = reinterpret_cast<void (*)()>(dlsym(handle, "lockstep_plugin_register"));
  if (version == nullptr || enter == nullptr)
    throw Error(cat(path.string(), " is not a Lockstep plugin"),
                "put LOCKSTEP_PLUGIN(…) into one of its sources");
  if (std::string(version()) != plugin_version())
    throw Error(cat("plugin ", path.string(), " was built against Lockstep ", version(),
                    ", but this is ", plugin_version()),
                "build the plugin again against this installation");
  enter();
  loaded().insert(path);
}

bool is_loaded(const std::filesystem::path& library) { return loaded().contains(normal(library)); }

}  // namespace lockstep
