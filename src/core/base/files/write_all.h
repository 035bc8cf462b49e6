// Writes all bytes to a descriptor.
#pragma once

#include <string_view>

namespace lockstep {

// Waits if the descriptor is non-blocking and not ready. Returns false on an error, and errno then
// has the reason. Async-signal-safe.
bool write_all(int fd, std::string_view bytes);

}  // namespace lockstep
