// Chooses a port for programs that open the listening socket themselves.
#pragma once

namespace lockstep {

// Returns a port that is free now. Another process may take it before the program does. Throws
// Error if no port is free.
int choose_free_loopback_port();

}  // namespace lockstep
