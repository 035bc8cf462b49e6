// Writes all bytes to a descriptor.
#pragma once

#include <string_view>

namespace lockstep {

// Waits if the descriptor would block. Returns false on an error (errno). Async-signal-safe.
bool write_all(int fd, std::string_view bytes);

}  // namespace lockstep
