// The names of the signals that end programs.
#pragma once

namespace lockstep {

// "SIGINT"; "a signal" for a rare one.
const char* signal_name(int number);

}  // namespace lockstep
