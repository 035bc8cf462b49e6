// Writing all of some bytes to a descriptor.
#pragma once

#include <string_view>

namespace lockstep {

// All of it, waiting where the descriptor would block; false on an error (errno).
// Async-signal-safe.
bool write_all(int fd, std::string_view bytes);

}  // namespace lockstep
