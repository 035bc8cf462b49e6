// Chooses a port for programs that listen themselves.
#pragma once

namespace lockstep {

int choose_free_loopback_port();  // free now, but another process may take it; throws Error

}  // namespace lockstep
