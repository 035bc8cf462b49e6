// A port for programs that listen by themselves.
#pragma once

namespace lockstep {

int choose_free_loopback_port();  // free now; somebody else may take it. Throws Error

}  // namespace lockstep
