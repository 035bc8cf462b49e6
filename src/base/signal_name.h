// The names of the signals that stop a run.
#pragma once

namespace lockstep {

// "SIGINT"; of one that stops no run: "a signal".
const char* signal_name(int number);

}  // namespace lockstep
