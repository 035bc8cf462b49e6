// The names of the signals that end programs.
#pragma once

namespace lockstep {

// "SIGINT"; of a rare one: "a signal".
const char* signal_name(int number);

}  // namespace lockstep
