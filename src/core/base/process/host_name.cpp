// The name of this machine.
#include "core/base/process/host_name.h"

#include <unistd.h>

#include <array>

namespace lockstep {

std::string host_name() {
  std::array<char, 256> name{};
  const bool known = gethostname(name.data(), name.size() - 1) == 0 && name[0] != '\0';
  return known ? name.data() : "unknown host";
}

}  // namespace lockstep
