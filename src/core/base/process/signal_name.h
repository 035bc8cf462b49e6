// The names of the signals that end programs.
#pragma once

namespace lockstep {

// Returns a name such as "SIGINT", or "a signal" for a signal that rarely ends programs.
const char* signal_name(int number);

}  // namespace lockstep
