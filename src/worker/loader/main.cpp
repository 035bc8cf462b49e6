// lockstep-worker of the wheel. It does not depend on LibTorch: it finds the torch of its Python
// environment, loads that torch's libraries, and then the engine that was built for this version.
#include "core/base/error.h"
#include "core/base/process/program.h"
#include "core/base/text/say.h"
#include "core/base/text/text.h"
#include "runtime/launch/engine/installed_torch.h"
#include "runtime/launch/launch.h"

#include <dlfcn.h>

#include <exception>
#include <filesystem>
#include <optional>

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
  const std::optional<WheelEngine> engine = find_engine(program_folder().parent_path());
  if (!engine)
    throw Error(
        cat("there is no engine in ", (program_folder().parent_path() / "lib/lockstep").string()),
        "install Lockstep again");
  for (const char* name : {"libc10.so", "libtorch_cpu.so"})
    load(engine->torch.folder / "lib" / name);
  const fs::path worker = engine->folder / "liblockstep-worker.so";
  void* const entry = dlsym(load(worker), "lockstep_worker_main");
  if (entry == nullptr)
    throw Error(cat(worker.string(), " is not Lockstep's worker"), "install Lockstep again");
  return reinterpret_cast<Main>(entry);
}

}  // namespace
}  // namespace lockstep

int main(int argc, char** argv) {
  lockstep::Main worker_main = nullptr;
  try {
    worker_main = lockstep::load_engine();
  } catch (const lockstep::Error& error) {
    lockstep::say_error(error.what(), error.hint());
    return lockstep::exit_usage;
  } catch (const std::exception& error) {
    lockstep::say_error(error.what());
    return lockstep::exit_usage;
  }
  return worker_main(argc, argv);
}
