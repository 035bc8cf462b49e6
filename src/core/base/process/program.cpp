// Finds the folder of the running program.
#include "core/base/process/program.h"

namespace lockstep {

std::filesystem::path program_folder() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path();
}

}  // namespace lockstep
