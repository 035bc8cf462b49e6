// lockstep-worker of the wheel. It does not depend on LibTorch: it finds the torch of its Python
// environment, loads that torch's libraries, and then the engine that was built for this version.
#include "core/base/error.h"
#include "core/base/process/program.h"
#include "core/base/text/say.h"
#include "core/base/text/text.h"
#include "worker/loader/installed_torch.h"

#include <dlfcn.h>

#include <exception>
#include <filesystem>

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using Main = int (*)(int, char**);

// All libraries that are loaded later use the symbols of this one.
void* load(const fs::path& path) {
  if (void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL)) return library;
  const char* const reason = dlerror();
  throw Error(cat("cannot load ", path.string(), ": ", reason == nullptr ? "unknown" : reason),
              "install torch again, for this machine's kind of processor");
}

Main load_engine() {
  const fs::path prefix = program_folder().parent_path();
  const InstalledTorch torch = find_torch(prefix);
  const fs::path engine = engine_for(prefix / "lib/lockstep", torch);
  for (const char* name : {"libc10.so", "libtorch_cpu.so"}) load(torch.folder / "lib" / name);
  const fs::path worker = engine / "liblockstep-worker.so";
  void* const entry = dlsym(load(worker), "lockstep_worker_main");
  if (entry == nullptr)
    throw Error(cat(worker.string(), " is not Lockstep's worker"), "install Lockstep again");
  return reinterpret_cast<Main>(entry);
}

}  // namespace
}  // namespace lockstep

int main(int argc, char** argv) {
  constexpr int exit_usage = 2;
  lockstep::Main worker_main = nullptr;
  try {
    worker_main = lockstep::load_engine();
  } catch (const lockstep::Error& error) {
    lockstep::say_error(error.what(), error.hint());
    return exit_usage;
  } catch (const std::exception& error) {
    lockstep::say_error(error.what());
    return exit_usage;
  }
  return worker_main(argc, argv);
}
